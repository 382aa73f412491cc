"""A query and a document as one input of a reranker: the file's own rerank template, or the tokenizer's separators."""

from __future__ import annotations

from typing import Protocol


class PairVocabulary(Protocol):
    """What of a vocabulary pairing needs."""

    @property
    def bos(self) -> int | None: ...
    @property
    def eos(self) -> int | None: ...
    @property
    def sep(self) -> int | None: ...
    @property
    def adds_bos(self) -> bool: ...
    @property
    def adds_eos(self) -> bool: ...
    @property
    def adds_sep(self) -> bool: ...
    def tokenize(self, text: str, *, add_special: bool, parse_special: bool) -> list[int]: ...


def pair_tokens(query: str, document: str, vocabulary: PairVocabulary, template: str | None) -> tuple[int, ...]:
    """template: `tokenizer.chat_template.rerank`, which names its places {query} and {document}; None without one."""
    if template is not None:
        # One pass, so that a query which contains "{document}" stays what the person wrote.
        text = document.join(part.replace("{query}", query) for part in template.split("{document}"))
        return tuple(vocabulary.tokenize(text, add_special=False, parse_special=True))
    end = vocabulary.eos if vocabulary.eos is not None else vocabulary.sep
    marks = {
        "bos": (vocabulary.adds_bos, vocabulary.bos),
        "end": (vocabulary.adds_eos, end),
        "sep": (vocabulary.adds_sep, vocabulary.sep),
    }
    bos, close, sep = ([token] if wanted and token is not None else [] for wanted, token in marks.values())
    ask, answer = (vocabulary.tokenize(text, add_special=False, parse_special=False) for text in (query, document))
    return (*bos, *ask, *close, *sep, *answer, *close)
