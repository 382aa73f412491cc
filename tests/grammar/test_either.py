"""Two constraints of which the output keeps to one."""

from __future__ import annotations

from support.grammar_view import View

from ferrox_gguf.grammar.either import Either
from ferrox_gguf.grammar.guide import GrammarGuide
from ferrox_gguf.grammar.source import source_of
from ferrox_gguf.request import GrammarKind, GrammarSpec


def either(view: View, *grammars: str) -> GrammarGuide:
    sources = [source_of(GrammarSpec(GrammarKind.GBNF, f"root ::= {grammar}")) for grammar in grammars]
    return GrammarGuide(Either([view.compiler.compile(source) for source in sources]), view.tokenizer)


def takes(view: View, guide: GrammarGuide, text: str) -> bool:
    for token in view.ids(text):
        if not guide.allows(token):
            return False
        guide.accept(token)
    return True


def test_the_output_keeps_to_one_of_them(view: View) -> None:
    for text in ("abc", "abd", "x"):
        assert takes(view, either(view, '"abc" | "x"', '"abd"'), text)
    assert not takes(view, either(view, '"abc"', '"abd"'), "abe")
    assert not takes(view, either(view, '"ac"', '"bd"'), "ad")


def test_the_mask_is_what_any_of_them_allows(view: View) -> None:
    guide = either(view, '"ac"', '"ad"', '"be"')
    assert takes(view, guide, "a")
    mask = guide.mask()
    assert mask is not None
    allowed = {view.vocab.piece(t) for t in range(view.vocab.n_tokens) if mask[t // 8] >> t % 8 & 1}
    assert allowed == {b"c", b"d"}


def test_it_is_finished_when_none_can_go_on(view: View) -> None:
    guide = either(view, '"a"', '"ab"')
    assert takes(view, guide, "a")
    assert not guide.finished
    assert takes(view, guide, "b")
    assert guide.finished


def test_a_copy_goes_its_own_way(view: View) -> None:
    first = Either([view.compiler.compile(source_of(GrammarSpec(GrammarKind.GBNF, 'root ::= "ab"')))])
    second = first.deep_copy()
    assert first.consume_tokens(view.ids("a"))
    assert second.validate_tokens(view.ids("b")) == 0
    assert first.validate_tokens(view.ids("b")) == 1
