"""What holds for every syntax whose arguments are tagged or written as literals, one by one."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.calls import CUT, DONE, PING, Call, Said, fed, pieces, said, splitter
from support.tagged_calls import FORMS, LITERAL, NOTE, UNTYPED

from ferrox_gguf.events import ToolCallArguments
from ferrox_gguf.output.tool_calls.atem import Atem

TOOLS = (PING, NOTE)
every_form = pytest.mark.parametrize("form", FORMS)
every_typed_form = pytest.mark.parametrize("form", UNTYPED)


def note(form, **arguments):
    return FORMS[form].write(("note", arguments))


@every_form
def test_a_call_is_read_with_its_arguments(form):
    assert said(form, note(form, body="Rome"), tools=TOOLS) == Said("", (Call("note", '{"body":"Rome"}'),))


@every_form
@pytest.mark.behaviour("O7")
def test_every_call_is_returned_in_order(form):
    text = FORMS[form].write(("note", {"body": "a"}), ("ping", {}), ("note", {"label": "b", "body": "c"}))
    if form == "lfm2":
        text = text.replace(")ping", "), ping").replace(")note", "), note")
    assert said(form, text, tools=TOOLS) == Said(
        "", (Call("note", '{"body":"a"}'), Call("ping"), Call("note", '{"label":"b","body":"c"}'))
    )


@every_form
@pytest.mark.behaviour("O12")
def test_white_space_around_a_call_goes_and_other_text_stays(form):
    text = f"One moment.\n\n{note(form, body='x')}\n Sent."
    assert said(form, text, tools=TOOLS) == Said("One moment.\n\nSent.", (Call("note", '{"body":"x"}'),))


@every_form
@pytest.mark.behaviour("O10")
def test_a_call_of_a_tool_that_was_not_offered_is_text(form):
    text = "Look: " + FORMS[form].write(("format_disk", {"body": "all"})) + "done."
    assert said(form, text, tools=TOOLS) == Said(text)


@every_form
def test_a_call_quoted_by_one_that_was_not_offered_is_no_call(form):
    quotation = FORMS[form].one("ping", {})
    text = FORMS[form].write(("shell", {"body": f"echo {quotation} now"}))
    assert said(form, text, tools=TOOLS) == Said(text)


@pytest.mark.parametrize("form", [form for form in FORMS if FORMS[form].section[0]])
def test_the_calls_beside_one_that_was_not_offered_are_still_calls(form):
    markup = FORMS[form]
    separator = ", " if form == "lfm2" else ""
    bad = markup.one("format_disk", {"body": "all"})
    text = markup.section[0] + separator.join([markup.one("ping", {}), bad, markup.one("ping", {})]) + markup.section[1]
    assert said(form, text, tools=TOOLS) == Said(bad.strip(), (Call("ping"), Call("ping")))


@every_form
def test_a_call_without_arguments_starts_at_its_end(form):
    text = FORMS[form].write(("ping", {}))
    assert said(form, text, tools=TOOLS) == Said("", (Call("ping"),))
    opened = text[: text.index("ping") + len("ping")]
    assert said(form, opened, tools=TOOLS) == Said(opened)
    assert said(form, opened, tools=TOOLS, end=CUT) == Said(opened)


@every_form
def test_a_string_streams_while_it_is_written(form):
    machine = splitter(form, TOOLS)
    machine.push(FORMS[form].section[0] + FORMS[form].opened("note") + FORMS[form].head("body"))
    assert machine.push("line one") == [ToolCallArguments(0, '"body":"line one')]
    assert machine.push(', "two" ') == [ToolCallArguments(0, ', \\"two\\" ')] or form == "lfm2"


@every_form
def test_output_cut_at_any_place_is_a_prefix_of_the_whole_call(form):
    text = note(form, body="half a <b>line</b>", label="x")
    (whole,) = said(form, text, tools=TOOLS).calls
    for cut in range(len(text)):
        at = said(form, text[:cut], tools=TOOLS, end=CUT)
        assert at.content == text[:cut] or at.calls
        assert text[:cut].endswith(at.content)
        for call in at.calls:
            assert whole.arguments.startswith(call.arguments)
            assert call.whole == (call.arguments == whole.arguments)


@every_form
def test_a_model_that_stops_inside_a_call_has_closed_what_is_open(form):
    text = note(form, body='half a "line"' if form != "lfm2" else "half a line", label="x")
    for cut in range(len(text)):
        for call in said(form, text[:cut], tools=TOOLS, end=DONE).calls:
            assert call.whole
            assert set(json.loads(call.arguments)) <= {"body", "label"}


@every_form
def test_a_cut_in_a_later_call_leaves_the_earlier_one_whole(form):
    separator = ", " if form == "lfm2" else ""
    text = FORMS[form].section[0] + FORMS[form].one("ping", {}) + separator
    text += FORMS[form].opened("note") + FORMS[form].head("body") + "ab"
    assert said(form, text, tools=TOOLS, end=CUT) == Said("", (Call("ping"), Call("note", '{"body":"ab', whole=False)))


@every_form
@pytest.mark.parametrize("end", [DONE, CUT])
def test_a_later_call_that_never_started_stays_text(form, end):
    separator = ", " if form == "lfm2" else ""
    text = FORMS[form].section[0] + FORMS[form].one("ping", {}) + separator
    started = FORMS[form].opened("note")
    started = started[: started.index("note") + 2]
    assert said(form, text + started, tools=TOOLS, end=end) == Said(started, (Call("ping"),))


@every_form
def test_markers_inside_a_value_are_text(form):
    markup = FORMS[form]
    quoted = f"{markup.section[0]}{markup.opened('ping')}{markup.call[1]}{markup.section[1]} and so on"
    if form == "lfm2":
        quoted = quoted.replace('"', "")
    arguments = json.dumps({"body": quoted, "label": "y"}, separators=(",", ":"), ensure_ascii=False)
    assert said(form, note(form, body=quoted, label="y"), tools=TOOLS) == Said("", (Call("note", arguments),))


@pytest.mark.parametrize("form", [form for form in FORMS if form != "minimax_m3"])  # M3 matches elements by depth
def test_the_end_of_a_value_counts_only_where_markup_follows(form):
    quoted = f"a {FORMS[form].value[1].strip()} b"
    arguments = json.dumps({"body": quoted}, separators=(",", ":"), ensure_ascii=False)
    assert said(form, note(form, body=quoted), tools=TOOLS) == Said("", (Call("note", arguments),))


@every_form
def test_missing_ends_of_the_section_are_forgiven(form):
    text = note(form, body="x")
    assert said(form, text.removesuffix(FORMS[form].section[1]), tools=TOOLS).calls == (Call("note", '{"body":"x"}'),)


@every_typed_form
def test_a_missing_end_of_the_last_value_is_forgiven_when_the_call_ends_the_output(form):
    markup = FORMS[form]
    text = markup.section[0] + markup.opened("note") + markup.head("body") + "Rome"
    text += ("\n" if form == "qwen3_coder" else "") + markup.call[1] + markup.section[1]
    assert said(form, text, tools=TOOLS) == Said("", (Call("note", '{"body":"Rome"}'),))


@every_form
def test_strings_are_escaped_as_json(form):
    value = 'tab\tbreak\nback\\slash é \x07 "q"'
    written = value if form != "lfm2" else value.replace("\\", "\\\\").replace('"', '\\"')
    (call,) = said(form, note(form, body=written), tools=TOOLS).calls
    assert json.loads(call.arguments) == {"body": value}


@every_form
def test_a_lone_surrogate_comes_out_escaped(form):
    (call,) = said(form, note(form, body="a\ud800b"), tools=TOOLS).calls
    assert call.arguments == '{"body":"a\\ud800b"}'


@every_typed_form
@pytest.mark.behaviour("O11")
def test_a_declared_string_keeps_its_characters(form):
    for text in ("018", "1.0", "true", "null", '"q"', "{}"):
        (call,) = said(form, note(form, body=text), tools=TOOLS).calls
        assert json.loads(call.arguments) == {"body": text}


@every_typed_form
@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("count", "7", "7"),
        ("count", "-3", "-3"),
        ("count", "9" * 5000, "9" * 5000),
        ("count", "1_000", '"1_000"'),
        ("count", "nan", '"nan"'),
        ("count", "\u0663", '"\u0663"'),
        ("count", "018", '"018"'),
        ("pinned", "True", "true"),
        ("pinned", "FALSE", "false"),
        ("label", "null", "null"),
        ("label", "5", '"5"'),
        ("extra", '{"a": [1, "x"]}', '{"a":[1,"x"]}'),
        ("extra", '{"a": ', '"{\\"a\\": "'),
        ("extra", "[" * 5000 + "]" * 5000, json.dumps("[" * 5000 + "]" * 5000)),
    ],
)
def test_values_are_typed_by_the_schema(form, key, text, value):
    (call,) = said(form, note(form, **{key: text}), tools=TOOLS).calls
    assert call.arguments == f'{{"{key}":{value}}}'


@pytest.mark.parametrize("form", [form for form in UNTYPED if form not in ("minimax_m3", "kimi_k3")])
def test_what_is_not_declared_is_guessed_at_and_streams_once_it_is_a_string(form):
    machine = splitter(form, TOOLS)
    machine.push(FORMS[form].section[0] + FORMS[form].opened("note") + FORMS[form].head("address"))
    assert machine.push("123") == []
    assert machine.push(" Main ") == [ToolCallArguments(0, '"address":"123 Main ')]
    (call,) = said(form, note(form, number="1.50", word="None", text="nil"), tools=TOOLS).calls
    assert call.arguments == '{"number":1.50,"word":null,"text":"nil"}'


@every_form
def test_the_hermes_form_is_still_read(form):
    text = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
    assert said(form, text, tools=TOOLS) == Said("", (Call("ping"),))


@every_form
def test_prose_about_the_markers_stays_text(form):
    opened = FORMS[form].opened("ping").rstrip("{")  # Gemma's brace already begins the arguments
    text = f"Write {FORMS[form].section[0]}{opened} first, then {FORMS[form].value[0]} and so on."
    assert said(form, text, tools=TOOLS) == Said(text)


@every_form
def test_a_long_value_costs_its_length_only(form):
    text = note(form, body="some <text> with\nlines, " * 2000)
    size = len(text) // 4

    def seconds(text):
        start = time.thread_time()
        assert fed(splitter(form, TOOLS), [text[i : i + 3] for i in range(0, len(text), 3)]).calls[0].whole
        return time.thread_time() - start

    short = note(form, body="some <text> with\nlines, " * 500)
    assert len(short) < size + 500
    assert seconds(text) < 12 * seconds(short) + 0.05


def markup_of(form):
    """The form's own pieces, other tools' names, and what values are made of."""
    markup = FORMS[form]
    own = [*markup.section, *markup.call, *markup.value, markup.between]
    parts = [part.replace("NAME", name).replace("KEY", key) for part in own for name, key in NAMES if part]
    return st.lists(st.sampled_from(parts + LOOSE), max_size=12).map("".join)


NAMES = [("note", "body"), ("ping", "count"), ("format_disk", "label")]
LOOSE = ["1", "null", "true", " ", "\n", "<", "]", "}", "{", '"', "é", "\ud800", "x y", "</", "<tool_call>"]


@every_form
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_no_text_raises_and_no_cut_changes_what_is_read(form, data):
    text = data.draw(markup_of(form))
    cuts = data.draw(st.lists(st.integers(0, 400), max_size=8))
    end = data.draw(st.sampled_from([DONE, CUT]))
    whole = fed(splitter(form, TOOLS), [text], end)
    assert fed(splitter(form, TOOLS), pieces(text, cuts), end) == whole
    assert fed(splitter(form, TOOLS), text, end) == whole
    if not whole.calls:
        assert whole.content == text
    if end is DONE:
        assert all(call.whole for call in whole.calls)


def test_a_literal_decides_the_type_where_the_wire_has_literals():
    assert LITERAL == ("gemma4", "lfm2")
    assert said("gemma4", "<|tool_call>call:note{body:5}<tool_call|>", tools=TOOLS).calls == (
        Call("note", '{"body":5}'),
    )


def test_what_an_atem_call_does_not_declare_is_a_string():
    text = (
        '<atem:function_calls>\n<atem:invoke name="note">\n<atem:parameter name="count">3</atem:parameter>\n'
        '<atem:parameter name="other">3</atem:parameter>\n</atem:invoke>\n</atem:function_calls>'
    )
    assert said(Atem(), text, tools=TOOLS) == Said("", (Call("note", '{"count":3,"other":"3"}'),))
