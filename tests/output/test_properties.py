"""What must hold for every family and any text: cuts do not matter, nothing raises, nothing is lost."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.output import SAVE, WEATHER, family, joined, pieces, thinking

from ferrox_gguf.output.alphabet import marker_texts
from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.forms import syntaxes
from ferrox_gguf.output.pieces import End, Piece, TokenKind
from ferrox_gguf.output.reasoning import ReasoningSplitter
from ferrox_gguf.output.runs import RunKind
from ferrox_gguf.output.tool_calls import SYNTAXES
from ferrox_gguf.posture.known import FAMILIES, REASONING
from ferrox_gguf.posture.values import BlockState, Posture, ReasoningStyle
from ferrox_gguf.request import ReasoningDisplay

TOOLS = (WEATHER, SAVE)
PARTS = [
    *' \n<>{}[]"\\:,/=|',
    "get_weather",
    "save",
    '{"name": "get_weather", "arguments": {"city": "Rome"}}',
    '{"city": "Rome"}',
    '"path"',
    "<tool_call>",
    "</tool_call>",
    "x" * 513,
    "推理",
    "🦀",
    "\ud800",
    "to=",
    "assistant",
    "9" * 30,
]
few = settings(max_examples=12, deadline=None)
"""Each of these runs for some fifty families; scripts/soak_output.py goes deeper."""

STATES = st.sampled_from(list(BlockState))
ENDS = st.sampled_from(list(End))


@cache
def vocabulary(posture: Posture) -> tuple[str, ...]:
    """What output of this family is made of, so that arbitrary text gets anywhere."""
    format, markers = posture.reasoning, list(marker_texts(posture.reasoning))
    if format is not None:
        markers += [format.opener, format.closer, format.header, *(format.wrapper or ()), *format.ends_at, *format.tail]
    markers += posture.string_stops
    for syntax in syntaxes(posture):
        markers += syntax.triggers
    return tuple(dict.fromkeys(text for text in markers if (text and text.isprintable()) or "\n" in text))


def texts(posture: Posture) -> st.SearchStrategy[list[str]]:
    part = st.one_of(st.sampled_from(vocabulary(posture) or ("a",)), st.sampled_from(PARTS), st.text(max_size=3))
    return st.lists(part, max_size=12)


def outcome(posture, parts, state, end, **options):
    chain = OutputChain(posture, state, **options)
    events = [event for part in parts for event in chain.push(pieces(part))]
    return joined(events + chain.flush(end)), chain.called, chain.stop


@pytest.mark.parametrize("name", FAMILIES)
@few
@given(st.data())
def test_joining_what_was_streamed_gives_the_whole_parse(name, data):
    posture = family(name)
    parts, state, end = data.draw(texts(posture)), data.draw(STATES), data.draw(ENDS)
    options = {
        "tools": TOOLS if data.draw(st.booleans()) else (),
        "stops": data.draw(st.sampled_from([(), ("Ro", "}"), ("\n\n",)])),
        "display": data.draw(st.sampled_from(list(ReasoningDisplay))),
        "continued": data.draw(st.booleans()),
    }
    whole = outcome(posture, ["".join(parts)], state, end, **options)
    assert outcome(posture, parts, state, end, **options) == whole
    assert outcome(posture, list("".join(parts)), state, end, **options) == whole


@pytest.mark.parametrize("tool_format", SYNTAXES)
@few
@given(st.data())
def test_every_reasoning_format_goes_with_every_syntax(tool_format, data):
    format = REASONING[data.draw(st.sampled_from(sorted(REASONING)))]
    posture = Posture(reasoning=format, tool_format=tool_format, calls_interrupt=data.draw(st.booleans()))
    parts, state, end = data.draw(texts(posture)), data.draw(STATES), data.draw(ENDS)
    whole = outcome(posture, ["".join(parts)], state, end, tools=TOOLS)
    assert outcome(posture, list("".join(parts)), state, end, tools=TOOLS) == whole


@pytest.mark.parametrize(
    "name", [n for n, row in REASONING.items() if row.style in (ReasoningStyle.PAIR, ReasoningStyle.DELIMITER)]
)
@few
@given(st.data())
def test_every_character_is_thought_answer_or_markup(name, data):
    """In order and once; and the markup is nothing but markers and the white space around them."""
    format = REASONING[name]
    text = "".join(data.draw(texts(thinking(name))))
    runs = []
    splitter = ReasoningSplitter(format, data.draw(STATES), lambda kind, run: runs.append((kind, run)))
    cut = data.draw(st.integers(0, len(text)))
    splitter.push(text[:cut])
    splitter.push(text[cut:])
    splitter.flush(data.draw(ENDS))
    assert "".join(run for _, run in runs) == text
    markers = [format.opener, format.closer, format.header, *(format.wrapper or ()), *format.tail]
    markers += [marker.strip() for marker in markers]
    if format.repeats:
        markers.append(format.opener[: format.opener.index(">") + 1])
    known = "|".join(re.escape(marker) for marker in sorted(filter(None, markers), key=len, reverse=True))
    for kind, run in runs:
        if kind in (RunKind.MARKUP, RunKind.LAYOUT):
            assert re.fullmatch(rf"(?:{known}|\s)*", run), run


@pytest.mark.parametrize("name", FAMILIES)
@few
@given(st.data())
def test_without_tools_all_text_is_shown_but_the_formats_markup(name, data):
    posture = family(name)
    parts = data.draw(texts(posture))
    shown, called, stop = outcome(posture, parts, data.draw(STATES), data.draw(ENDS))
    assert not called
    assert shown.calls == []
    if stop is None and name not in ("gpt-oss", "muse-glimmer", "functionary-v3.2"):
        left = "".join(parts)
        for marker in sorted(vocabulary(posture), key=len, reverse=True):
            left = left.replace(marker, "")
        letters = re.sub(r"[\W_]", "", left)
        output = re.sub(r"[\W_]", "", shown.reasoning + shown.content)
        assert len(output) >= len(letters)


SPELLING = [
    name
    for name, row in FAMILIES.items()
    if row.reasoning and row.reasoning.style is not ReasoningStyle.ATEM and not row.string_stops
]


@pytest.mark.parametrize("name", SPELLING)
@few
@given(st.data())
def test_marker_tokens_and_their_spelling_never_mix(name, data):
    """With every marker a token, text that only spells them is answer or thought as a whole."""
    posture = family(name)
    markers = {text: i for i, text in enumerate(marker_texts(posture.reasoning))}
    text = "".join(data.draw(st.lists(st.sampled_from([*markers, "a", "b "]), max_size=8))) + "."
    state = data.draw(STATES)
    chain = OutputChain(posture, state, marker_tokens=markers)
    parts = [Piece(char, TokenKind.NORMAL, 1000) for char in text]
    out = joined([event for part in parts for event in chain.push([part])] + chain.flush(End.DONE))
    assert (out.reasoning or out.content).strip() == text.strip()
    assert not (out.reasoning and out.content)


@pytest.mark.parametrize("name", FAMILIES)
@few
@given(st.data())
def test_tokens_of_any_kind_in_any_order_are_read(name, data):
    posture = family(name)
    markers = {text: i for i, text in enumerate(marker_texts(posture.reasoning))}
    kinds = st.sampled_from(list(TokenKind))
    parts = data.draw(texts(posture))
    given_pieces = [Piece(text, data.draw(kinds), markers.get(text, 500 + i)) for i, text in enumerate(parts)]
    state, batch = data.draw(STATES), data.draw(st.integers(1, 4))
    chain = OutputChain(posture, state, tools=TOOLS, marker_tokens=markers)
    events = []
    for at in range(0, len(given_pieces), batch):
        events += chain.push(given_pieces[at : at + batch])
    joined(events + chain.flush(End.DONE))
    if chain.reasoning_tokens is not None:
        assert 0 <= chain.reasoning_tokens <= len(given_pieces)
