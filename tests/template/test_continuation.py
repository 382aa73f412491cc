import pytest
from support.postures import posture_named
from support.templates import template

from ferrox_gguf.errors import InvalidField, NotSupported
from ferrox_gguf.posture.values import BlockState, Posture
from ferrox_gguf.request import ChatRequest, Continuation, Message, TextPart, Thinking, ToolCall
from ferrox_gguf.settings import ChatSettings
from ferrox_gguf.template import named
from ferrox_gguf.template.continuation import resolve
from ferrox_gguf.template.render import Renderer

R1_LIKE = (
    "{% for m in messages %}{{ '<|User|>' if m.role == 'user' else '<|Assistant|>' }}{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<|Assistant|><think>\n{% endif %}"
)
R1 = posture_named("deepseek-r1")
QUESTION = Message("user", "why")
THINKING = Message("assistant", None, "Let me think about")
BOTH = Message("assistant", "Because", "thought")
NO_PREFILL = ChatSettings(prefill_assistant=False)


def prompt(last, posture=R1, source=R1_LIKE, mode=Continuation.UNSET, **fields):
    request = ChatRequest((QUESTION, last), continuation=mode, **fields)
    return Renderer(source, posture, bos_token="<s>", eos_token="</s>").render(request, ChatSettings())


def real(name, family, last, **fields):
    return prompt(last, posture_named(family), template(name), **fields)


def resolved(*messages, mode=Continuation.UNSET, posture=R1, prefill=True, **fields):
    return resolve(ChatRequest(messages, continuation=mode, **fields), posture, prefill=prefill)


@pytest.mark.behaviour("K2")
def test_a_trailing_assistant_message_is_continued_unasked_and_marked_as_implied():
    continued = resolved(QUESTION, BOTH)
    assert continued is not None
    assert continued.implied


@pytest.mark.behaviour("K2")
@pytest.mark.parametrize(
    ("messages", "mode", "prefill"),
    [
        ((QUESTION,), Continuation.UNSET, True),
        ((QUESTION, BOTH), Continuation.UNSET, False),
        ((QUESTION, BOTH), Continuation.OFF, True),
        ((), Continuation.UNSET, True),
    ],
)
def test_nothing_is_continued_without_a_trailing_assistant_or_when_it_was_turned_off(messages, mode, prefill):
    assert resolved(*messages, mode=mode, prefill=prefill) is None


@pytest.mark.behaviour("K2")
@pytest.mark.parametrize("mode", [Continuation.AUTO, Continuation.REASONING, Continuation.CONTENT])
@pytest.mark.parametrize("prefill", [True, False])
def test_a_named_mode_stands_whatever_the_server_flag_says(mode, prefill):
    continued = resolved(QUESTION, BOTH, mode=mode, prefill=prefill)
    assert continued is not None
    assert not continued.implied


@pytest.mark.behaviour("K4")
def test_auto_continues_a_thought_without_content_and_the_content_otherwise():
    assert resolved(QUESTION, THINKING).reasoning_only
    assert not resolved(QUESTION, BOTH).reasoning_only
    assert not resolved(QUESTION, Message("assistant", "Because")).reasoning_only
    assert resolved(QUESTION, Message("assistant", "", "thought"), mode=Continuation.AUTO).reasoning_only


@pytest.mark.behaviour("K5")
@pytest.mark.parametrize(
    ("last", "mode", "expected"),
    [
        (THINKING, Continuation.UNSET, "<|User|>why<|Assistant|><think>Let me think about"),
        (BOTH, Continuation.UNSET, "<|User|>why<|Assistant|><think>thought</think>Because"),
        (BOTH, Continuation.REASONING, "<|User|>why<|Assistant|><think>thought"),
        (Message("assistant", None, "thought"), Continuation.CONTENT, "<|User|>why<|Assistant|><think>thought</think>"),
    ],
)
def test_the_block_is_opened_exactly_once(last, mode, expected):
    assert prompt(last, mode=mode).text == expected


@pytest.mark.behaviour("K5b")
def test_content_without_a_thought_closes_the_block_that_the_prompt_opened():
    assert prompt(Message("assistant", "Because")).text == "<|User|>why<|Assistant|><think></think>Because"


@pytest.mark.behaviour("K5b")
def test_content_without_a_thought_stands_alone_after_a_closed_block_or_none():
    text = Message("assistant", " Because")
    off = real("Qwen-Qwen3-0.6B", "qwen3", text, thinking=Thinking(enabled=False)).text
    assert off.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n Because")
    assert real("Qwen-Qwen3-0.6B", "qwen3", text).text.endswith("<|im_start|>assistant\n Because")
    bare = real("GLM-4.7-Flash", "glm-4.5", text, thinking=Thinking(enabled=False)).text
    assert bare.endswith("<|assistant|></think> Because")


def test_a_thought_takes_the_place_of_a_block_that_stands_closed():
    off = Thinking(enabled=False)
    assert real("Qwen-Qwen3-0.6B", "qwen3", BOTH, thinking=off).text.endswith(
        "assistant\n<think>thought</think>Because"
    )
    assert real("GLM-4.7-Flash", "glm-4.5", BOTH, thinking=off).text.endswith(
        "<|assistant|><think>thought</think>Because"
    )


@pytest.mark.behaviour("K5c")
@pytest.mark.parametrize(
    ("name", "family", "with_thought", "alone"),
    [
        (
            "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
            "command-r7b",
            "<|START_THINKING|>thought<|END_THINKING|><|START_RESPONSE|>Because",
            "<|CHATBOT_TOKEN|><|START_RESPONSE|>Because",
        ),
        (
            "Cohere2MoE",
            "cohere2-moe",
            "<|START_THINKING|>thought<|END_THINKING|><|START_TEXT|>Because",
            "<|START_THINKING|><|END_THINKING|><|START_TEXT|>Because",
        ),
        (
            "ibm-granite-granite-3.3-2B-Instruct",
            "granite-3.3",
            "<|end_of_role|><think>thought</think><response>Because",
            "<|end_of_role|><response>Because",
        ),
        (
            "Kimi-K3",
            "kimi-k3",
            "<|open|>think<|sep|>thought<|close|>think<|sep|><|open|>response<|sep|>Because",
            "<|open|>think<|sep|><|close|>think<|sep|><|open|>response<|sep|>Because",
        ),
        (
            "upstage-Solar-Open-100B",
            "solar-open",
            "<|begin|>assistant<|think|>thought<|end|><|begin|>assistant<|content|>Because",
            "<|begin|>assistant<|content|>Because",
        ),
        (
            "Apriel-1.6-15b-Thinker-fixed",
            "apriel-1.6",
            "Here are my reasoning steps:\nthought[BEGIN FINAL RESPONSE]Because",
            "Here are my reasoning steps:\n[BEGIN FINAL RESPONSE]Because",
        ),
    ],
)
def test_a_wrapped_answer_gets_its_wrapper_opened(name, family, with_thought, alone):
    assert real(name, family, BOTH).text.endswith(with_thought)
    assert real(name, family, Message("assistant", "Because")).text.endswith(alone)


@pytest.mark.behaviour("K5c")
def test_hunyuan_a13b_gets_its_answer_tag_and_functionary_its_recipient():
    hunyuan = prompt(BOTH, posture_named("hunyuan-a13b"), named.source("hunyuan-moe"))
    assert hunyuan.text.endswith("<think>\nthought\n</think>\n<answer>\nBecause")
    functionary = real("meetkai-functionary-medium-v3.2", "functionary-v3.2", Message("assistant", "Because"))
    assert functionary.text.endswith(">>>all\nBecause")


def test_a_wrapper_that_the_prompt_opened_is_not_opened_again():
    off = real("Kimi-K3", "kimi-k3", Message("assistant", "Because"), thinking=Thinking(enabled=False))
    assert off.text.endswith('role="assistant"<|sep|><|open|>response<|sep|>Because')


@pytest.mark.behaviour("K6")
def test_the_splitter_starts_inside_a_continued_thought_and_after_the_block_of_a_continued_answer():
    assert prompt(THINKING).block is BlockState.OPEN
    assert prompt(BOTH).block is BlockState.CLOSED
    assert prompt(Message("assistant", "Because")).block is BlockState.CLOSED
    assert prompt(Message("assistant", "I write <think> here")).block is BlockState.CLOSED


@pytest.mark.behaviour("K7")
def test_a_plain_model_continues_its_text_only():
    continued = prompt(Message("assistant", "Hello, I"), Posture(), named.source("chatml"))
    assert continued.text == "<|im_start|>user\nwhy<|im_end|>\n<|im_start|>assistant\nHello, I"
    assert continued.block is BlockState.UNOPENED
    assert continued.added == "<|im_start|>assistant\nHello, I"


def test_content_in_parts_is_continued_with_llama_servers_empty_line_between_them():
    parts = Message("assistant", (TextPart("Wh"), TextPart("ill")))
    assert prompt(parts, Posture(), named.source("chatml")).text.endswith("assistant\nWh\n\nill")


REFUSED_501 = [
    (THINKING, Posture(), "no reasoning format"),
    (BOTH, Posture(), "no reasoning format"),
    (THINKING, posture_named("gpt-oss"), "harmony"),
    (Message("assistant", "Because"), posture_named("gpt-oss"), "harmony"),
    (Message("assistant", "Because"), posture_named("muse-glimmer"), "ATEM"),
    (BOTH, posture_named("minimax-m2"), "minimax always think first"),
    (Message("assistant", "Because"), posture_named("deepseek-v3.2"), "deepseekv32 always think first"),
    (Message("assistant", "", tool_calls=(ToolCall("f", "{}"),)), R1, "tool calls"),
]
NEVER = "{{ raise_exception('rendered') }}"


@pytest.mark.behaviour("K8")
@pytest.mark.parametrize(("last", "posture", "words"), REFUSED_501)
def test_what_cannot_be_continued_is_refused_before_anything_is_rendered(last, posture, words):
    with pytest.raises(NotSupported, match=words) as refusal:
        prompt(last, posture, NEVER, mode=Continuation.AUTO)
    assert "no-prefill-assistant" not in str(refusal.value)


@pytest.mark.behaviour("K8")
@pytest.mark.parametrize("family", ["minimax-m2", "deepseek-v3.2"])
def test_the_thought_of_an_always_open_family_can_be_continued(family):
    assert prompt(THINKING, posture_named(family)).text.endswith("<think>Let me think about")
    assert prompt(BOTH, posture_named(family), mode=Continuation.REASONING).text.endswith("<think>thought")


REFUSED_400 = [
    ((), {}, "messages"),
    ((QUESTION,), {}, "continue_final_message"),
    ((QUESTION, Message("tool", "x")), {}, "continue_final_message"),
    ((QUESTION, BOTH, BOTH), {}, "messages"),
    ((QUESTION, BOTH), {"add_generation_prompt": True}, "add_generation_prompt"),
]


@pytest.mark.behaviour("K9")
@pytest.mark.parametrize(("messages", "fields", "field"), REFUSED_400)
@pytest.mark.parametrize("mode", [Continuation.AUTO, Continuation.REASONING, Continuation.CONTENT])
def test_a_continuation_that_makes_no_sense_names_the_field_at_fault(messages, fields, field, mode):
    with pytest.raises(InvalidField) as refusal:
        resolved(*messages, mode=mode, **fields)
    assert refusal.value.field == field


@pytest.mark.behaviour("K9")
def test_a_generation_prompt_asked_for_beside_an_implied_continuation_is_ignored():
    assert prompt(BOTH, add_generation_prompt=True).text == prompt(BOTH).text


@pytest.mark.behaviour("K10")
@pytest.mark.parametrize(("last", "posture", "words"), REFUSED_501)
def test_an_implied_refusal_keeps_its_words_and_names_both_ways_out(last, posture, words):
    with pytest.raises(NotSupported, match=words) as refusal:
        resolved(QUESTION, last, posture=posture)
    assert "continue_final_message: false" in str(refusal.value)
    assert "--no-prefill-assistant" in str(refusal.value)


@pytest.mark.behaviour("K10")
def test_an_implied_refusal_for_two_answers_names_both_ways_out_too():
    with pytest.raises(InvalidField, match=r"two assistant messages.*false.*--no-prefill-assistant"):
        resolved(QUESTION, BOTH, BOTH)


@pytest.mark.behaviour("K11")
def test_the_server_default_is_applied_in_one_place():
    renderer = Renderer(named.source("chatml"), Posture())
    request = ChatRequest((QUESTION, Message("assistant", "Hello")))
    assert renderer.render(request, ChatSettings()).text.endswith("assistant\nHello")
    assert renderer.render(request, NO_PREFILL).text.endswith("Hello<|im_end|>\n<|im_start|>assistant\n")


def test_false_renders_the_turn_closed_and_opens_a_new_one():
    closed = prompt(Message("assistant", "Hello"), Posture(), named.source("chatml"), mode=Continuation.OFF)
    assert closed.text.endswith("assistant\nHello<|im_end|>\n<|im_start|>assistant\n")
    assert closed.continued is None


def test_what_is_continued_is_told_to_the_rest_of_the_server():
    continued = prompt(BOTH).continued
    assert continued is not None
    assert (continued.thought, continued.text) == ("thought", "Because")
