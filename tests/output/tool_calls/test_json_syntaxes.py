"""What is true of every syntax with JSON arguments; what is particular to one is in its own file."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.calls import CUT, DONE, ROME, ROME_COMPACT, Call, Said, fed, pieces, said, splitter
from support.json_calls import WRITERS

from ferrox_gguf.output.tool_calls import SYNTAXES

every_syntax = pytest.mark.parametrize("form", WRITERS)


def shape(read: Said) -> list[tuple[str, str, bool]]:
    return [(call.name, call.arguments, call.whole) for call in read.calls]


@every_syntax
def test_several_calls_in_order_with_compact_arguments(form):
    read = said(form, WRITERS[form]([("book_table", ROME), ("ping", "{}")]))
    assert shape(read) == [("book_table", ROME_COMPACT, True), ("ping", "{}", True)]
    assert read.content == ""


@every_syntax
@pytest.mark.behaviour("O9")
def test_a_plain_answer_is_content_to_the_letter(form):
    text = "\n Rome {is} [a city](x), <b>isn't</b> it?\n\n"
    assert said(form, text) == Said(text)


@every_syntax
@pytest.mark.behaviour("O12")
def test_white_space_beside_a_call_goes_and_text_stays(form):
    read = said(form, "One moment. " + WRITERS[form]([("ping", "{}")]) + "\n Sent. ")
    assert (read.content, len(read.calls)) == ("One moment. Sent. ", 1)


@every_syntax
@pytest.mark.behaviour("O10")
def test_a_call_of_a_tool_that_was_not_offered_stays_text(form):
    text = "Look: " + WRITERS[form]([("format_disk", ROME)]) + "!"
    assert said(form, text) == Said(text)


@every_syntax
@pytest.mark.parametrize("place", [0, 1, 2])
def test_beside_an_unoffered_call_the_offered_ones_are_calls(form, place):
    calls = [("ping", '{"n":0}'), ("book_table", ROME)]
    calls.insert(place, ("format_disk", '{"all": true}'))
    read = said(form, WRITERS[form](calls))
    assert shape(read) == [("ping", '{"n":0}', True), ("book_table", ROME_COMPACT, True)]
    assert "format_disk" in read.content
    assert '{"all": true}' in read.content


@every_syntax
@pytest.mark.behaviour("O8")
def test_without_tools_markup_is_text(form):
    text = "x" + WRITERS[form]([("ping", "{}")])
    assert said(form, text, tools=()) == Said(text)


@every_syntax
@pytest.mark.parametrize("none", ["null", '""', "{}", "{ }"])
def test_arguments_that_say_nothing_are_an_empty_object(form, none):
    assert shape(said(form, WRITERS[form]([("ping", none)]))) == [("ping", "{}", True)]


@every_syntax
def test_arguments_encoded_twice_are_decoded(form):
    assert shape(said(form, WRITERS[form]([("ping", json.dumps('{"a": 1}'))]))) == [("ping", '{"a":1}', True)]


@every_syntax
def test_arguments_that_are_no_object_make_no_call(form):
    text = WRITERS[form]([("ping", "[1, 2]")])
    assert said(form, text) == Said(text)


@every_syntax
def test_markup_quoted_in_a_string_is_part_of_the_string(form):
    quoted = "see " + WRITERS[form]([("book_table", ROME), ("ping", "{}")]) + " } ] </x>"
    read = said(form, WRITERS[form]([("ping", json.dumps({"text": quoted}, ensure_ascii=False))]))
    assert [(call.name, json.loads(call.arguments)) for call in read.calls] == [("ping", {"text": quoted})]


def opened(form: str) -> str:
    """A call of book_table, up to its arguments."""
    return WRITERS[form]([("book_table", "@@")]).split("@@")[0]


@every_syntax
@pytest.mark.parametrize(
    ("written", "cut", "done"),
    [
        ('{"city": "Ro', '{"city":"Ro', '{"city":"Ro"}'),
        ('{"city"', '{"city"', '{"city":null}'),
        ('{"city": "a", ', '{"city":"a",', '{"city":"a"}'),
        ('{"n": 1.', '{"n":1.', '{"n":1}'),
        ('{"n": [1, {"x": tr', '{"n":[1,{"x":tr', '{"n":[1,{"x":true}]}'),
        ('{"s": "a\\u00', '{"s":"a\\u00', '{"s":"a"}'),
        ("{", "{", "{}"),
    ],
)
def test_arguments_end_where_a_limit_stopped_them_and_are_closed_where_the_model_stopped(form, written, cut, done):
    assert shape(said(form, opened(form) + written, end=CUT)) == [("book_table", cut, False)]
    assert shape(said(form, opened(form) + written, end=DONE)) == [("book_table", done, True)]


@every_syntax
@pytest.mark.parametrize("end", [CUT, DONE])
def test_a_call_that_did_not_get_to_its_arguments_is_text(form, end):
    text = "Now " + opened(form)
    for cut in range(5, len(text) + 1):
        if text[:cut].rstrip().endswith("<|message_sep|>"):
            continue  # GigaChat's end of message, see its own tests
        assert said(form, text[:cut], end=end) == Said(text[:cut])


@every_syntax
def test_a_cut_between_two_calls_keeps_the_first_and_loses_nothing_of_the_second(form):
    text = WRITERS[form]([("ping", ROME), ("book_table", "{}")])
    read = said(form, text[: text.rindex("book_table") + 4], end=CUT)
    assert shape(read) == [("ping", ROME_COMPACT, True)]
    assert read.content.endswith("book")


@every_syntax
def test_output_cut_at_any_place_is_text_or_a_prefix_of_the_whole_call(form):
    text = WRITERS[form]([("book_table", ROME)])
    (whole,) = said(form, text).calls
    for cut in range(1, len(text)):
        read = fed(splitter(form), text[:cut], CUT)
        if read.calls:
            assert read.content == ""
            assert whole.arguments.startswith(read.calls[0].arguments)
            assert read.calls[0].whole == (read.calls[0].arguments == whole.arguments)
        elif text[:cut].rstrip() != "<|message_sep|>":
            assert read.content == text[:cut]


@every_syntax
def test_what_closes_a_call_may_be_missing(form):
    assert shape(said(form, opened(form) + ROME)) == [("book_table", ROME_COMPACT, True)]
    after = said(form, opened(form) + ROME + "\nDone.")
    assert shape(after) == [("book_table", ROME_COMPACT, True)]
    assert after.content.strip() == "Done."


@every_syntax
def test_a_missing_last_brace_is_supplied(form):
    text = WRITERS[form]([("book_table", "@@")]).replace("@@", ROME[:-1])
    if form == "mistral":  # the id behind it has become one of the arguments
        text = text.replace(', "id": "000000000"', "")
    assert shape(said(form, text)) == [("book_table", ROME_COMPACT, True)]


@every_syntax
@pytest.mark.parametrize(
    "odd", ['{"n": NaN}', '{"on": True, "x": 1}', '{"re": "\\d+"}', '{"a": 1,}', "{'a': 1}", '{"a": 1_000}']
)
def test_what_cannot_be_json_goes_into_the_arguments_verbatim(form, odd):
    read = said(form, WRITERS[form]([("book_table", odd), ("ping", "{}")]) + " Yes.")
    # Only insignificant white space before the first impossible character may go.
    assert [call.name for call in read.calls] == ["book_table", "ping"]
    assert read.calls[0].arguments.replace(" ", "") == odd.replace(" ", "")
    assert read.content.strip() == "Yes."


@every_syntax
def test_a_broken_string_ends_at_the_calls_marker_or_with_the_output(form):
    read = said(form, WRITERS[form]([("book_table", '{"say": "he said "hi" there"}')]))
    assert [call.name for call in read.calls] == ["book_table"]
    assert read.calls[0].arguments.startswith('{"say":"he said "hi" there"}')


@every_syntax
def test_numbers_are_kept_as_written_however_long(form):
    digits = '{"n":' + "7" * 5000 + ',"e":1E+400,"z":-0.0}'
    assert shape(said(form, WRITERS[form]([("ping", digits)]))) == [("ping", digits, True)]


@every_syntax
def test_two_hundred_thousand_brackets_are_an_argument_not_an_error(form):
    text = opened(form) + '{"n":' + "[" * 200_000
    read = fed(splitter(form), [text], CUT)
    assert shape(read) == [("book_table", '{"n":' + "[" * 200_000, False)]


@every_syntax
def test_a_lone_surrogate_is_kept_as_written(form):
    assert shape(said(form, WRITERS[form]([("ping", '{"s":"\\ud800"}')]))) == [("ping", '{"s":"\\ud800"}', True)]


@every_syntax
def test_arguments_arrive_while_they_are_written(form):
    machine = splitter(form)
    machine.push(opened(form) + '{"text": "')
    if form == "mistral":  # short arguments wait for the id behind them
        machine.push("x" * 600)
    for word in ("It ", "was ", "a ", "dark "):
        (event,) = machine.push(word)
        assert event.fragment == word


@every_syntax
@pytest.mark.behaviour("O5")
def test_hermes_is_understood_beside_every_native_form(form):
    read = said(form, 'Hm.<tool_call>{"name": "ping", "arguments": {}}</tool_call>')
    assert read == Said("Hm.", (Call("ping"),))


@every_syntax
def test_the_first_form_that_starts_a_call_is_the_messages_form(form):
    if form in ("qwen25", "granite33"):
        pytest.skip("reads the Hermes marker itself")
    hermes = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
    native = WRITERS[form]([("ping", "{}")])
    assert said(form, native + hermes).content.endswith(hermes)
    assert said(form, "x" + hermes + native) == Said("x" + native, (Call("ping"),))


def fragments(form: str) -> st.SearchStrategy[str]:
    syntax = SYNTAXES[form]()
    calls = st.lists(
        st.tuples(
            st.sampled_from(["ping", "book_table", "format_disk"]),
            st.sampled_from(["{}", ROME, '{"a": [1, {"b": "c\\n"}]}', "null", '"{}"', '{"x": NaN}', '{"x": 1', "7"]),
        ),
        min_size=1,
        max_size=3,
    )
    marks = st.sampled_from([*syntax.triggers, *'{}[],:;"\\ \n`', '"name"', "ping", '{"name": "ping"', "<tool_call>"])
    return st.one_of(calls.map(WRITERS[form]), marks, st.text(max_size=8))


@every_syntax
@settings(max_examples=50)
@given(data=st.data())
def test_any_text_however_cut_is_read_alike_and_nothing_is_invented(form, data):
    text = "".join(data.draw(st.lists(fragments(form), max_size=5)))
    if data.draw(st.booleans()):
        start, size = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 9))
        text = text[:start] + text[start + size :]
    end = data.draw(st.sampled_from([CUT, DONE]))
    whole = fed(splitter(form), [text], end)
    assert fed(splitter(form), text, end) == whole
    assert fed(splitter(form), pieces(text, data.draw(st.lists(st.integers(0, 500), max_size=6))), end) == whole
    rest = iter(text)
    assert all(char in rest for char in whole.content), "content is not a part of the text, in its order"
    if not whole.calls and form not in ("functionary_v32", "gigachat3"):  # they have headers over text
        assert whole.content == text


@every_syntax
@settings(max_examples=50)
@given(text=st.text())
def test_text_that_calls_nothing_is_returned_to_the_letter(form, text):
    assert fed(splitter(form), pieces(text, [3, 5, 8]), DONE) == Said(text)
