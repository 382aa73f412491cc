"""Chat requests in the shapes that clients really send."""

import pytest

from ferrox_gguf.errors import InvalidField, RequestError
from ferrox_gguf.request import Continuation, Message, ReasoningDisplay, TextPart, Tool, ToolCall, ToolChoiceMode
from ferrox_gguf.wire.chat_request import parse_chat
from ferrox_gguf.wire.served import Served

SERVED = Served("m", "b1", n_vocab=300, n_parallel=4)
HI = [{"role": "user", "content": "hi"}]
TOOL = {"type": "function", "function": {"name": "f"}}


def chat(**fields):
    return parse_chat({"messages": HI, **fields}, SERVED)


@pytest.mark.parametrize(
    "messages",
    [
        None,
        "string",
        [123],
        [{}],
        [{"role": 123}],
        [{"role": "user"}],
        [{"role": "assistant"}],
        [{"role": "system", "content": 123}],
        [{"role": "user", "content": [{"type": "text"}]}],
        [{"role": "user", "content": [{"type": "sound"}]}],
        [{"role": "assistant", "tool_calls": [{"type": "function"}]}],
        [{"role": "assistant", "tool_calls": "x"}],
    ],
)
def test_messages_of_no_known_shape_are_refused(messages):
    with pytest.raises(RequestError):
        parse_chat({"messages": messages}, SERVED)


def test_an_image_is_refused_by_what_it_is():
    parts = [{"type": "image_url", "image_url": {"url": "data:"}}]
    with pytest.raises(InvalidField, match="image input is not supported"):
        parse_chat({"messages": [{"role": "user", "content": parts}]}, SERVED)


def test_content_is_text_or_parts_in_any_role():
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    for role in ("system", "developer", "user", "assistant", "tool"):
        request = parse_chat({"messages": [{"role": role, "content": parts}]}, SERVED)
        assert request.messages == (Message(role, (TextPart("a"), TextPart("b"))),)


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": ""}])
def test_calls_may_stand_without_content(content):
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    request = parse_chat({"messages": [{"role": "assistant", "tool_calls": [call], **content}]}, SERVED)
    assert request.messages[0].tool_calls == (ToolCall("f", "{}", "1"),)


@pytest.mark.parametrize(("sent", "kept"), [('{"a": 1}', '{"a": 1}'), ({"a": 1}, '{"a":1}'), (None, "{}"), ("", "{}")])
def test_arguments_are_json_text_or_the_object_itself(sent, kept):
    call = {"function": {"name": "f", "arguments": sent}}
    request = parse_chat({"messages": [{"role": "assistant", "tool_calls": [call]}]}, SERVED)
    assert request.messages[0].tool_calls[0].arguments == kept


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_an_earlier_thought_is_replayed_under_both_its_names(name):
    request = parse_chat({"messages": [{"role": "assistant", "content": "a", name: "because"}]}, SERVED)
    assert request.messages[0].reasoning == "because"


def test_a_message_keeps_fields_that_only_a_template_knows():
    request = parse_chat({"messages": [{"role": "user", "content": "a", "task": "x"}]}, SERVED)
    assert request.messages[0].extra == {"task": "x"}


@pytest.mark.parametrize("tools", [None, []])
def test_no_tools_are_no_tools(tools):
    request = chat(tools=tools, tool_choice="required")
    assert request.tools == ()
    assert request.tool_choice.mode is ToolChoiceMode.AUTO


def test_a_tool_needs_only_a_name():
    assert chat(tools=[TOOL]).tools == (Tool("f"),)
    assert chat(tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}]).tools == (Tool("f"),)


@pytest.mark.parametrize("tools", ["x", [{}], [{"type": "function"}], [{"type": "code", "function": {"name": "f"}}]])
def test_tools_of_no_known_shape_are_refused(tools):
    with pytest.raises(InvalidField, match="tools"):
        chat(tools=tools)


@pytest.mark.parametrize("word", ["none", "auto", "required"])
def test_tool_choice_is_a_word(word):
    assert chat(tools=[TOOL], tool_choice=word).tool_choice.mode is ToolChoiceMode(word)


def test_tool_choice_names_an_offered_function():
    choice = chat(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "f"}}).tool_choice
    assert (choice.mode, choice.name) == (ToolChoiceMode.NAMED, "f")
    with pytest.raises(InvalidField, match='no tool "g"'):
        chat(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "g"}})
    with pytest.raises(InvalidField, match="tool_choice"):
        chat(tools=[TOOL], tool_choice="any")


@pytest.mark.behaviour("K1")
@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        (True, Continuation.AUTO),
        ("reasoning_content", Continuation.REASONING),
        ("content", Continuation.CONTENT),
        (False, Continuation.OFF),
        (None, Continuation.UNSET),
    ],
)
def test_a_continuation_is_asked_for_in_these_words(sent, meant):
    assert chat(continue_final_message=sent).continuation is meant


@pytest.mark.behaviour("K1")
@pytest.mark.parametrize("sent", ["auto", 1, 0, "true", [], {}])
def test_any_other_word_for_a_continuation_is_refused_with_the_allowed_ones(sent):
    with pytest.raises(InvalidField, match='true, false, "reasoning_content" or "content"'):
        chat(continue_final_message=sent)


@pytest.mark.behaviour("K1")
def test_an_absent_continuation_is_unset():
    assert chat().continuation is Continuation.UNSET


@pytest.mark.parametrize(
    ("fields", "enabled"),
    [
        ({}, None),
        ({"enable_thinking": False}, False),
        ({"think": False, "enable_thinking": True}, False),
        ({"think": "high"}, True),
        ({"reasoning": {"enabled": False}, "think": True}, False),
        ({"reasoning": {"effort": "none"}}, False),
        ({"reasoning_effort": "none", "reasoning": {"enabled": True}}, False),
        ({"reasoning_effort": "high"}, None),
    ],
)
def test_thinking_is_switched_in_many_words_with_one_order(fields, enabled):
    assert chat(**fields).thinking.enabled is enabled


@pytest.mark.parametrize(
    ("fields", "effort"),
    [
        ({"reasoning_effort": "low", "reasoning": {"effort": "high"}}, "low"),
        ({"reasoning": {"effort": "high"}, "think": "low"}, "high"),
        ({"think": "low"}, "low"),
        ({"reasoning_effort": "none"}, None),
    ],
)
def test_effort_is_said_in_many_places_with_one_order(fields, effort):
    assert chat(**fields).thinking.effort == effort


@pytest.mark.parametrize(
    ("fields", "budget"),
    [
        ({"reasoning_budget_tokens": 5, "thinking_budget_tokens": 6}, 5),
        ({"thinking_budget_tokens": 6}, 6),
        ({"reasoning": {"max_tokens": 7}}, 7),
        ({"reasoning_budget_tokens": 0}, 0),
        ({"reasoning_budget_tokens": -1}, None),
        ({}, None),
    ],
)
def test_a_budget_has_three_names(fields, budget):
    assert chat(**fields).thinking.budget == budget


def test_template_keywords_are_passed_on_as_sent():
    assert chat(chat_template_kwargs={"enable_thinking": True, "custom": 1}).template_kwargs == {
        "enable_thinking": True,
        "custom": 1,
    }


@pytest.mark.parametrize("display", list(ReasoningDisplay))
def test_the_place_of_the_thought_is_chosen_by_name(display):
    assert chat(reasoning_format=display.value).reasoning_display is display


def test_an_unknown_place_for_the_thought_is_refused():
    with pytest.raises(InvalidField, match="none, auto, deepseek, deepseek-legacy"):
        chat(reasoning_format="qwen")


def test_logprobs_is_a_switch_with_a_number_beside_it():
    assert chat(logprobs=True).generation.n_probs == 20
    assert chat(logprobs=True, top_logprobs=3).generation.n_probs == 3
    assert chat(logprobs=False).generation.n_probs == 0
    with pytest.raises(InvalidField, match="top_logprobs"):
        chat(top_logprobs=3)


@pytest.mark.parametrize("sent", [{"type": "sound"}, {"type": "json_object", "schema": 123}])
def test_an_unknown_response_format_is_refused(sent):
    with pytest.raises(InvalidField, match="response_format"):
        chat(response_format=sent)


def test_a_response_format_becomes_a_constraint():
    wrapped = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"const": 1}}}
    grammar = chat(response_format=wrapped).generation.grammar
    assert grammar is not None
    assert grammar.source == '{"const":1}'
    assert chat(response_format={"type": "text"}).generation.grammar is None
