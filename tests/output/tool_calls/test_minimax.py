"""MiniMax-M2's invocations."""

from __future__ import annotations

from support.calls import CUT, PING, Call, Said, said
from support.tagged_calls import NOTE

TOOLS = (PING, NOTE)
PINGED = '<invoke name="ping">\n</invoke>'


def test_everything_may_stand_on_one_line():
    text = '<minimax:tool_call><invoke name="note"><parameter name="body">Rome</parameter></invoke></minimax:tool_call>'
    assert said("minimax", text, tools=TOOLS) == Said("", (Call("note", '{"body":"Rome"}'),))


def test_quotes_of_attributes_may_be_single():
    text = "<minimax:tool_call><invoke name='note'><parameter name='count'>2</parameter></invoke></minimax:tool_call>"
    assert said("minimax", text, tools=TOOLS) == Said("", (Call("note", '{"count":2}'),))


def test_an_unoffered_call_takes_the_section_with_it_only_when_it_is_alone():
    bad = '<invoke name="format_disk">\n<parameter name="x">1</parameter></invoke>'
    alone = f"<minimax:tool_call>\n{bad}\n</minimax:tool_call>"
    assert said("minimax", alone, tools=TOOLS) == Said(alone)
    both = f"<minimax:tool_call>\n{bad}\n{PINGED}\n</minimax:tool_call>"
    assert said("minimax", both, tools=TOOLS) == Said(bad, (Call("ping"),))


def test_what_an_unoffered_call_quotes_is_no_call():
    bad = f'<invoke name="shell"><parameter name="x">{PINGED}</parameter></invoke>'
    text = f"<minimax:tool_call>{bad}{PINGED}</minimax:tool_call>"
    assert said("minimax", text, tools=TOOLS) == Said(bad, (Call("ping"),))


def test_the_section_may_end_without_its_marker():
    assert said("minimax", f"<minimax:tool_call>\n{PINGED}\n", tools=TOOLS) == Said("", (Call("ping"),))
    assert said("minimax", f"<minimax:tool_call>\n{PINGED}\n</minimax", tools=TOOLS, end=CUT) == Said(
        "", (Call("ping"),)
    )


def test_an_invocation_outside_a_section_is_text():
    assert said("minimax", f"Write {PINGED}", tools=TOOLS) == Said(f"Write {PINGED}")


def test_two_sections_follow_each_other():
    text = f"<minimax:tool_call>{PINGED}</minimax:tool_call> then <minimax:tool_call>{PINGED}</minimax:tool_call>"
    assert said("minimax", text, tools=TOOLS) == Said("then", (Call("ping"), Call("ping")))
    unclosed = f"<minimax:tool_call>{PINGED}\n<minimax:tool_call>{PINGED}"
    assert said("minimax", unclosed, tools=TOOLS) == Said("", (Call("ping"), Call("ping")))
