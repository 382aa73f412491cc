from __future__ import annotations

import pytest
from support.calls import Call, Said, said


@pytest.mark.parametrize("opener", ["<|tool_call|>", "<tool_call>", "<|tool_call|> "])
def test_both_generations_openers(opener):
    text = f'Ok. {opener}[{{"name": "ping", "arguments": {{}}}}]'
    assert said("granite33", text) == Said("Ok.", (Call("ping"),))


def test_text_behind_the_list_is_content():
    text = '<|tool_call|>[{"name": "ping", "arguments": {}}]\nWait.'
    assert said("granite33", text) == Said("Wait.", (Call("ping"),))
