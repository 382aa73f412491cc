"""The trie against a plain list of sequences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ferrox_gguf.engine.prefix import common_prefix
from ferrox_gguf.engine.trie import PrefixTrie

sequences = st.lists(st.integers(0, 2), min_size=1, max_size=8)


@given(st.lists(st.tuples(st.booleans(), sequences), max_size=30), sequences)
def test_the_trie_finds_what_a_search_through_all_finds(steps: list[tuple[bool, list[int]]], wanted: list[int]) -> None:
    trie, kept = PrefixTrie(), dict[tuple[int, ...], int]()
    for key, (adds, tokens) in enumerate(steps):
        if adds:
            assert trie.insert(tokens, key) == kept.get(tuple(tokens))
            kept[tuple(tokens)] = key
        else:
            assert trie.remove(tokens) == kept.pop(tuple(tokens), None)
    longest = max((common_prefix(list(tokens), wanted) for tokens in kept), default=0)
    found = trie.longest(wanted)
    assert (found.length if found else 0) == longest
    if found:
        tokens = next(tokens for tokens, key in kept.items() if key == found.key)
        assert list(tokens[:longest]) == wanted[:longest]
    whole = max((len(tokens) for tokens in kept if wanted[: len(tokens)] == list(tokens)), default=0)
    found = trie.whole(wanted)
    assert (found.length if found else 0) == whole
    if found:
        assert kept[tuple(wanted[:whole])] == found.key
