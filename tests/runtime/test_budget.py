"""A thought is bounded by its own tokens, and closed so that parser and count stay in step."""

from support.scripted import ByteVocabulary

from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.detokenizer import PieceTable
from ferrox_gguf.posture.known import REASONING
from ferrox_gguf.posture.values import BlockState, Posture
from ferrox_gguf.runtime.budget import ThoughtBudget, closing_text

VOCABULARY = ByteVocabulary(control=["<think>", "</think>"])
MARKERS = {text: VOCABULARY.token_of(text) for text in ("<think>", "</think>")}
THINKS = Posture(reasoning=REASONING["qwen3"])
CLOSER = VOCABULARY.ids(" Enough.", "</think>")


def budget(limit, state=BlockState.OPEN):
    chain = OutputChain(THINKS, state, marker_tokens=MARKERS)
    return ThoughtBudget(chain, PieceTable(VOCABULARY), limit=limit, closing=CLOSER)


def run(guide, tokens):
    """What is written when the model wants to say `tokens`: the engine's own rule, forced tokens first."""
    said = []

    def force():
        while forced := tuple(guide.forced()):
            for token in forced:
                guide.accept(token)
                said.append(token)

    force()
    for token in tokens:
        guide.accept(token)
        said.append(token)
        force()
    return said


def test_the_closer_is_forced_once_the_tokens_are_used_up():
    assert run(budget(3), b"abcdef") == [*b"abc", *CLOSER, *b"def"]


def test_a_budget_of_nothing_closes_the_block_before_the_first_token():
    assert run(budget(0), b"ab") == [*CLOSER, *b"ab"]


def test_a_block_that_the_model_opens_is_counted_from_behind_the_opener():
    tokens = VOCABULARY.ids("<think>", "abc")
    assert run(budget(2, BlockState.UNOPENED), tokens) == [*VOCABULARY.ids("<think>", "ab"), *CLOSER, *b"c"]


def test_a_thought_that_ends_in_time_is_left_alone():
    tokens = VOCABULARY.ids("ab", "</think>", "answer that is long")
    assert run(budget(5), tokens) == tokens


def test_an_answer_without_a_thought_is_left_alone():
    assert run(budget(0, BlockState.UNOPENED), b"answer") == list(b"answer")


def test_the_thought_is_never_cut_inside_a_character():
    assert run(budget(2), "aä!".encode()) == [*"aä".encode(), *CLOSER, *b"!"]


def test_the_closer_is_forced_once_only():
    tokens = VOCABULARY.ids("ab", "<think>", "cd")
    assert run(budget(1), tokens) == [*b"a", *CLOSER, *b"b", *VOCABULARY.ids("<think>", "cd")]


def test_a_running_thought_can_be_ended_by_a_person():
    guide = budget(None)
    assert run(guide, b"ab") == list(b"ab")
    guide.end()
    assert run(guide, b"cd") == [*b"c", *CLOSER, *b"d"]


def test_the_closing_text_is_the_message_and_the_formats_own_closer():
    assert closing_text(THINKS, "Enough.") == "Enough.</think>"
    assert closing_text(Posture(), "Enough.") is None
    assert closing_text(Posture(reasoning=REASONING["gpt_oss"]), "").endswith("final<|message|>")
