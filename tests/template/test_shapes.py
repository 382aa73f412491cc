"""What each family's template is handed, seen in what it writes."""

import pytest
from support.postures import posture_of
from support.templates import template

from ferrox_gguf.posture.values import Posture
from ferrox_gguf.request import ChatRequest, Continuation, Message, TextPart, Tool, ToolCall
from ferrox_gguf.settings import ChatSettings
from ferrox_gguf.template.render import Renderer

WEATHER = Tool("get_weather", "Looks", {"type": "object", "properties": {"city": {"type": "string"}}})
CALL = ToolCall("get_weather", '{"city": "Rome"}', "call_1")
QUESTION = Message("user", "Why?")


def text_of(source, *messages, tools=(WEATHER,), posture=None, **fields):
    renderer = Renderer(source, posture or posture_of(source), bos_token="<s>", eos_token="</s>")
    return renderer.render(ChatRequest(messages, tools, **fields), ChatSettings()).text


def written(name, *messages, **fields):
    return text_of(template(name), *messages, **fields)


def called(content=None, thought=None, *calls):
    return Message("assistant", content, thought, calls or (CALL,))


RESULT = Message("tool", "21 degrees", tool_call_id="call_1")


@pytest.mark.parametrize(
    ("name", "call"),
    [
        (
            "Qwen-Qwen2.5-7B-Instruct",
            '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>',
        ),
        ("meetkai-functionary-medium-v3.2", '>>>get_weather\n{"city": "Rome"}'),
        ("GLM-4.6", "<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>"),
        ("Qwen3-Coder", "<parameter=city>\nRome\n</parameter>"),
        ("deepseek-ai-DeepSeek-V3.2", 'name="city" string="true">Rome<'),
    ],
)
def test_arguments_are_an_object_or_a_string_as_the_template_reads_them(name, call):
    assert call in written(name, QUESTION, called(), RESULT)


def test_arguments_that_a_limit_cut_are_shown_as_they_are():
    cut = called(None, None, ToolCall("get_weather", '{"city": "Ro', "call_1"))
    assert '{\\"city\\": \\"Ro' in written("Qwen-Qwen2.5-7B-Instruct", QUESTION, cut, RESULT)


@pytest.mark.parametrize("arguments", ['{"city": "Ro', "[1]", '"Rome"', "Rome"])
@pytest.mark.parametrize("name", ["GLM-4.6", "Qwen3.5-4B", "deepseek-ai-DeepSeek-V3.2", "Spark2.5", "muse-glimmer"])
def test_arguments_that_are_no_object_are_put_into_one_where_the_template_insists(name, arguments):
    text = written(name, QUESTION, called(None, None, ToolCall("get_weather", arguments, "call_1")), RESULT)
    assert arguments in text


def test_a_call_turn_without_text_never_prints_none():
    for name in ("GLM-4.6", "GLM-4.7-Flash", "MiniMax-M2", "CohereForAI-c4ai-command-r-plus-tool_use"):
        assert "None" not in written(name, QUESTION, called(), RESULT).partition("Why?")[2]


def test_the_llama_distill_keeps_a_call_and_the_text_beside_it():
    text = written("deepseek-ai-DeepSeek-R1-Distill-Llama-8B", QUESTION, called("One moment."), RESULT, tools=())
    assert "One moment." in text
    assert 'get_weather\n```json\n{"city": "Rome"}' in text


def test_gpt_oss_gets_thoughts_as_thinking_and_text_beside_a_call_with_them():
    text = written("openai-gpt-oss-120b", QUESTION, called("One moment.", "Which city?"), RESULT)
    assert "<|channel|>analysis<|message|>Which city?\n\nOne moment.<|end|>" in text
    assert " to=functions.get_weather<|channel|>commentary json<|message|>" in text


def test_gpt_oss_shows_parallel_calls_one_after_the_other():
    calls = (CALL, ToolCall("get_weather", '{"city": "Oslo"}', "call_2"))
    other = Message("tool", "3 degrees", tool_call_id="call_2")
    text = written("openai-gpt-oss-120b", QUESTION, called(None, None, *calls), other, RESULT)
    assert text.index("Rome") < text.index("21 degrees") < text.index("Oslo") < text.index("3 degrees")


def test_gpt_oss_never_ends_a_turn_of_the_history_with_return():
    answered = Message("assistant", "Because.")
    closed = {"continuation": Continuation.OFF, "add_generation_prompt": False}
    assert written("openai-gpt-oss-120b", QUESTION, answered, **closed).endswith("<|message|>Because.<|end|>")


def test_ministral_gets_a_thought_as_a_part_of_the_content():
    answered = Message("assistant", "Because.", "Hm.")
    assert "[THINK]Hm.[/THINK]Because." in written(
        "mistralai-Ministral-3-14B-Reasoning-2512", QUESTION, answered, QUESTION, tools=()
    )


def test_apertus_gets_blocks_and_all_of_its_answers_in_that_form():
    text = written(
        "Apertus-8B-Instruct", QUESTION, Message("assistant", "A"), QUESTION, Message("assistant", "B", "Hm."), QUESTION
    )
    assert "<|inner_prefix|>Hm.<|inner_suffix|>B" in text
    assert "<|assistant_start|>A" in text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("LFM2.5-8B-A1B", "<think>Hm.</think>"),
        ("upstage-Solar-Open-100B", "<|think|>Hm.<|end|>"),
        ("google-gemma-4-31B-it", "<|channel>thought\nHm.\n<channel|>"),
        ("Qwen-Qwen3-0.6B", "<think>\nHm.\n</think>"),
    ],
)
def test_thoughts_go_where_the_template_looks_for_them(name, shown):
    assert shown in written(name, QUESTION, called("", "Hm."), RESULT)


def test_mistral_gets_ids_of_nine_characters_whatever_the_client_sent():
    for name in ("mistralai-Mistral-Nemo-Instruct-2407", "Mistral-Small-3.2-24B-Instruct-2506"):
        text = written(name, QUESTION, called(), RESULT)
        assert "call_1" not in text
        assert "21 degrees" in text


def test_stepfun_gets_texts_without_white_space_around_them():
    text = written("StepFun3.5-Flash", Message("user", "\n Why? \n"), Message("assistant", " A \n"), QUESTION)
    assert "\n\n Why?" not in text
    assert "user\nWhy?<|im_end|>" in text


def test_an_early_gemma_4_template_reads_results_from_the_message_that_called():
    source = (
        "{% for m in messages %}{% if m.role not in ['user', 'assistant', 'system'] %}{{ raise_exception('role') }}"
        "{% endif %}{{ m.content }}{% for c in m.tool_calls or [] %}<|tool_call>call:{{ c.function.name }}"
        "{% for k, v in c.function.arguments.items() %}{{ k }}:{{ v }}{% endfor %}{% endfor %}"
        "{% for r in m.tool_responses or [] %}[{{ r.name }}={{ r.response }}]{% endfor %}{% endfor %}"
        "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}"
    )
    assert "[get_weather=21 degrees]" in text_of(source, QUESTION, called(), RESULT)
    fields = Message("tool", '{"degrees": 21}', tool_call_id="call_1")
    assert "[get_weather={'degrees': 21}]" in text_of(source, QUESTION, called(), fields)


def test_parts_stay_parts_for_a_template_that_shows_them_and_are_lines_for_the_others():
    parts = Message("user", (TextPart("One"), TextPart("two")))
    assert "Onetwo" in written("Qwen3.5-4B", parts, tools=())
    assert "One\ntwo" in written("Qwen-Qwen3-0.6B", parts, tools=())


def test_a_template_that_takes_only_parts_gets_parts():
    source = "{% for m in messages %}{% for part in m.content %}{{ part.text }}|{% endfor %}{% endfor %}"
    assert text_of(source, QUESTION, tools=(), posture=Posture()) == "Why?|"


def test_fields_that_no_dialect_names_reach_the_template():
    source = "{% for m in messages %}{{ m.content }}{{ m.mood }}{% endfor %}"
    assert text_of(source, Message("user", "Why?", extra={"mood": "!"}), tools=()) == "Why?!"


@pytest.mark.parametrize(
    ("name", "call"),
    [
        (
            "ibm-granite-granite-3.3-2B-Instruct",
            '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Rome"}}]',
        ),
        ("LFM2-8B-A1B", "<|tool_call_start|>[get_weather(city='Rome')]<|tool_call_end|>"),
    ],
)
def test_a_template_that_shows_tools_and_forgets_calls_gets_them_in_the_familys_own_form(name, call):
    text = written(name, QUESTION, called(), RESULT)
    assert call in text
    assert "<tool_response>\n21 degrees\n</tool_response>" in text


SCHEMAS = [
    {},
    {"type": "object"},
    {"type": "object", "properties": {"city": {}}},
    {"type": "object", "properties": {"city": {"type": ["string", "null"]}}, "required": None},
    {"type": "object", "properties": {"city": {"anyOf": [{"type": "null"}, {"type": "integer"}]}}},
    {"type": "object", "properties": {"city": {"type": "object", "description": "x"}}},
    {"type": "object", "properties": {"city": {"enum": ["a", None], "description": "x"}}},
    {"type": "object", "properties": {"city": {"type": "array", "items": True}}},
    {"type": "object", "properties": {"city": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "string"}}},
]


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize(
    "name",
    [
        "CohereForAI-c4ai-command-r-plus-tool_use",
        "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
        "ByteDance-Seed-OSS",
        "openai-gpt-oss-120b",
        "Apertus-8B-Instruct",
        "GigaChat3-10B-A1.8B",
    ],
)
def test_a_schema_that_the_template_cannot_read_is_given_in_a_plain_form(name, schema):
    text = written(name, QUESTION, tools=(Tool("get_weather", None, schema),))
    assert "get_weather" in text
    assert "city" in text or "properties" not in schema


def test_a_schema_that_the_template_can_read_is_given_as_it_was_sent():
    schema = {"type": "object", "properties": {"city": {"type": ["string", "null"], "x-order": 1}}}
    assert '"city": {"type": ["string", "null"], "x-order": 1}' in written(
        "Qwen-Qwen3-0.6B", QUESTION, tools=(Tool("f", None, schema),)
    )
