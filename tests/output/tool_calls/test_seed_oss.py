"""Seed-OSS' tags."""

from __future__ import annotations

from support.calls import Call, Said, said
from support.tagged_calls import NOTE


def test_line_breaks_around_a_value_belong_to_it():
    text = (
        "<seed:tool_call>\n<function=note>\n<parameter=body>\nint x;\n</parameter>\n</function>\n</seed:tool_call>\nok"
    )
    assert said("seed_oss", text, tools=[NOTE]) == Said("ok", (Call("note", '{"body":"\\nint x;\\n"}'),))


def test_a_function_outside_a_block_is_text():
    text = "<function=note><parameter=body>x</parameter></function>"
    assert said("seed_oss", text, tools=[NOTE]) == Said(text)
