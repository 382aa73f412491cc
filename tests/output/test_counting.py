"""Reasoning tokens: exact, from the tokens that were generated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.output import OPEN, UNOPENED, WEATHER, counted, family, ids, thinking, tokens

from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.counting import ReasoningTokens
from ferrox_gguf.output.detokenizer import Detokenizer, PieceTable
from ferrox_gguf.output.pieces import End, Piece, TokenKind
from ferrox_gguf.posture.values import Posture

QWEN3 = thinking("qwen3")


class Bytes:
    """A vocabulary of byte strings."""

    def __init__(self, *tokens: bytes) -> None:
        self._tokens = tokens

    def piece(self, token: int, *, special: bool = True) -> bytes:
        return self._tokens[token]

    def is_user_defined(self, token: int) -> bool:
        return False


@pytest.mark.behaviour("C1")
def test_the_count_comes_from_the_tokens_that_were_generated_not_from_the_text():
    # The same text in other tokens is another count.
    assert counted(QWEN3, ["<think>", "ab", "</think>", "answer"]) == 3
    assert counted(QWEN3, ["<think>", "a", "b", "</think>", "answer"]) == 4
    vocabulary = Bytes(b"<think>", "🦀".encode()[:2], "🦀".encode()[2:], b"</think>", b"answer")
    detokenizer = Detokenizer(PieceTable(vocabulary))
    chain = OutputChain(QWEN3)
    chain.push(detokenizer.push([0, 1, 2, 3, 4]))
    chain.flush(End.DONE)
    assert chain.reasoning_tokens == 4


@pytest.mark.behaviour("C2")
def test_text_that_the_splitter_held_back_is_counted_for_the_tokens_that_wrote_it():
    # `<`, `/th` and `ink` show nothing while they are held, and are thought in the end.
    assert counted(QWEN3, ["<think>", "a", "<", "/th", "ink", "!", "</think>", "answer"]) == 7
    assert counted(QWEN3, ["<think>", "a", " ", "\n", "</think>", "answer"]) == 5


@pytest.mark.behaviour("C3")
def test_the_markers_tokens_are_reasoning():
    assert counted(QWEN3, ["<think>", "a", "b", "</think>", "answer"]) == 4


@pytest.mark.behaviour("C4")
def test_a_closer_cut_over_tokens_is_reasoning():
    assert counted(QWEN3, ["<think>", "a", "<", "/th", "ink>", "answer"]) == 5


@pytest.mark.behaviour("C5")
def test_a_model_that_could_have_thought_and_did_not_spent_nothing():
    assert counted(QWEN3, ["hello", " world"]) == 0


@pytest.mark.behaviour("C6")
def test_without_a_reasoning_format_there_is_no_number():
    assert counted(Posture(), ["<think>", "a", "</think>", "answer"]) is None


@pytest.mark.behaviour("C7")
def test_a_thought_that_never_closed_is_all_there_was():
    assert counted(QWEN3, ["<think>", "a", "b", "c"], end=End.CUT) == 4
    assert counted(QWEN3, ["<think>", "a", "b", "</th"], end=End.CUT) == 4


@pytest.mark.behaviour("C8")
def test_a_token_that_closes_the_marker_and_opens_the_answer_is_reasoning():
    assert counted(QWEN3, ["<think>", "a", "</think>answer", " more"]) == 3
    assert counted(QWEN3, ["<think>", "a", "</thi", "nk>answer", " more"]) == 4


@pytest.mark.behaviour("C9")
@given(
    st.lists(st.sampled_from(["<think>", "</think>", " ", "\n", "a", "<response>", "</response>", "<"]), max_size=12)
)
def test_what_a_format_strips_never_makes_the_number_negative_or_greater_than_the_tokens(parts):
    for name in ("qwen3", "granite", "gemma4", "hunyuan_a13b"):
        count = counted(thinking(name), parts)
        assert count is not None
        assert 0 <= count <= len(parts)


@pytest.mark.behaviour("C9")
def test_the_untrimmed_text_decides():
    assert counted(QWEN3, ["<think>", "  ", "a", "  ", "</think>", "  ", "answer", "  "]) == 5
    assert counted(QWEN3, ["\n", " ", "<think>", "a", "</think>", "answer"]) == 5


@pytest.mark.behaviour("C10")
def test_a_block_that_the_prompt_opened_counts_from_the_first_token():
    assert counted(QWEN3, ["a", "b", "</think>", "answer"], OPEN) == 3
    assert counted(QWEN3, ["a", "b"], OPEN, End.CUT) == 2


@pytest.mark.behaviour("C12")
def test_several_thoughts_count_with_their_markup():
    parts = [
        "A",
        ".",
        "<|channel>thought\n",
        "x",
        "<channel|>",
        "B",
        "<|channel>thought\n",
        "y",
        "z",
        "<channel|>",
        "C",
    ]
    assert counted(family("gemma-4"), parts) == 7


@pytest.mark.behaviour("C12")
def test_a_wrapper_around_the_answer_is_not_reasoning():
    parts = ["<think>", "a", "</think>", "<response>", "Fine", ".", "</response>"]
    assert counted(family("granite-3.3"), parts) == 3


@pytest.mark.behaviour("C12")
def test_of_channels_the_thoughts_count_with_their_headers():
    parts = ["<|channel|>", "analysis", "<|message|>", "2", "+2", "<|end|>"]
    answer = ["<|start|>", "assistant", "<|channel|>", "final", "<|message|>", "Four", "."]
    assert counted(family("gpt-oss"), parts + answer) == 6
    assert counted(family("gpt-oss"), answer[2:]) == 0
    parts = [" to=self", "<|message|>", "hm", "<|eom|>", "<|start|>", "assistant", " to=user", "<|message|>", "Yes"]
    assert counted(family("muse-glimmer"), parts, OPEN) == 4


@pytest.mark.behaviour("C12")
def test_a_call_that_interrupts_the_thought_is_not_reasoning():
    call = [
        "<tool_call>",
        "<function=get_weather>",
        "<parameter=city>",
        "Rome",
        "</parameter>",
        "</function>",
        "</tool_call>",
    ]
    assert counted(family("qwen3.5"), ["a", "b", "\n", *call], OPEN, tools=[WEATHER]) == 3


def test_layout_behind_the_closer_is_the_answers():
    assert counted(QWEN3, ["<think>", "a", "</think>", "\n\n", "answer"]) == 3


def test_a_hidden_control_token_goes_with_the_character_that_follows():
    markers = ["<think>", "</think>"]
    pad = Piece("<|pad|>", TokenKind.CONTROL, 77)
    parts = [*tokens(["<think>", "a"], markers), pad, *tokens(["b", "</think>"], markers), pad]
    parts += tokens(["answer"], markers)
    assert counted(QWEN3, parts, marker_tokens=ids(markers)) == 5


def test_half_a_character_at_the_very_end_belongs_to_where_the_output_stood():
    half = Piece("", TokenKind.NORMAL, 5)
    assert counted(QWEN3, [Piece("a"), half], OPEN, End.CUT) == 2
    assert counted(QWEN3, [Piece("a"), Piece("</think>"), Piece("b"), half], OPEN, End.CUT) == 2


def test_the_replacement_of_a_broken_character_is_no_token():
    broken = [Piece("a"), Piece("", TokenKind.NORMAL, 5), Piece("\ufffd", TokenKind.NORMAL, tokens=0)]
    assert counted(QWEN3, broken, OPEN) == 2
    assert counted(QWEN3, [*broken, Piece("</think>"), Piece("b")], OPEN) == 3


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=30), st.integers(0, 4))
def test_the_count_is_that_of_the_definition(tokens_, ahead):
    """Against the rule itself: a token counts if one of its characters is reasoning, or the next one if it has none."""
    marks = [thought for length, thought in tokens_ for _ in range(length)]
    expected, at = 0, 0
    for length, _ in tokens_:
        own = marks[at : at + length] if length else marks[at : at + 1]
        expected += any(own)
        at += length
    counter, told = ReasoningTokens(), 0
    for length, _ in tokens_:
        counter.arrived(length)
        while told < counter._arrived - ahead:
            counter.classified(1, marks[told])
            told += 1
    for mark in marks[told:]:
        counter.classified(1, mark)
    counter.finish(thinking=False)
    assert counter.count == expected


def test_unopened_is_where_most_models_start():
    assert counted(QWEN3, ["<think>", "a", "</think>", "b"], UNOPENED) == 3
