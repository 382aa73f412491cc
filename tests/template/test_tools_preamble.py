import json

from support.templates import template

from ferrox_gguf.posture.values import Posture
from ferrox_gguf.request import ChatRequest, Message, Tool, ToolCall, ToolChoice, ToolChoiceMode
from ferrox_gguf.settings import ChatSettings
from ferrox_gguf.template import named
from ferrox_gguf.template.render import Renderer

WEATHER = Tool("get_weather", "Looks", {"type": "object", "properties": {"city": {"type": "string"}}})
CLOCK = Tool("get_time")
QUESTION = Message("user", "Why?")


def prompt(*messages, source=None, tools=(WEATHER, CLOCK), **fields):
    renderer = Renderer(source or named.source("chatml"), Posture())
    return renderer.render(ChatRequest(messages or (QUESTION,), tools, **fields), ChatSettings())


def system_text(rendered):
    return rendered.text.partition("<|im_start|>system\n")[2].partition("<|im_end|>")[0]


def test_a_template_without_tools_gets_them_as_a_system_text_that_teaches_the_hermes_form():
    rendered = prompt()
    text = system_text(rendered)
    assert rendered.taught_tools
    assert '<tool_call>\n{"name": ' in text
    listed = text.partition("<tools>\n")[2].partition("\n</tools>")[0]
    assert [json.loads(line)["function"]["name"] for line in listed.splitlines()] == ["get_weather", "get_time"]


def test_the_clients_own_system_text_stays_first():
    assert system_text(prompt(Message("system", "Be brief."), QUESTION)).startswith(
        "Be brief.\n\nYou can call functions"
    )


def test_it_goes_into_the_first_question_where_there_is_no_system_role():
    text = prompt(source=template("google-gemma-2-2b-it")).text
    assert text.startswith("<start_of_turn>user\nYou can call functions")
    assert text.endswith("\nWhy?<end_of_turn>\n<start_of_turn>model\n")


def test_the_history_is_written_in_the_form_that_was_taught():
    calls = (ToolCall("get_weather", '{"city": "Rome"}', "a"), ToolCall("get_time", "", "b"))
    text = prompt(
        QUESTION,
        Message("assistant", "One moment.", tool_calls=calls),
        Message("tool", "noon", tool_call_id="b"),
        Message("tool", "rain", tool_call_id="a"),
    ).text
    assert (
        "<|im_start|>assistant\nOne moment.\n"
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>\n'
        '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\nrain\n</tool_response>\n<tool_response>\nnoon\n</tool_response><|im_end|>\n"
    ) in text


def test_what_must_be_called_is_said():
    required = prompt(tool_choice=ToolChoice(ToolChoiceMode.REQUIRED))
    assert "Answer with a function call." in system_text(required)
    one = prompt(tool_choice=ToolChoice(ToolChoiceMode.NAMED, "get_time"))
    assert "Answer with a call of get_time." in system_text(one)


def test_tools_that_may_not_be_called_are_not_taught():
    assert "functions" not in prompt(tool_choice=ToolChoice(ToolChoiceMode.NONE)).text


def test_several_calls_at_once_are_offered_unless_the_client_forbids_them():
    assert "several functions at once" in system_text(prompt())
    assert prompt().parallel_calls
    alone = prompt(parallel_tool_calls=False)
    assert "several functions at once" not in system_text(alone)
    assert not alone.parallel_calls


def test_parallel_calls_are_what_the_template_can_do_unless_the_client_says():
    def parallel(name, **fields):
        return prompt(source=template(name), **fields).parallel_calls

    assert parallel("Qwen-Qwen3-0.6B")
    assert not parallel("meta-llama-Llama-3.1-8B-Instruct")
    assert parallel("meta-llama-Llama-3.1-8B-Instruct", parallel_tool_calls=True)
    assert not parallel("Qwen-Qwen3-0.6B", parallel_tool_calls=False)


def test_a_template_that_shows_tools_is_not_taught():
    rendered = prompt(source=template("Qwen-Qwen3-0.6B"))
    assert not rendered.taught_tools
    assert "You can call functions" not in rendered.text
