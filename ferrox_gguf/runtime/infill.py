"""Fill in the middle: a prompt out of code before and after the cursor, in the form that code models were trained on.

    repo "myproject"   sep "a.py" text …   sep "filename"   prefix … typed   suffix …   middle

The parts that a vocabulary has no token for are left out (repository form) or written as text (the separator). Cuts are
llama-server's: three quarters of a batch before the cursor, a quarter after it, the other files as far as they fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ferrox_gguf.errors import NotSupported
from ferrox_gguf.request import InfillRequest

REPOSITORY = "myproject\n"
CURRENT_FILE = "filename\n"
SNIPPET = "\n\n--- snippet ---\n\n"
"""Between files, for models without a separator token."""


class FillVocabulary(Protocol):
    """What of a vocabulary filling in needs. Ids are None where the model has no such token."""

    @property
    def bos(self) -> int | None: ...
    @property
    def adds_bos(self) -> bool: ...
    @property
    def fim_prefix(self) -> int | None: ...
    @property
    def fim_suffix(self) -> int | None: ...
    @property
    def fim_middle(self) -> int | None: ...
    @property
    def fim_repository(self) -> int | None: ...
    @property
    def fim_separator(self) -> int | None: ...
    def tokenize(self, text: str, *, add_special: bool, parse_special: bool) -> list[int]: ...


@dataclass(frozen=True, slots=True)
class FillLimits:
    """Tokens. n_batch: what prefix and suffix share.  n_ctx: of one slot.  suffix_first: `--spm-infill`."""

    n_batch: int
    n_ctx: int
    suffix_first: bool = False


def fill_prompt(request: InfillRequest, vocabulary: FillVocabulary, limits: FillLimits) -> tuple[int, ...]:
    """The prompt's ids. Raises NotSupported naming the tokens that this model has not got."""
    before_token, after_token, middle_token = fill_tokens(vocabulary)
    typed = _ids(vocabulary, request.prompt, parse_special=True)
    quarter = limits.n_batch // 4
    before = _last(_ids(vocabulary, request.prefix), 3 * quarter)
    after = _ids(vocabulary, request.suffix)[: max(0, quarter - 2 - len(typed))]
    room = limits.n_ctx - limits.n_batch - 2 * max(0, request.generation.max_tokens)
    extra = _last(_extra(request, vocabulary), max(0, room))
    prefix, suffix = [before_token, *before, *typed], [after_token, *after]
    first, second = (suffix, prefix) if limits.suffix_first else (prefix, suffix)
    bos = [vocabulary.bos] if vocabulary.adds_bos and vocabulary.bos is not None else []
    return (*extra, *bos, *first, *second, middle_token)


def fill_tokens(vocabulary: FillVocabulary) -> tuple[int, int, int]:
    """Prefix, suffix and middle. Raises NotSupported naming those that this model has not got."""
    before, after, middle = vocabulary.fim_prefix, vocabulary.fim_suffix, vocabulary.fim_middle
    if before is None or after is None or middle is None:
        names = (("prefix", before), ("suffix", after), ("middle", middle))
        missing = " ".join(f"{name} token is missing." for name, token in names if token is None)
        raise NotSupported(f"Infill is not supported by this model: {missing}")
    return before, after, middle


def _extra(request: InfillRequest, vocabulary: FillVocabulary) -> list[int]:
    tokens: list[int] = []
    if vocabulary.fim_repository is not None:
        tokens += [vocabulary.fim_repository, *_ids(vocabulary, REPOSITORY)]
    for file in request.extra:
        if vocabulary.fim_separator is not None:
            tokens += [vocabulary.fim_separator, *_ids(vocabulary, f"{file.name}\n")]
        else:
            tokens += _ids(vocabulary, SNIPPET)
        tokens += _ids(vocabulary, file.text)
    if vocabulary.fim_separator is not None:
        tokens += [vocabulary.fim_separator, *_ids(vocabulary, CURRENT_FILE)]
    return tokens


def _ids(vocabulary: FillVocabulary, text: str, *, parse_special: bool = False) -> list[int]:
    return vocabulary.tokenize(text, add_special=False, parse_special=parse_special)


def _last(tokens: list[int], count: int) -> list[int]:
    return tokens[len(tokens) - min(len(tokens), count) :]
