"""Tagged and literal calls under their constraint: what may be written, what may not, and that it reads back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.calls import said
from support.grammar_view import View, open_view
from support.grammar_walk import accepts, random_output
from support.output import CLOSED, OPEN, UNOPENED, family, read
from support.random_schemas import NAMES, random_object, with_definitions
from support.tagged_calls import FORMS, M3, Markup

from ferrox_gguf.errors import InvalidField, NotSupported
from ferrox_gguf.grammar.choice import tool_choice_source
from ferrox_gguf.grammar.source import Source
from ferrox_gguf.json_types import Json
from ferrox_gguf.output.tool_calls.custom_tagged import tagged_syntax
from ferrox_gguf.posture.values import CallMarkers
from ferrox_gguf.request import Tool, ToolChoice, ToolChoiceMode

REQUIRED = ToolChoice(ToolChoiceMode.REQUIRED)
CHANNELS = ("gpt_oss", "muse_glimmer")
CHAINED = {"gpt_oss": UNOPENED, "muse_glimmer": OPEN, "kimi_k3": CLOSED}
"""Families in whose output more stands around calls than the splitter of calls reads."""
ALL = (*FORMS, *CHANNELS)

TOKENS = sorted(
    {
        marker
        for markup in FORMS.values()
        for marker in re.findall(
            r"\]<\]minimax\[>\[|<[^<>\s=]+>", "".join((*markup.section, *markup.call, *markup.value))
        )
        if "NAME" not in marker and "KEY" not in marker and marker not in ("</function>", "</parameter>", "</param>")
    }
    | {"<|channel|>", "<|message|>", "<|start|>", "<|end|>", "<|constrain|>", "<|eom|>"}
)
"""What some of these families' vocabularies hold as special tokens."""

BOOK = Tool(
    "book_table",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 2, "maxLength": 20},
            "seats": {"type": "integer"},
            "terrace": {"type": "boolean"},
            "code": {"type": "string", "pattern": "^[A-Z]{2}$"},
            "note": {"type": ["string", "null"]},
        },
        "required": ["city"],
    },
)
PING = Tool("ping")
BOTH = (BOOK, PING)


@pytest.fixture(scope="session", params=["markers are tokens", "markers are text"])
def vocabulary(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[View]:
    control = TOKENS if request.param == "markers are tokens" else ()
    with open_view(tmp_path_factory.mktemp("tagged") / "vocab.gguf", control=control) as opened:
        yield opened


def source(
    view: View,
    form: str,
    tools: Sequence[Tool] = BOTH,
    choice: ToolChoice = REQUIRED,
    *,
    parallel: bool = True,
    markers: CallMarkers | None = None,
) -> Source:
    return tool_choice_source(form, markers, tools, choice, parallel=parallel, special=view.vocab.token_of)


def written(form: str, *calls: tuple[str, dict[str, Json]]) -> str:
    """The calls as the family's template writes them."""
    if form == "gpt_oss":
        ((name, arguments),) = calls
        return f" to=functions.{name}<|channel|>commentary json<|message|>{json.dumps(arguments)}"
    if form == "muse_glimmer":
        return "<|eom|><|start|>assistant".join(
            f" to={name}<|message|>{ATEM.write((name, texts(arguments)))}" for name, arguments in calls
        )
    markup = FORMS[form]
    section = ", " if form == "lfm2" else ""
    inside = section.join(one(form, markup, name, arguments) for name, arguments in calls)
    return (markup.section[0] + inside + markup.section[1]).rstrip()


ATEM = Markup(
    ('<atem:invoke name="NAME">\n', "</atem:invoke>\n"),
    ('<atem:parameter name="KEY">', "</atem:parameter>\n"),
    section=("<atem:function_calls>\n", "</atem:function_calls>"),
)


def one(form: str, markup: Markup, name: str, arguments: dict[str, Json]) -> str:
    entries = [argument(form, markup, key, value) for key, value in arguments.items()]
    return markup.opened(name) + markup.between.join(entries) + markup.call[1]


def argument(form: str, markup: Markup, key: str, value: Json) -> str:
    if form == "lfm2":
        return f"{key}={value!r}"
    if form == "gemma4":
        return f"{key}:{gemma(value)}"
    if form == "minimax_m3":
        return element(key, value)
    if form == "minicpm5" and isinstance(value, str) and "<" in value:
        return markup.argument(key, f"<![CDATA[{value}]]>")
    if isinstance(value, str):
        return markup.argument(key, value)
    said = markup.argument(key, json.dumps(value)).replace('string="true"', 'string="false"')
    return said.replace('type="string"', f'type="{WORDS.get(type(value), "null")}"')


def gemma(value: Json) -> str:
    if isinstance(value, str):
        return f'<|"|>{value}<|"|>'
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{gemma(item)}" for key, item in value.items()) + "}"
    return "[" + ",".join(map(gemma, value)) + "]" if isinstance(value, list) else json.dumps(value)


def element(key: str, value: Json) -> str:
    inside = value if isinstance(value, str) else json.dumps(value)
    if isinstance(value, dict):
        inside = "".join(element(name, item) for name, item in value.items())
    if isinstance(value, list):
        inside = "".join(element("item", item) for item in value)
    return f"{M3}<{key}>{inside}{M3}</{key}>"


WORDS = {bool: "boolean", int: "number", float: "number", dict: "object", list: "array"}


def texts(arguments: dict[str, Json]) -> dict[str, str]:
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}


def calls_in(form: str, text: str, tools: Sequence[Tool], markers: CallMarkers | None = None) -> list[tuple[str, str]]:
    """What the family's parser reads: whole calls and nothing beside them."""
    if form in CHAINED:
        out = read(family(form.replace("_", "-")), text, CHAINED[form], tools=tools)
        assert not out.content.strip(), repr(text)
        assert all(call.whole for call in out.calls)
        return [(call.name, call.arguments) for call in out.calls]
    answer = said(tagged_syntax(markers) if markers else form, text, tools=tools)
    assert not answer.content.strip()
    assert all(call.whole for call in answer.calls)
    return [(call.name, call.arguments) for call in answer.calls]


@pytest.mark.parametrize("form", ALL)
def test_what_the_template_writes_is_allowed_and_reads_back(vocabulary: View, form: str) -> None:
    arguments: dict[str, Json] = {"city": "Rome, <b>\n 3", "seats": 2, "terrace": True, "code": "IT"}
    text = written(form, ("book_table", arguments))
    assert accepts(vocabulary, source(vocabulary, form), text)
    assert [(name, json.loads(read)) for name, read in calls_in(form, text, BOTH)] == [("book_table", arguments)]


@pytest.mark.parametrize("form", ALL)
def test_arguments_come_in_any_order(vocabulary: View, form: str) -> None:
    text = written(form, ("book_table", {"terrace": False, "city": "Rome"}))
    assert accepts(vocabulary, source(vocabulary, form), text) is (form != "gpt_oss")


@pytest.mark.parametrize("form", [form for form in ALL if form != "gpt_oss"])
def test_several_calls_are_allowed_only_where_they_may_be_parallel(vocabulary: View, form: str) -> None:
    text = written(form, ("ping", {}), ("book_table", {"city": "Rome"}))
    assert accepts(vocabulary, source(vocabulary, form), text)
    assert not accepts(vocabulary, source(vocabulary, form, parallel=False), text)
    assert accepts(vocabulary, source(vocabulary, form, parallel=False), written(form, ("ping", {})))


@pytest.mark.parametrize("form", ALL)
def test_a_named_choice_allows_that_tool_only(vocabulary: View, form: str) -> None:
    named = source(vocabulary, form, choice=ToolChoice(ToolChoiceMode.NAMED, "book_table"))
    assert accepts(vocabulary, named, written(form, ("book_table", {"city": "Rome"})))
    assert not accepts(vocabulary, named, written(form, ("ping", {})))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("pong", {}),
        ("book_table", {}),
        ("book_table", {"seats": 2}),
        ("book_table", {"city": "R"}),
        ("book_table", {"city": "Rome" * 6}),
        ("book_table", {"city": "Rome", "seats": 2.5}),
        ("book_table", {"city": "Rome", "seats": True}),
        ("book_table", {"city": "Rome", "terrace": 1}),
        ("book_table", {"city": "Rome", "code": "ITA"}),
        ("book_table", {"city": "Rome", "other": "x"}),
        ("ping", {"city": "Rome"}),
    ],
)
@pytest.mark.parametrize("form", ALL)
def test_a_wrong_name_type_or_missing_argument_is_refused(
    vocabulary: View, form: str, name: str, arguments: dict[str, Json]
) -> None:
    assert not accepts(vocabulary, source(vocabulary, form), written(form, (name, arguments)))


@pytest.mark.parametrize("form", [form for form in ALL if form != "gpt_oss"])
def test_an_argument_stands_once(vocabulary: View, form: str) -> None:
    once = written(form, ("book_table", {"city": "Rome", "note": "Roma"}))
    assert accepts(vocabulary, source(vocabulary, form), once)
    assert not accepts(vocabulary, source(vocabulary, form), once.replace("note", "city"))


@pytest.mark.parametrize("form", ALL)
def test_text_instead_of_a_call_is_refused(vocabulary: View, form: str) -> None:
    constraint = source(vocabulary, form)
    for text in ("", "I will call it.", "{}", "[]"):
        assert not accepts(vocabulary, constraint, text)


@pytest.mark.parametrize("form", ALL)
def test_every_finished_output_is_calls_whose_arguments_validate(vocabulary: View, form: str) -> None:
    outputs = [random_call(vocabulary, form, Random(f"{form} {seed}")) for seed in range(20)]
    drawn = [finished for finished in outputs if finished is not None]
    assert len(drawn) >= 0.6 * len(outputs), "too many schemas were refused"
    assert sum(drawn) >= 0.8 * len(drawn)


AMBIGUOUS: dict[str, Json] = {
    "any": {},
    "free": {"type": "object"},
    "list": {"type": "array", "maxItems": 2},
    "word": {"type": ["string", "null", "boolean"], "maxLength": 30},
    "size": {"anyOf": [{"type": "string", "minLength": 3}, {"type": "integer", "minimum": 50}]},
    "mixed": {"type": ["string", "object", "array", "number"], "maxLength": 40, "maxItems": 1},
    "listed": {"enum": ["1", 1, None, "null", "true", "x", True]},
    "untyped": {"maxLength": 9},
    "wrapped": {"allOf": [{"type": "string"}, {"minLength": 2}]},
    "nested": {"type": "object", "properties": {"text": {"type": "string"}, "more": {}}, "additionalProperties": {}},
}
"""Values whose text could be read as one of another type."""


@pytest.mark.parametrize("name", AMBIGUOUS)
@pytest.mark.parametrize("form", ALL)
def test_what_is_written_is_read_as_meant_however_the_model_quotes_markup(
    vocabulary: View, form: str, name: str
) -> None:
    tools = [Tool("note", parameters={"type": "object", "properties": {"body": AMBIGUOUS[name]}, "required": ["body"]})]
    constraint = source(vocabulary, form, tools)
    ends = [closer.replace("tag>", "body>") for closer in closers(form, None)] * 3
    markup = FORMS.get(form, ATEM)
    quotes = [
        markup.section[1],
        markup.call[1],
        markup.opened("note"),
        markup.head("body"),
        written(form, ("note", {})),
    ]
    texts = [
        "null",
        "None",
        "true",
        "False",
        "12",
        "-",
        "1e5",
        '{"a": 1}',
        "[",
        '"',
        "</",
        " ",
        "\n",
        "to=user<|message|>",
    ]
    wishes = [*ends, *texts, *filter(None, quotes)]
    finished = [
        checked_output(vocabulary, form, tools, constraint, Random(f"{form} {name} {seed}"), wishes)
        for seed in range(4)
    ]
    assert any(finished)


CUSTOM = {
    "values between tags": CallMarkers(
        "tagged",
        section_open="<calls>",
        section_close="</calls>",
        call_open="<do:",
        call_close="</do>",
        name_close=">",
        key_open="<a:",
        key_close=">",
        value_close="</a>",
    ),
    "keys of their own": CallMarkers(
        "tagged",
        call_open="<call>",
        call_close="</call>",
        key_open="<k>",
        key_close="</k>",
        value_open="<v>",
        value_close="</v>",
    ),
}


@pytest.mark.parametrize("form", CUSTOM)
def test_the_form_of_an_unseen_template_is_constrained_as_it_is_read(vocabulary: View, form: str) -> None:
    outputs = [random_call(vocabulary, "custom", Random(f"{form} {seed}"), CUSTOM[form]) for seed in range(10)]
    drawn = [finished for finished in outputs if finished is not None]
    assert len(drawn) >= 0.6 * len(outputs), "too many schemas were refused"
    assert sum(drawn) >= 0.8 * len(drawn)


def test_an_unseen_form_whose_parts_cannot_be_told_apart_is_refused(vocabulary: View) -> None:
    with pytest.raises(NotSupported):
        source(vocabulary, "custom", markers=CallMarkers("tagged", call_open="<c>", call_close="</c>"))


def random_call(view: View, form: str, random: Random, markers: CallMarkers | None = None) -> bool | None:
    """Whether a random writer came to an end under random tools (None: they were refused); what it wrote is checked."""
    tools = [
        Tool("ping"),
        Tool("get_x-1", parameters=plainly_named(random_object(random))),
        Tool("deep.one", parameters=plainly_named(with_definitions(random))),
    ]
    try:
        constraint = source(view, form, tools, parallel=random.random() < 0.5, markers=markers)
    except InvalidField:
        return None
    return checked_output(view, form, tools, constraint, random, closers(form, markers), markers)


def checked_output(
    view: View,
    form: str,
    tools: Sequence[Tool],
    constraint: Source,
    random: Random,
    written: Sequence[str],
    markers: CallMarkers | None = None,
) -> bool:
    """Whether a random writer came to an end; what it then wrote is checked. written: what it likes to write."""
    output = random_output(view, constraint, random, closers=written)
    if output is None:
        return False
    calls = calls_in(form, output, tools, markers)
    assert calls, repr(output)
    parameters = {tool.name: tool.parameters for tool in tools}
    for name, arguments in calls:
        schema = {"type": "object", **parameters[name]}
        check = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
        assert check.is_valid(json.loads(arguments)), repr((arguments, output, schema))
    return True


PLAIN = dict(zip(NAMES, ("city", "seats", "ab", "note", "quote", "x_1", "kind", "tag"), strict=True))


def plainly_named(node: Any) -> Any:
    """The schema with names that can stand in markup."""
    if isinstance(node, dict):
        out = {key: plainly_named(value) for key, value in node.items()}
        if isinstance(properties := out.get("properties"), dict):
            out["properties"] = {PLAIN.get(name, name): value for name, value in properties.items()}
        if isinstance(required := out.get("required"), list):
            out["required"] = [PLAIN.get(name, name) for name in required]
        return out
    return [plainly_named(item) for item in node] if isinstance(node, list) else node


def closers(form: str, markers: CallMarkers | None) -> list[str]:
    """Markup that ends a value."""
    if markers is not None:
        return [markers.value_close, f"\n{markers.value_close}"]
    if form == "minimax_m3":
        names = (*PLAIN.values(), "tree", "leaf", "down", "item")
        return [f"{M3}</{name}>" for name in names]
    if form == "muse_glimmer":
        return ["</atem:parameter>", "<|eom|>", " to=deep.one<|message|>"]
    if form == "gpt_oss":
        return ["<|end|>", " to=functions.deep.one<|channel|>commentary json<|message|>"]
    end = FORMS[form].value[1].strip()
    return [end, f"\n{end}"] if end else []


GOLDEN = [
    case
    for line in Path(__file__).parents[2].joinpath("golden", "output_cases.jsonl").read_text("utf-8").splitlines()
    if (case := json.loads(line))["tool_format"] in ALL
    and case["expected"]["tool_calls"]
    and case.get("finish") != "length"
]


def fits(case: dict[str, Any]) -> bool:
    """Do the case's calls keep their schemas, as constrained calls must?"""
    parameters = {tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in case["tools"]}
    return all(
        Draft202012Validator(parameters[call["name"]]).is_valid(call["arguments"])
        and call["arguments"].keys() <= parameters[call["name"]].get("properties", {}).keys()
        for call in case["expected"]["tool_calls"]
    )


@pytest.mark.parametrize("case", GOLDEN, ids=[case["id"] for case in GOLDEN])
def test_the_specifications_calls_can_be_written_under_the_constraint_and_read_back(
    vocabulary: View, case: dict[str, Any]
) -> None:
    form, tools = case["tool_format"], [offered(tool["function"]) for tool in case["tools"]]
    calls = [(call["name"], call["arguments"]) for call in case["expected"]["tool_calls"]]
    for chosen in [calls] if form != "gpt_oss" else [[call] for call in calls]:
        text = written(form, *chosen)
        assert accepts(vocabulary, source(vocabulary, form, tools), text) is fits(case)
        assert [(name, json.loads(arguments)) for name, arguments in calls_in(form, text, tools)] == chosen


def offered(function: dict[str, Any]) -> Tool:
    return Tool(function["name"], parameters=function.get("parameters", {}))
