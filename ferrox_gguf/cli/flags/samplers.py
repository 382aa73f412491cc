"""Samplers by name and by letter, in the spellings that llama-server takes."""

from __future__ import annotations

SAMPLER_LETTERS = {
    "e": "penalties",
    "d": "dry",
    "s": "top_n_sigma",
    "k": "top_k",
    "y": "typ_p",
    "p": "top_p",
    "m": "min_p",
    "x": "xtc",
    "t": "temperature",
    "i": "infill",
    "a": "adaptive_p",
}
DEFAULT_SAMPLERS = "penalties; dry; top_n_sigma; top_k; typ_p; top_p; min_p; xtc; temperature"
SAMPLER_NICKNAMES = {"nucleus": "top_p", "temp": "temperature", "typ": "typ_p"}


def _known_as(word: str) -> str | None:
    """The sampler that a spelling means: top_k, top-k and topk are one."""
    plain = word.strip().lower()
    spellings = {plain, plain.replace("-", "_")}
    for name in SAMPLER_LETTERS.values():
        if name in spellings or (("_" in name) and plain == name.replace("_", "")):
            return name
    return SAMPLER_NICKNAMES.get(plain)


def sampler_names(row: str) -> tuple[str, ...]:
    """Names between semicolons, in the order in which they are applied."""
    names = [word for word in row.split(";") if word.strip()]
    known = [_known_as(word) for word in names]
    if None in known:
        unknown = names[known.index(None)]
        raise ValueError(f"{unknown!r} is not a sampler; there are {', '.join(SAMPLER_LETTERS.values())}")
    return tuple(name for name in known if name)


def sampler_letters(letters: str) -> tuple[str, ...]:
    """One letter a sampler."""
    for letter in letters:
        if letter not in SAMPLER_LETTERS:
            listed = ", ".join(f"{key} {name}" for key, name in SAMPLER_LETTERS.items())
            raise ValueError(f"{letter!r} stands for no sampler; the letters are {listed}")
    return tuple(SAMPLER_LETTERS[letter] for letter in letters)
