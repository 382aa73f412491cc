"""Stop strings, however the text is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ferrox_gguf.output.lookout import Lookout
from ferrox_gguf.output.stops import StopFinder

WORDS = st.lists(st.text("abc", min_size=1, max_size=4), max_size=4)
TEXTS = st.lists(st.text("abcd", max_size=4), max_size=8)


def run(words, parts):
    finder = StopFinder(words)
    shown = [finder.push(part) for part in parts]
    return "".join(shown) + ("" if finder.hit else finder.flush()), finder.hit


def test_text_before_the_stop_string_is_shown_and_nothing_after():
    assert run(["STOP"], ["one ST", "OP two", " three"]) == ("one ", "STOP")
    assert run(["STOP"], ["one ST", "ART"]) == ("one START", None)
    assert run(["STOP"], ["one ST"]) == ("one ST", None)


def test_of_several_the_first_that_is_complete_wins():
    assert run(["abc", "b"], ["xabc"]) == ("xa", "b")
    assert run(["xab", "b"], ["xab"]) == ("", "xab")
    assert run(["ab", "abc"], ["abc"]) == ("", "ab")


def test_what_was_cut_is_counted():
    finder = StopFinder(["STOP"])
    finder.push("a STOP b")
    finder.push("cd")
    assert finder.cut == len("STOP b") + len("cd")


def test_empty_stop_strings_are_none():
    assert run(["", ""], ["any text"]) == ("any text", None)


@given(WORDS, TEXTS)
def test_where_the_text_is_cut_does_not_matter(words, parts):
    text = "".join(parts)
    assert run(words, parts) == run(words, [text]) == run(words, list(text))


@given(WORDS, TEXTS)
def test_the_shown_text_is_what_stands_before_the_first_complete_word(words, parts):
    text = "".join(parts)
    shown, hit = run(words, parts)
    ends = [text.find(word) + len(word) for word in words if word in text]
    if not ends:
        assert (shown, hit) == (text, None)
    else:
        assert hit in words
        assert text[: min(ends)] == shown + hit


@given(WORDS, TEXTS)
def test_only_a_tail_that_may_become_a_stop_string_is_held(words, parts):
    finder, text = StopFinder(words), ""
    shown = ""
    for part in parts:
        text += part
        shown += finder.push(part)
        if finder.hit:
            return
        held = text[len(shown) :]
        assert not held or any(len(word) > len(held) and word.startswith(held) for word in words)


@given(WORDS, st.text("abc", max_size=10))
def test_a_lookout_finds_the_first_marker_and_of_two_the_longer(words, text):
    at, found = Lookout(words).find(text, ended=True)
    places = [text.find(word) for word in words if word in text]
    if not places:
        assert (at, found) == (len(text), "")
    else:
        assert at == min(places)
        assert found == max((word for word in words if text.startswith(word, at)), key=len)
