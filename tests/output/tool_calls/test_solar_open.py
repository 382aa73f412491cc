from __future__ import annotations

from support.calls import Call, Said, said

CALL = "<|tool_call:begin|>a1b2c3d4e5<|tool_call:name|>ping<|tool_call:args|>"


def test_the_models_id_is_kept():
    text = f'<|tool_calls|>{CALL}{{"a": 1}}<|tool_call:end|><|calls|>'
    assert said("solar_open", text) == Said("", (Call("ping", '{"a":1}', "a1b2c3d4e5"),))


def test_the_ends_may_be_missing():
    assert said("solar_open", f"<|tool_calls|>{CALL}{{}}") == Said("", (Call("ping", id="a1b2c3d4e5"),))


def test_an_empty_id_is_none():
    text = f"<|tool_calls|>{CALL}{{}}<|tool_call:end|><|calls|>".replace("a1b2c3d4e5", "")
    assert said("solar_open", text) == Said("", (Call("ping"),))
