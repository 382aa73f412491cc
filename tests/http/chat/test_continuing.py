"""K1 to K11 over HTTP: what goes on, where it stands in the prompt, and what is refused in which words."""

import pytest
from support.models import PLAIN
from support.speaking import QWEN3, R1, chat, heard, post, prompt_of, saying
from support.talk import HI, Talk
from support.templates import template

from ferrox_gguf.settings import ChatSettings, Settings

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WHY = {"role": "user", "content": "why"}
THOUGHT = {"role": "assistant", "reasoning_content": "Let me think about"}
BOTH = {"role": "assistant", "reasoning_content": "thought", "content": "Because"}
TEXT = {"role": "assistant", "content": "Because"}
NO_PREFILL = Settings(chat=ChatSettings(prefill_assistant=False))
OPENED = "<|User|>why<|Assistant|>"


def end_of(url, last, **body):
    return prompt_of(url, [WHY, last], **body)


def refusal(url, messages, **body):
    answer = chat(url, messages=messages, **body)
    return answer.status_code, answer.json()["error"]["message"]


@pytest.mark.behaviour("K1")
@pytest.mark.parametrize(
    ("fields", "prompt"),
    [
        ({"continue_final_message": True}, f"{OPENED}<think>thought</think>Because"),
        ({"continue_final_message": "content"}, f"{OPENED}<think>thought</think>Because"),
        ({"continue_final_message": "reasoning_content"}, f"{OPENED}<think>thought"),
        ({"continue_final_message": False}, f"{OPENED}Because<|Assistant|><think>\n"),
        ({"continue_final_message": None}, f"{OPENED}<think>thought</think>Because"),
        ({}, f"{OPENED}<think>thought</think>Because"),
    ],
)
def test_each_value_of_the_wire_has_its_meaning(fields, prompt):
    with saying("x", template=R1) as url:
        assert end_of(url, BOTH, **fields) == prompt


@pytest.mark.behaviour("K1")
@pytest.mark.parametrize("value", ["auto", 1, 0, "true", "", [], {}])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/apply-template"])
def test_any_other_value_is_a_400_that_lists_the_allowed_ones(value, path):
    with saying("x", template=R1) as url:
        answer = post(url, path, {"messages": [WHY, BOTH], "continue_final_message": value})
        assert answer.status_code == 400
        message = answer.json()["error"]["message"]
        assert all(allowed in message for allowed in ("true", "false", '"reasoning_content"', '"content"'))


@pytest.mark.behaviour("K2")
@pytest.mark.parametrize("value", [True, "content", "reasoning_content"])
def test_what_a_request_names_stands_whatever_the_flag_says(value):
    with saying("x", template=R1, settings=NO_PREFILL) as url:
        assert end_of(url, BOTH, continue_final_message=value).startswith(f"{OPENED}<think>thought")
        # It was asked for in words, so a refusal does not speak of what is implied.
        status, message = refusal(url, [WHY, {**BOTH, "tool_calls": [CALL]}], continue_final_message=value)
        assert (status, "--no-prefill-assistant" in message) == (501, False)


@pytest.mark.behaviour("K2")
def test_without_a_trailing_assistant_message_a_new_turn_begins():
    with saying("x", template=R1) as url:
        assert prompt_of(url, [WHY]) == f"{OPENED}<think>\n"
        assert prompt_of(url, [WHY], continue_final_message=False) == f"{OPENED}<think>\n"


CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.behaviour("K4")
@pytest.mark.parametrize("mode", [{}, {"continue_final_message": True}])
def test_a_thought_goes_on_where_there_is_no_content_and_the_content_otherwise(mode):
    with saying("x", template=R1) as url:
        for content in ({}, {"content": None}, {"content": ""}, {"content": []}):
            assert end_of(url, {**THOUGHT, **content}, **mode) == f"{OPENED}<think>Let me think about"
        assert end_of(url, BOTH, **mode) == f"{OPENED}<think>thought</think>Because"
        assert end_of(url, TEXT, **mode) == f"{OPENED}<think></think>Because"


@pytest.mark.behaviour("K5")
@pytest.mark.parametrize(
    ("last", "mode", "prompt"),
    [
        (THOUGHT, True, "<think>Let me think about"),
        (BOTH, True, "<think>thought</think>Because"),
        (BOTH, "reasoning_content", "<think>thought"),
        ({"role": "assistant", "reasoning_content": "thought"}, "content", "<think>thought</think>"),
    ],
)
def test_the_block_is_opened_exactly_once(last, mode, prompt):
    with saying("x", template=R1) as url:
        assert end_of(url, last, continue_final_message=mode) == OPENED + prompt


@pytest.mark.behaviour("K5b")
def test_content_without_a_thought_closes_what_the_prompt_opened_and_nothing_else():
    with saying("x", template=template("Qwen3.5-4B")) as url:
        assert end_of(url, TEXT).endswith("<|im_start|>assistant\n<think></think>Because")
        off = end_of(url, TEXT, enable_thinking=False)
        assert off.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\nBecause")
    with saying("x", template=QWEN3) as url:
        assert end_of(url, TEXT).endswith("<|im_start|>assistant\nBecause")


@pytest.mark.behaviour("K5c")
@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("Cohere2MoE", "<|START_THINKING|><|END_THINKING|><|START_TEXT|>Because"),
        ("ibm-granite-granite-3.3-2B-Instruct", "<|end_of_role|><response>Because"),
        ("Kimi-K3", "<|open|>think<|sep|><|close|>think<|sep|><|open|>response<|sep|>Because"),
        ("upstage-Solar-Open-100B", "<|begin|>assistant<|content|>Because"),
        ("meetkai-functionary-medium-v3.2", ">>>all\nBecause"),
        ("Apriel-1.6-15b-Thinker-fixed", "[BEGIN FINAL RESPONSE]Because"),
    ],
)
def test_a_wrapped_answer_goes_on_inside_its_wrapper(name, end):
    with saying("x", template=template(name)) as url:
        assert end_of(url, TEXT).endswith(end)


@pytest.mark.behaviour("K6")
@pytest.mark.parametrize(
    ("last", "said", "expected"),
    [
        (THOUGHT, " this.</think>Because.", (" this.", "Because.")),
        (BOTH, " it is so.", (None, " it is so.")),
        (BOTH, " it is <think>so</think>.", (None, " it is <think>so</think>.")),
        (TEXT, " it is so.", (None, " it is so.")),
    ],
)
def test_the_answer_is_read_from_where_the_prompt_stands(last, said, expected):
    with saying(*said, template=R1) as url:
        answer = Talk(url).agree(messages=[WHY, last])
        assert heard(answer) == expected
        thought = len(" this.</think>") if last is THOUGHT else 0
        assert answer.usage.completion_tokens_details.reasoning_tokens == thought


@pytest.mark.behaviour("K7")
def test_a_plain_model_continues_its_text_only():
    with saying(" am.", template=CHATML) as url:
        messages = [WHY, {"role": "assistant", "content": "Hello, I"}]
        prompt = "<|im_start|>user\nwhy<|im_end|>\n<|im_start|>assistant\nHello, I"
        assert prompt_of(url, messages) == prompt
        assert heard(Talk(url).agree(messages=messages)) == (None, " am.")


@pytest.mark.behaviour("K8")
@pytest.mark.behaviour("K10")
@pytest.mark.parametrize(
    ("model", "last", "words"),
    [
        (PLAIN, THOUGHT, "no reasoning format"),
        (PLAIN, BOTH, "no reasoning format"),
        (template("openai-gpt-oss-120b"), TEXT, "harmony"),
        (template("openai-gpt-oss-120b"), THOUGHT, "harmony"),
        (template("muse-glimmer"), TEXT, "ATEM"),
        (template("deepseek-ai-DeepSeek-V3.2"), TEXT, "deepseekv32"),
        (template("MiniMax-M2"), BOTH, "minimax"),
        (R1, {**TEXT, "tool_calls": [CALL]}, "tool calls"),
    ],
)
def test_what_cannot_be_continued_is_a_501_that_says_why_and_what_to_do(model, last, words):
    with saying("x", template=model) as url:
        status, asked = refusal(url, [WHY, last], continue_final_message=True)
        assert (status, words in asked) == (501, True)
        status, implied = refusal(url, [WHY, last])
        assert status == 501
        # The same message, and both ways out.
        assert implied.startswith(asked)
        assert "continue_final_message: false" in implied[len(asked) :]
        assert "--no-prefill-assistant" in implied[len(asked) :]


@pytest.mark.behaviour("K8")
@pytest.mark.parametrize("name", ["deepseek-ai-DeepSeek-V3.2", "MiniMax-M2"])
def test_the_thought_of_a_family_that_always_thinks_can_be_continued(name):
    with saying("x", template=template(name)) as url:
        assert end_of(url, THOUGHT).endswith("<think>Let me think about")


@pytest.mark.behaviour("K8")
def test_a_refusal_comes_before_the_template_is_asked():
    with saying("x", template="{{ raise_exception('rendered') }}") as url:
        status, message = refusal(url, [WHY, {**TEXT, "tool_calls": [CALL]}])
        assert (status, "rendered" in message) == (501, False)


@pytest.mark.behaviour("K9")
@pytest.mark.parametrize(
    ("messages", "fields", "words"),
    [
        ([], {"continue_final_message": True}, "no message"),
        ([WHY], {"continue_final_message": True}, "assistant"),
        ([WHY, TEXT, {"role": "tool", "content": "r"}], {"continue_final_message": "content"}, "'tool'"),
        ([WHY, TEXT, TEXT], {}, "two assistant messages"),
        ([WHY, TEXT, TEXT, TEXT], {"continue_final_message": True}, "two assistant messages"),
        ([WHY, TEXT], {"continue_final_message": True, "add_generation_prompt": True}, "add_generation_prompt"),
        ([WHY, TEXT], {"continue_final_message": "content", "add_generation_prompt": True}, "add_generation_prompt"),
    ],
)
def test_a_continuation_that_makes_no_sense_is_a_400_that_names_the_reason(messages, fields, words):
    with saying("x", template=CHATML) as url:
        status, message = refusal(url, messages, **fields)
        assert (status, words in message) == (400, True), message


@pytest.mark.behaviour("K9")
def test_beside_an_implied_continuation_add_generation_prompt_is_ignored():
    with saying("x", template=CHATML) as url:
        for value in (True, False):
            assert end_of(url, TEXT, add_generation_prompt=value).endswith("<|im_start|>assistant\nBecause")


@pytest.mark.behaviour("K10")
def test_an_implied_refusal_of_the_order_of_messages_names_both_ways_out_too():
    with saying("x", template=CHATML) as url:
        status, message = refusal(url, [WHY, TEXT, TEXT])
        assert status == 400
        assert "continue_final_message: false" in message
        assert "--no-prefill-assistant" in message
        assert chat(url, messages=[WHY, TEXT, TEXT], continue_final_message=False).status_code == 200


@pytest.mark.behaviour("K11")
@pytest.mark.parametrize("prefill", [True, False])
def test_chat_messages_and_responses_apply_one_default(prefill):
    settings = Settings(chat=ChatSettings(prefill_assistant=prefill))
    with saying(" it is so.", template=CHATML, settings=settings) as url:
        history = [{"role": "user", "content": "why"}, {"role": "assistant", "content": "Because"}]
        counts = {
            "chat": chat(url, messages=history).json()["usage"]["prompt_tokens"],
            "messages": post(url, "/v1/messages", {"max_tokens": 5, "messages": history}).json()["usage"][
                "input_tokens"
            ],
            "responses": post(url, "/v1/responses", {"input": history}).json()["usage"]["input_tokens"],
        }
        closed = len("<|im_end|>\n<|im_start|>assistant\n")
        # A byte a token here, and the one that begins every prompt.
        expected = 1 + len(prompt_of(url, history, continue_final_message=True))
        assert set(counts.values()) == {expected if prefill else expected + closed}


def test_echo_tells_the_continued_message_again_and_does_not_count_it():
    with saying(" it is so.", template=R1) as url:
        answer = Talk(url).agree(messages=[WHY, BOTH], extra_body={"echo": True})
        assert heard(answer) == ("thought", "Because it is so.")
        assert answer.usage.completion_tokens_details.reasoning_tokens == 0
        assert heard(Talk(url).agree(messages=HI, extra_body={"echo": True}))[0] is not None
