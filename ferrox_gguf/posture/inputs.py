"""What is known of a model besides its template: the evidence that `resolve.py` weighs."""

from __future__ import annotations

import os
from collections.abc import Set
from dataclasses import dataclass
from typing import Union

from ferrox_gguf.gguf import FileFacts


@dataclass(frozen=True, slots=True)
class PostureInputs:
    """names: the model's name in all its spellings, the most telling first; the file's own name last.

    markers: texts of the vocabulary's control and user-defined tokens.
    bos_token, eos_token: as a template may print them.
    """

    architecture: str | None = None
    names: tuple[str, ...] = ()
    markers: Set[str] = frozenset()
    bos_token: str = ""
    eos_token: str = ""


def inputs_of(about: Union[FileFacts, PostureInputs]) -> PostureInputs:
    """The evidence that a file's facts hold."""
    if isinstance(about, PostureInputs):
        return about
    names = (about.name, about.basename, about.finetune, os.path.basename(about.path))
    return PostureInputs(
        architecture=about.architecture,
        names=tuple(name for name in names if name),
        markers=about.special_tokens.keys(),
        bos_token=(about.bos and about.bos.text) or "",
        eos_token=(about.eos and about.eos.text) or "",
    )
