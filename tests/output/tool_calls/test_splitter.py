"""Where calls are looked for, what is held back, and what happens to the text around them."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.calls import BOOK, CUT, DONE, PING, Call, Said, fed, pieces, said, splitter

from ferrox_gguf.events import ContentDelta, ToolCallArguments, ToolCallEnd, ToolCallStart
from ferrox_gguf.output.tool_calls import ToolCallSplitter
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.hermes import Hermes
from ferrox_gguf.output.tool_calls.splitter import PATIENCE
from ferrox_gguf.output.tool_calls.writer import CallWriter

CALL = '<tool_call>{"name": "ping", "arguments": {"a": "b"}}</tool_call>'


def hermes() -> ToolCallSplitter:
    return ToolCallSplitter([Hermes()], [PING, BOOK])


class Shout:
    """`!NAME!` calls NAME; `!?` gives the rest of a section back."""

    def __init__(self, trigger: str = "!", at_start: bool = False) -> None:
        self.triggers: Sequence[str] = (trigger,)
        self.at_start = at_start

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        yield from text.take(self.triggers[0])
        name = yield from text.until(("!",), limit=20)
        tool = calls.offered.find(name or "")
        if tool is None:
            return False
        yield from text.take("!")
        calls.start(tool.name)
        calls.finish()
        text.commit()
        return not (yield from text.take("?"))


# -- what is sent when


def test_plain_text_passes_piece_by_piece():
    machine = hermes()
    for word in ("Rome", " is", " old", "."):
        assert machine.push(word) == [ContentDelta(word)]
    assert machine.flush(DONE) == []


@pytest.mark.behaviour("P9")
def test_only_a_tail_that_may_become_a_marker_is_held():
    machine = hermes()
    assert machine.push("a < b <tool") == [ContentDelta("a < b")]
    assert machine.push("box") == [ContentDelta(" <toolbox")]


def test_trailing_white_space_waits_for_what_follows():
    machine = hermes()
    assert machine.push("One \n") == [ContentDelta("One")]
    assert machine.push("two") == [ContentDelta(" \ntwo")]
    machine.push("  ")
    assert machine.flush(DONE) == [ContentDelta("  ")]


def test_a_call_starts_with_its_arguments_and_not_before():
    machine = hermes()
    assert machine.push('<tool_call>{"name": "ping", "arguments": ') == []
    assert machine.push("{") == [ToolCallStart(0, "ping"), ToolCallArguments(0, "{")]
    assert machine.push('"a": "b') == [ToolCallArguments(0, '"a":"b')]
    assert machine.push('"}') == [ToolCallArguments(0, '"}'), ToolCallEnd(0)]
    assert machine.called
    assert machine.push("}</tool_call>") == []


def test_busy_is_said_while_a_call_is_read():
    machine = hermes()
    machine.push("Hi <tool_")
    assert not machine.busy
    machine.push("call>")
    assert machine.busy
    machine.push('{"name": "ping", "arguments": {}}</tool_call>')
    machine.push("x")
    assert not machine.busy


# -- around calls


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"One moment. {CALL} Sent.", "One moment. Sent."),
        (f"A{CALL}\n\nB", "AB"),
        (f"A\n\n{CALL}\nB", "A\n\nB"),
        (f"\n\n{CALL}\n\n", ""),
        (f" {CALL} {CALL} ", ""),
        (f"A {CALL}\n{CALL} B {CALL} ", "A B"),
        (f"\n\nA {CALL}", "\n\nA"),
    ],
)
def test_white_space_around_calls(text, content):
    assert said("qwen25", text).content == content


def test_events_keep_the_order_in_which_they_were_written():
    events = hermes().push(f"A {CALL}B{CALL}")
    kinds = [type(event).__name__ for event in events if not isinstance(event, ToolCallArguments)]
    assert kinds == ["ContentDelta", "ToolCallStart", "ToolCallEnd"] * 2
    assert [event.text for event in events if isinstance(event, ContentDelta)] == ["A", " B"]


@pytest.mark.behaviour("O8")
@given(st.lists(st.text(min_size=1)))
def test_without_tools_every_piece_passes_as_it_is(texts):
    machine = ToolCallSplitter([Hermes()], [])
    assert [machine.push(text) for text in texts] == [[ContentDelta(text)] for text in texts]
    assert machine.flush(DONE) == []


# -- which syntax reads


def test_two_syntaxes_may_share_a_trigger_and_the_first_has_the_first_word():
    machine = ToolCallSplitter([Shout("<tool_call>"), Hermes()], [PING])
    assert fed(machine, [f"<tool_call>ping!{CALL}"]) == Said(CALL, (Call("ping", ""),))
    machine = ToolCallSplitter([Shout("<tool_call>"), Hermes()], [PING])
    assert fed(machine, [CALL]) == Said("", (Call("ping", '{"a":"b"}'),))


def test_a_form_that_needs_no_trigger_is_tried_at_the_start_only():
    for text, read in (
        ("ping!x", Said("x", (Call("ping", ""),))),
        (" \nping!", Said("", (Call("ping", ""),))),
        ("x ping!", Said("x ping!")),
    ):
        assert fed(ToolCallSplitter([Shout("!", at_start=True)], [PING]), text) == read


def test_a_marker_that_started_no_call_does_not_hide_the_one_behind_it():
    assert fed(ToolCallSplitter([Shout()], [PING]), ["!!ping!"]) == Said("!", (Call("ping", ""),))


def test_what_a_section_gives_back_is_searched_for_calls_again():
    text = "!ping!?!ping!"
    assert fed(ToolCallSplitter([Shout()], [PING]), [text]).calls == (Call("ping", ""), Call("ping", ""))


# -- however it is cut


@given(st.text(alphabet="!?ping \n"), st.lists(st.integers(0, 50), max_size=5), st.sampled_from([CUT, DONE]))
def test_where_the_text_is_cut_does_not_matter(text, cuts, end):
    whole = fed(ToolCallSplitter([Shout(at_start=True)], [PING]), [text], end)
    assert fed(ToolCallSplitter([Shout(at_start=True)], [PING]), pieces(text, cuts), end) == whole
    assert fed(ToolCallSplitter([Shout(at_start=True)], [PING]), text, end) == whole


def test_patience_with_failed_attempts_does_not_depend_on_the_cuts():
    # Each opener makes the reader look through the string behind it, in vain.
    attempt = '<tool_call>{"x": "' + "y" * 20_000 + '"}\n'
    text = attempt * (PATIENCE // 20_000 - 2) + CALL
    assert fed(hermes(), [text]).calls == (Call("ping", '{"a":"b"}'),)
    beyond = attempt * (PATIENCE // 20_000 + 2) + CALL
    assert fed(hermes(), [beyond]) == Said(beyond)
    assert fed(hermes(), pieces(beyond, range(0, len(beyond), 997))) == Said(beyond)


# -- at any length


def seconds(text: str, size: int) -> float:
    start = time.process_time()
    fed(hermes(), (text[at : at + size] for at in range(0, len(text), size)))
    return time.process_time() - start


@pytest.mark.parametrize(
    "unit",
    [
        "<tool_call>",
        '<tool_call>{"a": "',
        '<tool_call>{"name": "',
        "<tool_call>[[[",
        '<tool_call>{"name": "ping", "arguments": {"a": tru',
        f"{CALL}\n",
        " ",
        "<",
        "x ",
    ],
)
@pytest.mark.parametrize("size", [4, 1 << 20])
def test_two_hundred_thousand_characters_of_anything_take_no_quadratic_time(unit, size):
    # Linear costs at most a few seconds on a slow, shared machine; quadratic would cost minutes.
    assert seconds(unit * (200_000 // len(unit)), size) < 20


def test_a_long_held_payload_costs_its_length_once():
    text = '<tool_call>{"arguments": {"a": "' + "x" * 400_000 + '"}, "name": "ping"}</tool_call>'
    assert seconds(text, 4) < 20
    assert len(fed(splitter("qwen25"), [text]).calls[0].arguments) == 400_008
