"""Calls with JSON arguments under their constraint: what may be written, what may not, and that it reads back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from jsonschema import Draft202012Validator
from support.calls import Said, said
from support.grammar_view import View, open_view
from support.grammar_walk import accepts, random_output
from support.json_calls import WRITERS
from support.random_schemas import random_object, with_definitions

from ferrox_gguf.errors import InvalidField, NotSupported
from ferrox_gguf.grammar.choice import tool_choice_source
from ferrox_gguf.grammar.source import Source
from ferrox_gguf.output.tool_calls import Syntax
from ferrox_gguf.output.tool_calls.custom import json_syntax, named_syntax
from ferrox_gguf.posture.values import CallMarkers
from ferrox_gguf.request import Tool, ToolChoice, ToolChoiceMode

REQUIRED = ToolChoice(ToolChoiceMode.REQUIRED)
SINGLE = {"gigachat3", "gigachat31"}

MARKERS = sorted(
    {
        marker
        for write in WRITERS.values()
        for marker in re.findall(r"<[^<>\s=]+>|\[[A-Z_]+\]", write([("ping", "{}")]))
        if marker not in ("<TOOLCALL>", "</TOOLCALL>", "</function>")
    }
)
"""What these families' vocabularies hold as special tokens."""

SEATS = Tool(
    "book_table",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string", "minLength": 1, "maxLength": 20}, "seats": {"type": "integer"}},
        "required": ["city"],
    },
)
PING = Tool("ping")

CUSTOM = {
    "list": CallMarkers("json", section_open="<calls>", section_close="</calls>", array=True),
    "blocks": CallMarkers("json", call_open="<c>", call_close="</c>", name_field="f", arguments_field="a"),
    "keyed": CallMarkers("json", section_open="<calls>", section_close="</calls>", name_as_key=True, array=True),
    "ids": CallMarkers("json", section_open="[CALLS]", id_field="id", array=True),
    "bare": CallMarkers("json"),
    "named": CallMarkers("name_json", call_open="<c>", call_close="</c>", name_close="<args>"),
    "named section": CallMarkers(
        "name_json",
        section_open="<calls>",
        section_close="</calls>",
        call_open="<c>",
        call_close="</c>",
        name_close=":",
    ),
}


@pytest.fixture(scope="session", params=["markers are tokens", "markers are text"])
def vocabulary(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[View]:
    # DeepSeek's are tokens always: the test vocabulary, like every SentencePiece one, reads a lower eighth as a space.
    control = [marker for marker in MARKERS if request.param == "markers are tokens" or "▁" in marker]
    with open_view(tmp_path_factory.mktemp("calls") / "vocab.gguf", control=control) as opened:
        yield opened


def source(
    view: View,
    form: str,
    tools: Sequence[Tool],
    choice: ToolChoice = REQUIRED,
    *,
    parallel: bool = True,
    markers: CallMarkers | None = None,
    end_tokens: frozenset[int] = frozenset(),
) -> Source:
    return tool_choice_source(
        form, markers, tools, choice, parallel=parallel, special=view.vocab.token_of, end_tokens=end_tokens
    )


def written(form: str, *calls: tuple[str, str]) -> str:
    """The calls as the family's template writes them; Functionary's first marker stands in the prompt."""
    text = WRITERS[form](calls)
    return text.removeprefix(">>>") if form == "functionary_v32" else text.removeprefix("<|python_tag|>")


def read(form: str | Syntax, text: str, tools: Sequence[Tool]) -> Said:
    return said(form, text, tools=tools)


def check_calls(answer: Said, tools: Sequence[Tool]) -> None:
    """Everything is calls, whole ones, whose arguments their own schema takes."""
    assert not answer.content.strip()
    assert answer.calls
    parameters = {tool.name: tool.parameters for tool in tools}
    for call in answer.calls:
        assert call.whole
        schema = {"type": "object", **parameters[call.name]}
        Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(
            json.loads(call.arguments)
        )


@pytest.mark.parametrize("form", WRITERS)
def test_what_the_template_writes_is_allowed_and_reads_back(vocabulary: View, form: str) -> None:
    text = written(form, ("book_table", '{"city": "Rome", "seats": 2}'))
    assert accepts(vocabulary, source(vocabulary, form, [PING, SEATS]), text)
    assert [call.arguments for call in read(form, text, [PING, SEATS]).calls] == ['{"city":"Rome","seats":2}']


@pytest.mark.parametrize("form", WRITERS)
def test_several_calls_are_allowed_only_where_they_may_be_parallel(vocabulary: View, form: str) -> None:
    text = written(form, ("ping", "{}"), ("book_table", '{"city": "Rome"}'))
    both = [PING, SEATS]
    assert accepts(vocabulary, source(vocabulary, form, both), text) is (form not in SINGLE)
    assert not accepts(vocabulary, source(vocabulary, form, both, parallel=False), text)


@pytest.mark.parametrize("form", WRITERS)
def test_a_named_choice_allows_that_tool_only(vocabulary: View, form: str) -> None:
    named = source(vocabulary, form, [PING, SEATS], ToolChoice(ToolChoiceMode.NAMED, "book_table"))
    assert accepts(vocabulary, named, written(form, ("book_table", '{"city": "Rome"}')))
    assert not accepts(vocabulary, named, written(form, ("ping", "{}")))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("pong", "{}"),
        ("book_table", "{}"),
        ("book_table", '{"city": 3}'),
        ("book_table", '{"city": ""}'),
        ("book_table", '{"city": "Rome", "seats": "two"}'),
        ("book_table", '{"city": "Rome", "other": 1}'),
        ("book_table", '["Rome"]'),
        ("book_table", '{"city": "Rome"'),
        ("ping", '{"city": "Rome"}'),
    ],
)
@pytest.mark.parametrize("form", WRITERS)
def test_a_wrong_name_type_or_missing_argument_is_refused(
    vocabulary: View, form: str, name: str, arguments: str
) -> None:
    assert not accepts(vocabulary, source(vocabulary, form, [PING, SEATS]), written(form, (name, arguments)))


@pytest.mark.parametrize("form", WRITERS)
def test_text_instead_of_a_call_is_refused(vocabulary: View, form: str) -> None:
    constraint = source(vocabulary, form, [PING])
    for text in ("", "I will call it.", "{}", "[]"):
        assert not accepts(vocabulary, constraint, text)


@pytest.mark.parametrize("form", WRITERS)
def test_every_finished_output_is_calls_whose_arguments_validate(vocabulary: View, form: str) -> None:
    outputs = [random_call(vocabulary, form, form, Random(f"{form} {seed}")) for seed in range(8)]
    assert sum(outputs) >= 0.8 * len(outputs)


@pytest.mark.parametrize("form", CUSTOM)
def test_the_form_of_an_unseen_template_is_constrained_as_it_is_read(vocabulary: View, form: str) -> None:
    markers = CUSTOM[form]
    syntax = {"json": json_syntax, "name_json": named_syntax}[markers.payload](markers)
    outputs = [random_call(vocabulary, "custom", syntax, Random(f"{form} {seed}"), markers) for seed in range(6)]
    assert sum(outputs) >= 0.8 * len(outputs)


def random_call(
    view: View, form: str, syntax: str | Syntax, random: Random, markers: CallMarkers | None = None
) -> bool:
    """Whether a random writer came to an end under random tools; what it then wrote is checked."""
    tools = [Tool("ping"), Tool("get_x-1", parameters=random_object(random))]
    tools += [Tool("deep.one", parameters=with_definitions(random))]
    constraint = source(view, form, tools, parallel=random.random() < 0.5, markers=markers)
    output = random_output(view, constraint, random)
    if output is None:
        return False
    if form == "solar_open":
        output = output.strip().removeprefix("<|begin|>assistant")  # which the reasoning splitter takes off
    check_calls(read(syntax, output, tools), tools)
    return True


GOLDEN = [
    case
    for line in Path(__file__).parents[2].joinpath("golden", "output_cases.jsonl").read_text("utf-8").splitlines()
    if (case := json.loads(line))["tool_format"] in WRITERS
    and case["expected"]["tool_calls"]
    and case.get("finish") != "length"
]


@pytest.mark.parametrize("case", GOLDEN, ids=[case["id"] for case in GOLDEN])
def test_the_specifications_calls_can_be_written_under_the_constraint_and_read_back(vocabulary: View, case) -> None:
    tools = [Tool(tool["function"]["name"], parameters=tool["function"]["parameters"]) for tool in case["tools"]]
    expected = [(call["name"], call["arguments"]) for call in case["expected"]["tool_calls"]]
    order = {tool.name: list(tool.parameters.get("properties", {})) for tool in tools}
    calls = [
        (name, json.dumps({key: given[key] for key in sorted(given, key=order[name].index)}, ensure_ascii=False))
        for name, given in expected
    ]
    form = case["tool_format"]
    text = written(form, *calls[: 1 if form in SINGLE else None])
    assert accepts(vocabulary, source(vocabulary, form, tools), text)
    back = [(call.name, json.loads(call.arguments)) for call in read(form, text, tools).calls]
    assert back == expected[: len(back)]
    assert len(back) == (1 if form in SINGLE else len(expected))


@pytest.mark.parametrize("form", ["kimi_k2", "deepseek_v31", "mistral_v11", "functionary_v32"])
def test_a_name_that_would_break_the_markup_is_refused_by_path(vocabulary: View, form: str) -> None:
    for name in ("two words", "<tag>", "a\nb", ""):
        with pytest.raises(InvalidField) as refused:
            source(vocabulary, form, [PING, Tool(name)])
        assert refused.value.field == "tools.1.function.name"


@pytest.mark.parametrize("form", ["qwen25", "mistral", "cohere", "apertus"])
def test_a_quoted_name_may_be_anything(vocabulary: View, form: str) -> None:
    for name in ('q"uote', "zwei Wörter", "$arguments", "</tool_call>"):
        tool = Tool(name)
        constraint = source(vocabulary, form, [tool], parallel=False)
        output = random_output(vocabulary, constraint, Random(1))
        assert output is not None
        assert [call.name for call in read(form, output, [tool]).calls] == [name]


def test_a_schema_that_cannot_be_enforced_is_refused_by_its_path(vocabulary: View) -> None:
    tool = Tool("f", parameters={"properties": {"a": {"type": "array", "uniqueItems": True}}})
    with pytest.raises(InvalidField) as refused:
        source(vocabulary, "qwen25", [PING, tool])
    assert refused.value.field == "tools.1.function.parameters.properties.a.uniqueItems"


def test_a_closer_that_ends_generation_is_left_to_the_end(vocabulary: View) -> None:
    token = vocabulary.vocab.token_of("<|calls|>")
    if token is None:
        return
    ended = source(vocabulary, "solar_open", [PING], end_tokens=frozenset({token}))
    text = written("solar_open", ("ping", "{}"))
    assert accepts(vocabulary, ended, text.removesuffix("<|calls|>"))
    separator = vocabulary.vocab.token_of("<|message_sep|>")
    assert separator is not None
    with pytest.raises(NotSupported):
        source(vocabulary, "gigachat3", [PING], end_tokens=frozenset({separator}))


def test_solar_open_may_begin_its_calls_message_with_a_header(vocabulary: View) -> None:
    constraint = source(vocabulary, "solar_open", [PING])
    text = written("solar_open", ("ping", "{}"))
    assert accepts(vocabulary, constraint, text)
    assert accepts(vocabulary, constraint, "<|begin|>assistant" + text)


def test_an_id_is_what_the_template_takes(vocabulary: View) -> None:
    def mistral(id: str) -> str:
        return f'[TOOL_CALLS][{{"name": "ping", "arguments": {{}}, "id": "{id}"}}]'

    constraint = source(vocabulary, "mistral", [PING])
    assert accepts(vocabulary, constraint, mistral("aB3dE6gH9"))
    assert not accepts(vocabulary, constraint, mistral("aB3dE6gH"))
    assert not accepts(vocabulary, constraint, mistral("aB3dE6gH-"))
