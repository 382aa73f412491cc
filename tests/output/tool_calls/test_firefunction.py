from __future__ import annotations

import pytest
from support.calls import Call, Said, said


def test_the_space_before_the_word_is_not_content():
    assert said("firefunction", ' functools[{"name": "ping", "arguments": {}}]') == Said("", (Call("ping"),))


def test_phi_4_minis_markers_are_read_too():
    text = '<|tool_call|>[{"name": "ping", "arguments": {"a": 1}}]<|/tool_call|>ok'
    assert said("firefunction", text) == Said("ok", (Call("ping", '{"a":1}'),))


@pytest.mark.parametrize(
    "text", ["functools[0]", "from functools import cache", "functools[", "functools.partial(ping)"]
)
def test_the_word_in_prose_is_prose(text):
    assert said("firefunction", f"Use {text}") == Said(f"Use {text}")
