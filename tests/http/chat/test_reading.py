"""O1 to O12 and P1 to P10 over HTTP: what the official client hears of an output, whole and streamed."""

import json
from itertools import accumulate

import httpx
import pytest
from support.models import PLAIN
from support.speaking import QWEN3, R1, WEATHER, calls_of, chat, heard, reasoning_of, saying, with_properties
from support.talk import Talk
from support.templates import template

HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
CODER = "<tool_call><function=get_weather><parameter=city>\nRome\n</parameter></function></tool_call>"
ROME = [("get_weather", '{"city":"Rome"}')]
QWEN35 = template("Qwen3.5-4B")


def listen(text, model, **fields):
    """The text, byte by byte, from a model with this template."""
    with saying(*text, template=model) as url:
        return Talk(url).agree(**fields)


@pytest.mark.behaviour("O3")
def test_the_rendered_prompt_of_each_request_says_whether_the_block_is_open():
    with saying(*"a</think>\n\nb", template=QWEN35) as url:
        assert heard(Talk(url).agree()) == ("a", "b")
        off = Talk(url).agree(extra_body={"enable_thinking": False})
        assert heard(off) == (None, "a</think>\n\nb")
        assert off.usage.completion_tokens_details.reasoning_tokens == 0


@pytest.mark.behaviour("O5")
@pytest.mark.parametrize(
    ("model", "text"),
    [(PLAIN, HERMES), (template("Qwen3-Coder"), CODER), (template("Qwen3-Coder"), HERMES)],
    ids=["hermes without a native format", "native", "hermes instead of native"],
)
def test_calls_are_recognised_in_the_native_form_and_in_hermes(model, text):
    answer = listen(text, model, tools=[WEATHER])
    assert (calls_of(answer), answer.choices[0].message.content) == (ROME, None)
    assert answer.choices[0].finish_reason == "tool_calls"


@pytest.mark.behaviour("O6")
def test_a_family_that_always_thinks_first_may_call_after_its_thought():
    text = (
        'I need the weather.</think><minimax:tool_call><invoke name="get_weather">'
        '<parameter name="city">Rome</parameter></invoke></minimax:tool_call>'
    )
    answer = listen(text, template("MiniMax-M2"), tools=[WEATHER])
    assert (reasoning_of(answer), calls_of(answer)) == ("I need the weather.", ROME)


@pytest.mark.behaviour("O4")
def test_the_first_form_that_starts_a_call_fixes_it_and_every_call_of_it_is_returned_in_order():
    answer = listen(f"{CODER}\n{HERMES}\n{CODER.replace('Rome', 'Oslo')}", template("Qwen3-Coder"), tools=[WEATHER])
    assert calls_of(answer) == [*ROME, ("get_weather", '{"city":"Oslo"}')]
    assert answer.choices[0].message.content == HERMES


@pytest.mark.behaviour("O11")
def test_what_a_tool_declares_types_the_arguments():
    tool = with_properties("book", code="string", seats="integer", terrace="boolean")
    values = {"code": "007", "seats": "2", "terrace": "True"}
    parameters = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
    text = f"<tool_call>\n<function=book>\n{parameters}</function>\n</tool_call>"
    (call,) = calls_of(listen(text, template("Qwen3-Coder"), tools=[tool]))
    assert call == ("book", '{"code":"007","seats":2,"terrace":true}')


@pytest.mark.behaviour("O12")
@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"One moment. {HERMES} Sent.", "One moment. Sent."),
        (f"One moment.\n\n{HERMES}\n", "One moment."),
        (f"\n{HERMES}\n\n{HERMES}\n", None),
        (f" Hm {HERMES}", " Hm"),
    ],
)
def test_content_beside_calls_loses_the_white_space_around_them(text, content):
    assert listen(text, PLAIN, tools=[WEATHER]).choices[0].message.content == content


def test_a_repeated_id_of_the_models_own_gets_a_suffix():
    calls = ", ".join('{"name": "get_weather", "arguments": {}, "id": "000000001"}' for _ in range(2))
    model = template("mistralai-Mistral-Nemo-Instruct-2407")
    answer = listen(f"[TOOL_CALLS][{calls}]", model, tools=[WEATHER])
    assert [call.id for call in answer.choices[0].message.tool_calls] == ["000000001", "000000001_2"]


@pytest.mark.behaviour("P1")
@pytest.mark.parametrize(
    ("model", "protocol"),
    [
        ("{{ raise_exception('never') }} <tool_call> <think>", "unknown"),
        (PLAIN, "none"),
        (R1, "prompt_opened"),
        (QWEN3, "model_generated"),
    ],
)
def test_props_tells_the_templates_protocol_in_its_word(model, protocol):
    with saying("x", template=model) as url, httpx.Client() as client:
        assert client.get(url + "/props").json()["posture"]["reasoning_protocol"] == protocol


@pytest.mark.behaviour("P2")
@pytest.mark.parametrize(
    ("model", "quoted"),
    [(QWEN3, "<think>"), (template("google-gemma-4-31B-it"), "<|channel>thought\n")],
    ids=["qwen3", "gemma4"],
)
def test_a_marker_that_the_user_quotes_opens_nothing(model, quoted):
    messages = [{"role": "user", "content": f"What is {quoted}?"}]
    assert heard(listen("A marker.", model, messages=messages)) == (None, "A marker.")


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize("breaks", ["", "\n", "\n\n", "\r\n"])
def test_a_thought_in_front_is_taken_off_with_the_line_breaks_behind_it(breaks):
    assert heard(listen(f"<think>reason</think>{breaks}answer", QWEN3)) == ("reason", "answer")


@pytest.mark.behaviour("P4")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("reason</think>\nanswer", ("reason", "answer")),
        ("reason", ("reason", "")),
        (
            "<think>reason</think>\nThe literal <think> tag remains content.",
            ("reason", "The literal <think> tag remains content."),
        ),
    ],
)
def test_in_a_block_that_the_prompt_opened_all_is_reasoning_up_to_the_closer(text, said):
    assert heard(listen(text, R1)) == said


TAGGED = (
    '{"text":"<think>literal</think>"}',
    "an unpaired <think> here",
    "`<think>` and `</think>` in backticks",
)


@pytest.mark.behaviour("P5")
@pytest.mark.parametrize("answer", TAGGED)
@pytest.mark.parametrize(("thought", "breaks"), [("reason", "\n"), ("reason", "\r\n"), ("", "\n")])
def test_after_the_close_tags_are_text(answer, thought, breaks):
    assert heard(listen(f"{thought}</think>{breaks}{answer}", R1)) == (thought or None, answer)


@pytest.mark.behaviour("P6")
@pytest.mark.parametrize("answer", TAGGED)
def test_every_prefix_of_a_stream_is_a_prefix_of_the_answer(answer):
    thought, text = "推理", f"答案 🦀 {answer}"
    with saying(*f"{thought}</think>\n{text}", template=R1) as url:
        seen = {"reasoning_content": "", "content": ""}
        for chunk in Talk(url).chunks():
            for choice in chunk["choices"]:
                for kind, part in choice["delta"].items():
                    if kind in seen and part:
                        seen[kind] += part
                        assert thought.startswith(seen["reasoning_content"])
                        assert text.startswith(seen["content"])
        assert seen == {"reasoning_content": thought, "content": text}


@pytest.mark.behaviour("P7")
def test_what_a_stream_has_shown_stays_content_and_the_whole_answer_agrees_with_it():
    # Wire formats 7.2: the text before a closer that nothing opened is a thought in one-shot reading only.
    assert heard(listen("reason</think>answer", QWEN3)) == (None, "reason</think>answer")


@pytest.mark.behaviour("P8")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Hm. <think>reason</think>answer", ("reason", "Hm. answer")),
        ("<think>reason and no end", ("reason and no end", "")),
        ("Hm. <think>reason", ("reason", "Hm. ")),
    ],
)
def test_text_before_an_opener_is_content_and_an_open_end_is_reasoning(text, said):
    assert heard(listen(text, QWEN3)) == said


@pytest.mark.behaviour("P9")
def test_a_stream_shows_no_part_of_a_marker_and_holds_only_what_may_become_one():
    with saying(*"<think>a</thing b</think>c <x", template=QWEN3) as url:
        deltas = [choice["delta"] for chunk in Talk(url).chunks() for choice in chunk["choices"]]
        shown = list(accumulate(delta.get("reasoning_content", "") for delta in deltas))
        # `</thin` may become the closer; `</thing` cannot, and is shown with the letter that decides.
        assert set(shown) <= {"", "a", "a</thing", "a</thing b"}
        assert shown[-1] == "a</thing b"
        assert "".join(delta.get("content") or "" for delta in deltas) == "c <x"


@pytest.mark.behaviour("P10")
def test_of_gemma_only_the_declared_channel_is_reasoning():
    model = template("google-gemma-4-31B-it")
    text = "<|channel>thought\nmull\n<channel|>A thought: <|x> thought"
    assert heard(listen(text, model)) == ("mull", "A thought: <|x> thought")


@pytest.mark.behaviour("P10")
def test_harmony_is_read_message_by_message():
    text = (
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>b<|end|>"
        "<|start|>assistant<|channel|>analysis<|message|>c<|end|><|start|>assistant<|channel|>final<|message|>d"
    )
    assert heard(listen(text, template("openai-gpt-oss-120b"))) == ("ac", "bd")


def test_reasoning_and_content_come_in_the_order_in_which_the_model_wrote_them():
    text = "A<|channel>thought\nx<channel|>B<|channel>thought\ny<channel|>C"
    with saying(*text, template=template("google-gemma-4-31B-it-interleaved")) as url:
        order = Talk(url).streamed()["order"]
        assert order == ["content", "reasoning_content", "content", "reasoning_content", "content"]


def test_a_stream_ends_with_one_done_and_each_chunk_names_the_same_answer():
    with saying(*"<think>a</think>b", template=QWEN3) as url:
        lines = [line for line in chat(url, stream=True).text.split("\n\n") if line]
        assert lines.count("data: [DONE]") == 1
        assert lines[-1] == "data: [DONE]"
        chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
        assert len({chunk["id"] for chunk in chunks}) == 1
        assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
        assert not any("usage" in chunk for chunk in chunks)
