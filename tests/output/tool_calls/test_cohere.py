from __future__ import annotations

import pytest
from support.calls import Call, Said, said


@pytest.mark.parametrize(("written", "id"), [('"0"', "0"), ("7", "7"), ('""', None), ("null", None)])
def test_the_ids_that_the_model_counts_are_kept(written, id):
    text = f'<|START_ACTION|>[{{"tool_call_id": {written}, "tool_name": "ping", "parameters": {{}}}}]<|END_ACTION|>'
    assert said("cohere", text) == Said("", (Call("ping", id=id),))


def test_the_closer_may_be_missing():
    text = '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "ping", "parameters": {"a": 1}}\n]'
    assert said("cohere", text) == Said("", (Call("ping", '{"a":1}', "0"),))
