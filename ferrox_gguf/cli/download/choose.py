"""Which files of a repository make up the wanted model: names in, names out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ferrox_gguf.errors import StartupError

PREFERRED = ("Q4_K_M", "Q8_0")
"""What is taken when no quant was named, as in llama-server; failing these, the first model there is."""

BESIDE_THE_MODEL = ("mmproj", "imatrix", "mtp-", "eagle3-", "dflash-", "dspark-")
"""In names of GGUF files that go with a model and are none."""

PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)


def split_repository(text: str) -> tuple[str, str]:
    """`user/name:quant` → ("user/name", "quant"); the quant may be missing."""
    repository, _, quant = text.partition(":")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise StartupError(f"-hf: {text!r} is not <user>/<model>[:quant]")
    return repository, "" if quant.lower() == "latest" else quant


def choose(names: Sequence[str], *, quant: str = "", file: str = "") -> tuple[str, ...]:
    """The model's file, or all parts of a split one, first part first. Raises StartupError naming what there is."""
    if file:
        if file not in names:
            raise StartupError(f"there is no file {file!r}; {_listed(names)}")
        return parts(file, names)
    models = [name for name in names if is_model(name)]
    for wanted in (quant,) if quant else PREFERRED:
        pattern = re.compile(re.escape(wanted) + "[.-]", re.IGNORECASE)
        if found := next((name for name in models if pattern.search(name)), None):
            return parts(found, names)
    if quant:
        raise StartupError(f"there is no quant {quant!r}; {_listed(names)}")
    if not models:
        raise StartupError("there is no GGUF model in it")
    return parts(models[0], names)


def is_model(name: str) -> bool:
    """A whole model, or the first part of one."""
    base = name.rpartition("/")[2]
    if not base.endswith(".gguf") or any(mark in base for mark in BESIDE_THE_MODEL):
        return False
    part = PART.fullmatch(base)
    return part is None or int(part["number"]) == 1


def parts(first: str, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """All files that belong to this one, by the numbers in its name. names: where all of them must be found."""
    part = PART.fullmatch(first)
    if part is None:
        return (first,)
    count = part["count"]
    files = tuple(f"{part['stem']}-{number:05}-of-{count}.gguf" for number in range(1, int(count) + 1))
    missing = [name for name in files if names is not None and name not in names]
    if missing:
        raise StartupError(f"the model is split and a part is missing: {missing[0]}")
    return files


def _listed(names: Sequence[str]) -> str:
    models = [name for name in names if is_model(name)]
    return f"there are {', '.join(models)}" if models else "there is no GGUF model in it"
