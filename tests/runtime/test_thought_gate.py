"""A constraint begins behind the thought, or with the first text that is none."""

import pytest
from support.scripted import ByteVocabulary

from ferrox_gguf.posture.known import REASONING
from ferrox_gguf.posture.values import BlockState
from ferrox_gguf.runtime.thought_gate import ThoughtGate

VOCABULARY = ByteVocabulary(control=["<think>", "</think>"], pieces=["</think>\n\n{", "{"])
MARKERS = {text: VOCABULARY.token_of(text) for text in ("<think>", "</think>")}


def opened_with(tokens, state=BlockState.UNOPENED, markers=MARKERS, name="qwen3"):
    """(how many tokens passed before it opened, the bytes that then stand inside), or None if it stayed shut."""
    gate = ThoughtGate(REASONING[name], state, markers, VOCABULARY.piece)
    for at, token in enumerate(tokens):
        tail = gate.tail(token)
        if tail is not None:
            return at, tail
        gate.observe(token)
    return None


def test_it_opens_exactly_behind_a_closer_token():
    assert opened_with(VOCABULARY.ids("<think>", "hm", "</think>")) == (3, b"")


def test_it_opens_inside_a_token_that_goes_on_after_the_closer():
    tokens = VOCABULARY.ids("hm", "</think>\n\n{")
    assert opened_with(tokens, BlockState.OPEN, markers={}) == (2, b"\n\n{")


def test_text_that_is_no_thought_is_inside_from_its_first_byte():
    assert opened_with(VOCABULARY.ids("{")) == (0, b"{")
    assert opened_with(VOCABULARY.ids("\n", "{")) == (1, b"\n{")


def test_white_space_and_parts_of_an_opener_decide_nothing():
    assert opened_with(list(b"\n <thin"), markers={}) is None
    assert opened_with(list(b"<tha"), markers={}) == (3, b"<tha")


def test_a_spelled_closer_is_text_where_the_vocabulary_has_a_token_for_it():
    assert opened_with(list(b"a</think>b"), BlockState.OPEN) is None
    assert opened_with(list(b"a</think>"), BlockState.OPEN, markers={}) == (8, b"")


@pytest.mark.parametrize("cut", range(1, 8))
def test_a_closer_cut_anywhere_is_found(cut):
    closer = b"</think>"
    vocabulary = ByteVocabulary(pieces=[closer[:cut].decode(), closer[cut:].decode()])
    gate = ThoughtGate(REASONING["qwen3"], BlockState.OPEN, {}, vocabulary.piece)
    first, second = vocabulary.ids(closer[:cut].decode(), closer[cut:].decode())
    assert gate.tail(first) is None
    gate.observe(first)
    assert gate.tail(second) == b""


def test_harmony_waits_for_the_message_that_is_for_the_user():
    text = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>"
    at, tail = opened_with(list((text + "{").encode()), markers={}, name="gpt_oss")
    assert (at, tail) == (len(text) - 1, b"")


def stays(tokens, state=BlockState.UNOPENED, markers=MARKERS, name="qwen3"):
    gate = ThoughtGate(REASONING[name], state, markers, VOCABULARY.piece, lambda text: list(text.encode()))
    for token in tokens:
        gate.observe(token)
    return gate.stays(), gate.pending()


def test_what_may_still_begin_a_thought_is_its_opener_alone():
    assert stays([]) == ((MARKERS["<think>"],), b"")
    assert stays(list(b"\n")) == ((MARKERS["<think>"],), b"\n")
    assert stays([], markers={}) == ([ord("<")], b"")
    assert stays(list(b" <thi"), markers={}) == ([ord("n")], b" <thi")


def test_inside_a_thought_any_token_may_come():
    assert stays([], BlockState.OPEN) == (None, b"")
    assert stays([MARKERS["<think>"]]) == (None, b"")


def test_an_answer_does_not_put_off_its_beginning_by_white_space():
    assert opened_with(list(b" " * 40)) == (16, b" " * 17)
