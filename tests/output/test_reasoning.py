"""Thoughts between markers: start states, repeated openers, wrappers, layout, and what is held back."""

from __future__ import annotations

import pytest
from support.output import CLOSED, OPEN, UNOPENED, WEATHER, family, feed, ids, joined, pieces, read, thinking, tokens

from ferrox_gguf.events import ContentDelta, ReasoningDelta
from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.pieces import End, Piece, TokenKind
from ferrox_gguf.output.runs import Phase
from ferrox_gguf.posture.known import REASONING
from ferrox_gguf.posture.values import Posture, ReasoningStyle

QWEN3 = thinking("qwen3")
PAIRS = [name for name, row in REASONING.items() if row.style is ReasoningStyle.PAIR and row.opener and not row.wrapper]


def split(posture, text, state=UNOPENED, **options):
    """(reasoning, content); fed whole and one character at a time, which must agree."""
    out = read(posture, text, state, **options)
    if not options.get("complete"):
        assert read(posture, list(text), state, **options) == out
    return out.reasoning, out.content


@pytest.mark.behaviour("O1")
@pytest.mark.parametrize("name", PAIRS)
def test_the_thought_goes_to_reasoning_and_the_rest_to_content(name):
    row = REASONING[name]
    assert split(thinking(name), f"{row.opener}reason{row.closer}answer") == ("reason", "answer")


@pytest.mark.behaviour("O2")
def test_a_model_without_a_reasoning_format_keeps_the_tag_as_text():
    assert split(Posture(), "Use the tag <think> like this.") == ("", "Use the tag <think> like this.")


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize("breaks", ["", "\n", "\n\n", "\r\n", "\r\n\r\n"])
def test_line_breaks_behind_the_closer_are_layout(breaks):
    assert split(QWEN3, f"<think>reason</think>{breaks}answer") == ("reason", "answer")
    assert split(QWEN3, f"<think>\nreason\n</think>{breaks}answer") == ("reason", "answer")


@pytest.mark.behaviour("P4")
def test_a_block_that_the_prompt_opened_begins_with_the_first_character():
    assert split(QWEN3, "reason</think>\nanswer", OPEN) == ("reason", "answer")
    assert split(QWEN3, "reason", OPEN) == ("reason", "")


@pytest.mark.behaviour("P4")
def test_a_repeated_opener_is_dropped_at_the_blocks_start_only():
    tag = "The literal <think> tag remains content."
    assert split(QWEN3, f"<think>reason</think>\n{tag}", OPEN) == ("reason", tag)
    assert split(QWEN3, "\n<think>\n<think>reason</think>a", OPEN) == ("reason", "a")
    assert split(QWEN3, "so <think> is a tag</think>a", OPEN) == ("so <think> is a tag", "a")
    assert split(QWEN3, "<think><think>reason</think>a") == ("reason", "a")


ANSWERS = [
    '{"text":"<think>literal</think>"}',
    "an unpaired <think>",
    "an unpaired </think>",
    "in backticks: `<think>` and `</think>`",
]


@pytest.mark.behaviour("P5")
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("breaks", ["", "\n", "\r\n"])
@pytest.mark.parametrize("thought", ["reason", ""])
def test_tags_in_the_answer_are_text(answer, breaks, thought):
    assert split(QWEN3, f"{thought}</think>{breaks}{answer}", OPEN) == (thought, answer)


@pytest.mark.behaviour("P6")
@pytest.mark.parametrize("answer", ["答案 🦀", '答案 🦀 {"text":"<think>literal</think>"}', "答案 🦀 <think>"])
def test_tags_in_the_answer_are_text_at_every_streamed_prefix(answer):
    text = f"推理</think>\n{answer}"
    for cut in range(len(text) + 1):
        chain = OutputChain(QWEN3, OPEN)
        shown = joined(chain.push(pieces(text[:cut])))
        assert "推理".startswith(shown.reasoning)
        assert answer.startswith(shown.content)
        rest = chain.push(pieces(text[cut:])) + chain.flush(End.DONE)
        assert shown.reasoning + joined(rest).reasoning == "推理"
        assert shown.content + joined(rest).content == answer


@pytest.mark.behaviour("P7")
def test_a_closer_without_an_opener_makes_the_text_before_it_a_thought_in_one_shot():
    text = "all of this was thought</think>\nYes."
    assert split(QWEN3, text, complete=True) == ("all of this was thought", "Yes.")
    assert split(QWEN3, "</think>\nYes.", complete=True) == ("", "Yes.")
    assert split(QWEN3, "<think>a</think>b", complete=True) == ("a", "b")
    assert split(QWEN3, "No tags.", complete=True) == ("", "No tags.")
    assert split(QWEN3, "Closed: </think>", CLOSED, complete=True) == ("", "Closed: </think>")


@pytest.mark.behaviour("P7")
def test_a_stream_has_shown_that_text_already_and_leaves_it():
    text = "all of this was thought</think>\nYes."
    assert split(QWEN3, text) == ("", text)


@pytest.mark.behaviour("P8")
def test_text_before_an_opener_stays_in_front_of_the_answer():
    assert split(QWEN3, "Hm. <think>check</think>Yes.") == ("check", "Hm. Yes.")


@pytest.mark.behaviour("P8")
def test_an_opener_that_is_never_closed_makes_the_rest_a_thought():
    assert split(QWEN3, "Hm. <think>check <b>this") == ("check <b>this", "Hm. ")


@pytest.mark.behaviour("P9")
@pytest.mark.parametrize("name", PAIRS)
def test_only_a_tail_that_can_still_become_a_marker_is_held(name):
    row = REASONING[name]
    chain = OutputChain(thinking(name), OPEN)
    assert joined(chain.push(pieces("abc"))).reasoning == "abc"
    marker = row.closer.strip()
    for size in range(1, len(marker)):
        assert chain.push([Piece(marker[size - 1])]) == []
    assert joined(chain.push([Piece("!")])).reasoning == marker[:-1] + "!"
    assert chain.push(pieces(row.closer)) == []
    assert joined(chain.push(pieces("abc"))).content == "abc"


@pytest.mark.behaviour("P9")
def test_what_was_held_is_given_up_when_generation_ends():
    assert split(QWEN3, "a</thi", OPEN, end=End.CUT) == ("a</thi", "")
    assert split(QWEN3, "Hm <thi") == ("", "Hm <thi")


@pytest.mark.behaviour("P10")
def test_gemma_thinks_in_its_declared_channel_only():
    gemma = family("gemma-4")
    assert split(gemma, "thought\n579") == ("", "thought\n579")
    assert split(gemma, "<|channel>thought\nmull\n<channel|>The answer.") == ("mull", "The answer.")
    assert split(gemma, "<|channel>thoughtful\n") == ("", "<|channel>thoughtful\n")
    assert split(gemma, "Ordinary <| and <channel> and a thought.") == ("", "Ordinary <| and <channel> and a thought.")


@pytest.mark.behaviour("P10")
def test_harmony_goes_through_its_message_parser():
    text = "<|channel|>analysis<|message|>2+2<|end|><|start|>assistant<|channel|>final<|message|>Four."
    assert split(family("gpt-oss"), text) == ("2+2", "Four.")


def test_gemmas_blocks_are_all_reasoning_and_its_noise_is_dropped():
    gemma = family("gemma-4")
    blocks = "A.<|channel>thought\nx.<channel|>B.<|channel>thought\ny.<channel|>C."
    assert split(gemma, blocks) == ("x.y.", "A.B.C.")
    assert split(gemma, "Yes.<|channel>thought\n<channel|><channel|>") == ("", "Yes.")
    assert split(gemma, "<|channel><|channel>thought\nx<channel|>Yes.") == ("x", "Yes.")
    assert split(gemma, "<|channel>other\nx<channel|>Yes.") == ("", "<|channel>other\nxYes.")


def test_in_a_closed_block_an_opener_counts_only_as_the_first_text():
    assert split(QWEN3, "\n<think>more</think>a", CLOSED) == ("more", "a")
    assert split(QWEN3, "See <think>x</think>", CLOSED) == ("", "See <think>x</think>")


def test_white_space_before_the_opener_is_layout_and_before_an_answer_text():
    assert split(QWEN3, "\n <think>a</think>b") == ("a", "b")
    assert split(QWEN3, " b") == ("", " b")
    assert split(QWEN3, "\n\nb", CLOSED) == ("", "\n\nb")


def test_a_thought_of_white_space_is_none():
    assert split(QWEN3, "<think>\n\n</think>\n\nNoon.") == ("", "Noon.")
    assert split(QWEN3, " \n ", OPEN, end=End.CUT) == ("", "")


def test_a_continued_thought_keeps_its_white_space():
    assert split(QWEN3, " this.</think>Because.", OPEN, continued=True) == (" this.", "Because.")
    assert split(QWEN3, "<think> stays</think>a", OPEN, continued=True) == ("<think> stays", "a")


def test_a_bare_closer_at_the_head_means_no_thought():
    m3 = thinking("minimax_m3")
    assert split(m3, "</mm:think>Straight to it.") == ("", "Straight to it.")
    assert split(m3, "Straight </mm:think> to it.") == ("", "Straight </mm:think> to it.")


def test_the_answers_wrapper_is_dropped():
    granite = thinking("granite")
    assert split(granite, "<think>steps</think><response>Fine.</response>") == ("steps", "Fine.")
    assert split(granite, "<response>Fine.</response>\n") == ("", "Fine.")
    assert split(granite, "<think>steps</think><response>Fi", end=End.CUT) == ("steps", "Fi")
    cohere = thinking("cohere")
    assert split(cohere, "<|START_THINKING|>p<|END_THINKING|><|START_RESPONSE|>H<|END_RESPONSE|>") == ("p", "H")
    hunyuan = thinking("hunyuan_a13b")
    assert split(hunyuan, "<think>\nbrief\n</think>\n<answer>\nYes.\n</answer>") == ("brief", "Yes.")
    solar = thinking("solar_open")
    assert split(solar, "<|think|>b<|end|><|begin|>assistant<|content|>Yes.<|end|>") == ("b", "Yes.")
    assert split(solar, "<|content|>Yes.<|end|><|begin|>assistant<|content|>No.") == ("", "Yes.No.")


def test_the_end_of_a_wrapper_in_the_middle_of_the_answer_is_text():
    granite = thinking("granite")
    text = "<response>Write </response> to close.</response>"
    assert split(granite, text) == ("", "Write </response> to close.")
    assert split(granite, "Use <response> so.") == ("", "Use <response> so.")


def test_a_missing_closer_is_replaced_by_what_must_follow():
    cohere = thinking("cohere")
    assert split(cohere, "plan<|START_RESPONSE|>Hello.<|END_RESPONSE|>", OPEN) == ("plan", "Hello.")
    k3 = family("kimi-k3")
    text = "measure<|open|>response<|sep|>Nine.<|close|>response<|sep|><|close|>message<|sep|><|end_of_msg|>"
    assert split(k3, text, OPEN) == ("measure", "Nine.")


def test_a_delimiter_ends_the_thought():
    assert split(thinking("apriel"), "Step one.\n[BEGIN FINAL RESPONSE]\nYes.", OPEN) == ("Step one.", "Yes.")


MARKERS = ["<think>", "</think>"]


@pytest.mark.parametrize("kind", [TokenKind.CONTROL, TokenKind.USER_DEFINED])
def test_a_marker_that_is_a_token_is_recognised_by_its_id_only(kind):
    parts = ["<think>", "the ", "<thi", "nk>", " and </think> tags", "</think>", "Yes, ", "</think>", "<think>"]
    chain = OutputChain(QWEN3, marker_tokens=ids(MARKERS))
    out = joined(feed(chain, tokens(parts, MARKERS, kind)))
    assert out.reasoning == "the <think> and </think> tags"
    assert out.content == "Yes, </think><think>"


def test_a_marker_with_text_in_it_is_recognised_by_its_token():
    gemma, markers = thinking("gemma4"), ["<|channel>", "<channel|>"]
    parts = ["<|channel>", "thought", "\n", "x <channel|> y", "<channel|>", "A"]
    spelled = tokens(["<|channel", ">thought\n", "no"], markers)
    chain = OutputChain(gemma, marker_tokens=ids(markers))
    out = joined(feed(chain, spelled[:2] + tokens(parts, markers)))
    assert (out.reasoning, out.content) == ("x <channel|> y", "<|channel>thought\nA")


def test_text_from_outside_cannot_pass_for_a_marker_token():
    chain = OutputChain(QWEN3, marker_tokens=ids(MARKERS))
    out = joined(feed(chain, [Piece(f"a{chr(0xDF00)}b{chr(0xDF01)}")]))
    assert (out.reasoning, out.content) == ("", "a\ufffdb\ufffd")


def test_the_phase_follows_the_text():
    chain = OutputChain(QWEN3)
    assert chain.phase is Phase.BEFORE
    for text, phase in [
        ("\n", Phase.BEFORE),
        ("<thi", Phase.BEFORE),
        ("nk>", Phase.THINKING),
        ("hm </thi", Phase.THINKING),
        ("nk>", Phase.ANSWERING),
        ("\n", Phase.ANSWERING),
        ("a <think>", Phase.ANSWERING),
    ]:
        chain.push(pieces(text))
        assert chain.phase is phase, text
    assert OutputChain(QWEN3, OPEN).phase is Phase.THINKING
    assert OutputChain(Posture()).phase is Phase.ANSWERING
    plain = OutputChain(QWEN3)
    plain.push(pieces("a"))
    assert plain.phase is Phase.ANSWERING


def test_deltas_come_as_soon_as_they_are_certain():
    chain = OutputChain(QWEN3, OPEN)
    assert chain.push(pieces("a")) == [ReasoningDelta("a")]
    assert chain.push(pieces(" b<")) == [ReasoningDelta(" b")]
    assert chain.push(pieces("/think>\nc")) == [ContentDelta("c")]
    assert chain.push(pieces("d")) == [ContentDelta("d")]


def test_an_opener_in_a_calls_arguments_is_the_arguments():
    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "<think>x</think>"}}</tool_call>'
    out = read(family("qwen3"), text, tools=[WEATHER])
    assert [(call.name, call.arguments) for call in out.calls] == [("get_weather", '{"city":"<think>x</think>"}')]
    assert read(family("qwen3"), list(text), tools=[WEATHER]) == out
    assert (out.reasoning, out.content) == ("", "")
