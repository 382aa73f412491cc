"""Every template of llama.cpp, against the measured facts."""

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.postures import posture_of
from support.templates import template, templates

from ferrox_gguf.errors import TemplateRefused
from ferrox_gguf.jinja import compile_template
from ferrox_gguf.posture.values import BlockState, ReasoningStyle
from ferrox_gguf.request import ChatRequest, Continuation, Message, TextPart, Thinking, Tool, ToolCall
from ferrox_gguf.settings import ChatSettings
from ferrox_gguf.template.capabilities import Arguments
from ferrox_gguf.template.fixes import corrected
from ferrox_gguf.template.render import Renderer

HERE = Path(__file__).parent
TAILS = json.loads((HERE / "prompt_tails.json").read_text())["tails"]
SHAPES = json.loads((HERE / "input_shapes.json").read_text())["templates"]
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
EVERY = pytest.mark.parametrize("name", sorted(TAILS))


@cache
def renderer_of(name):
    source = template(name)
    return Renderer(corrected(source)[0], posture_of(source), **TOKENS)


def test_every_fetched_template_has_its_facts():
    assert sorted(TAILS) == sorted(SHAPES) == sorted(templates())
    assert len(TAILS) >= 69


@EVERY
def test_the_prompt_ends_as_measured(name):
    compiled = compile_template(template(name))
    for thinking, expected in TAILS[name].items():
        switch = {} if thinking == "undefined" else {"enable_thinking": thinking == "true"}
        text = compiled.render([{"role": "user", "content": "QQQ"}], None, True, **TOKENS, **switch)
        after = text.rpartition("QQQ")[2]
        assert after.endswith(expected) if "plus-tool_use" in name else after == expected


@EVERY
def test_a_template_is_seen_to_take_what_it_was_measured_to_take(name):
    fact = SHAPES[name]
    takes = renderer_of(name).capabilities
    if fact["object"] == "ok":
        assert takes.tool_calls
        assert takes.arguments is Arguments.OBJECT
    elif fact["string"] == "ok" or "str" in fact["null"]:
        assert takes.tool_calls
        assert takes.arguments is Arguments.STRING
    else:
        assert not takes.tool_calls
    assert takes.null_content == ("(str)" in fact["null"])
    assert takes.part_roles >= {"user"} if fact["parts"] == "ok" else not takes.part_roles >= {"user", "system"}


@EVERY
def test_the_switches_a_template_was_measured_to_read_are_found(name):
    assert set(SHAPES[name]["reads"]) <= compile_template(template(name)).reads


WEATHER = Tool(
    "get_weather",
    "Looks at the sky",
    {"type": "object", "properties": {"city": {"type": "string", "description": "where"}}, "required": ["city"]},
)
BARE = Tool("get_time")
LOOK = ToolCall("get_weather", '{"city": "Rome"}', "call_1")
CLOCK = ToolCall("get_time", "{}", "call_2")
PROBES = {
    "plain": ([Message("user", "Question1")], ()),
    "parts in every role": (
        [
            Message("system", (TextPart("Instruction1"), TextPart("Instruction2"))),
            Message("user", (TextPart("Question1"), TextPart("Question2"))),
            Message("assistant", (TextPart("Answer1"),)),
            Message("user", "Question3"),
        ],
        (),
    ),
    "late instructions": (
        [
            Message("system", "Instruction1"),
            Message("user", "Question1"),
            Message("assistant", "Answer1"),
            Message("developer", "Instruction2"),
            Message("user", "Question2"),
            Message("user", "Question3"),
            Message("system", "Instruction3"),
        ],
        (),
    ),
    "tools": ([Message("user", "Question1")], (WEATHER, BARE)),
    "parallel calls, results in the wrong order": (
        [
            Message("user", "Question1"),
            Message("assistant", None, tool_calls=(LOOK, CLOCK)),
            Message("tool", "Result2", tool_call_id="call_2"),
            Message("tool", (TextPart("Result1"),), tool_call_id="call_1"),
        ],
        (WEATHER, BARE),
    ),
    "a finished loop, with thoughts": (
        [
            Message("system", "Instruction1"),
            Message("user", "Question1"),
            Message("assistant", "", "Thought1", (ToolCall("get_weather", '{"city": "Rome"}'),)),
            Message("tool", "Result1"),
            Message("assistant", "Answer1", "Thought2"),
            Message("user", "Question2"),
        ],
        (WEATHER,),
    ),
    "calls in the history of a request without tools": (
        [
            Message("user", "Question1"),
            Message("assistant", None, tool_calls=(LOOK,)),
            Message("tool", "Result1", tool_call_id="call_1"),
            Message("user", "Question2"),
        ],
        (),
    ),
    "an empty answer": ([Message("user", "Question1"), Message("assistant", None), Message("user", "Question2")], ()),
}


@EVERY
def test_every_conversation_is_rendered_whole_or_refused_in_the_templates_own_words(name):
    for messages, tools in PROBES.values():
        try:
            text = renderer_of(name).render(ChatRequest(tuple(messages), tools), ChatSettings()).text
        except TemplateRefused as refusal:
            text = ""
            assert str(refusal)[:20] in template(name)  # noqa: PT017
        else:
            assert [word for word in words_of(messages, tools) if word not in text] == []


def words_of(messages, tools):
    """All that has to stand in the prompt. Earlier thoughts, and text beside calls, are the template's affair."""
    words = [tool.name for tool in tools]
    for message in messages:
        words += [message.content] if isinstance(message.content, str) else []
        words += [part.text for part in message.content] if isinstance(message.content, tuple) else []
        words += [word for call in message.tool_calls for word in (call.name, *json.loads(call.arguments).values())]
    return words


STATES = {ReasoningStyle.HARMONY: "unopened", ReasoningStyle.ATEM: "open", ReasoningStyle.DELIMITER: "open"}


@EVERY
def test_the_state_of_the_block_follows_from_what_the_template_added(name):
    reasoning = posture_of(template(name)).reasoning
    prompt = renderer_of(name).render(ChatRequest((Message("user", "What does <think> mean?"),)), ChatSettings())
    assert "What does <think> mean?" not in prompt.added
    assert prompt.text.endswith(prompt.added)
    if reasoning is None:
        assert prompt.block is BlockState.UNOPENED
    elif reasoning.style is not ReasoningStyle.PAIR:
        assert prompt.block.value == STATES[reasoning.style]
    else:
        opener, closer = reasoning.opener.strip(), reasoning.closer.strip()
        assert (prompt.block is BlockState.OPEN) == (prompt.added.rfind(opener) > prompt.added.rfind(closer))
        assert (prompt.block is BlockState.UNOPENED) == (opener not in prompt.added and closer not in prompt.added)


@EVERY
def test_thinking_can_be_turned_off(name):
    reasoning = posture_of(template(name)).reasoning
    off = ChatRequest((Message("user", "Question1"),), thinking=Thinking(enabled=False))
    prompt = renderer_of(name).render(off, ChatSettings())
    assert not prompt.thinking
    if reasoning is None:
        assert prompt.block is BlockState.UNOPENED
    elif reasoning.style is ReasoningStyle.ATEM:
        assert "Reasoning strength: low" in prompt.text
    elif reasoning.style is ReasoningStyle.HARMONY:
        assert "Reasoning: low" in prompt.text
    # These are told in the system text, or think only when the prompt opens the block.
    elif reasoning.name in ("apertus", "granite", "mistral") or name.startswith("Bielik") or name == "Reka-Edge":
        assert prompt.block is BlockState.UNOPENED
    else:
        assert prompt.block is BlockState.CLOSED


def contents():
    return st.sampled_from(
        [None, "", "text", "  \n x ", "<think>a</think>b", (), (TextPart("a"),), (TextPart("a"), TextPart("b"))]
    )


def conversations():
    arguments = ["", "{}", '{"a": {"b": [1, null, true, "x"]}}', "[1]", '"s"', "null", '{"a":', '{"c":"R\\n<\\"x"}']
    call = st.builds(
        ToolCall,
        st.sampled_from(["get_weather", "a.b"]),
        st.sampled_from(arguments),
        st.sampled_from([None, "", "call_1", "123456789"]),
    )
    message = st.one_of(
        st.builds(Message, st.sampled_from(["system", "developer", "user"]), contents()),
        st.builds(Message, st.just("assistant"), contents(), st.sampled_from([None, "thought"])),
        st.builds(
            Message,
            st.just("assistant"),
            contents(),
            st.sampled_from([None, "thought"]),
            st.lists(call, max_size=3).map(tuple),
        ),
        st.builds(
            Message,
            st.just("tool"),
            contents(),
            tool_call_id=st.sampled_from([None, "call_1", "?"]),
            name=st.sampled_from([None, "get_weather"]),
        ),
    )
    return st.lists(message, max_size=7).map(lambda talk: [Message("user", "Question1"), *talk])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conversations(), st.sampled_from([(), (WEATHER, BARE)]), st.sampled_from([None, True, False]))
def test_no_conversation_breaks_a_template(talk, tools, thinking):
    request = ChatRequest(tuple(talk), tools, thinking=Thinking(enabled=thinking), continuation=Continuation.OFF)
    for name in TAILS:
        try:
            renderer_of(name).render(request, ChatSettings())
        except TemplateRefused as refusal:
            assert str(refusal)[:20] in template(name)  # noqa: PT017
