"""Outputs as tokens, and a server whose model says several of them, each behind the prompt that was made for it."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
from support.scripted_gguf import Line, write_lines
from support.serving import serving
from support.speech import Run, Speech

from ferrox_gguf.runtime.load import assemble
from ferrox_gguf.server.ready import make_ready
from ferrox_gguf.settings import ContextSettings, CpuSettings, ModelSettings, Settings

_ATOM = re.compile(r"<[^<>\s=]+>|\[[^\[\]\s=\"{}]+\]|\[BEGIN FINAL RESPONSE\]|\]<\]minimax\[>\[")
SPELLED = "\0"
"""Stands inside a marker that is spelled out in several tokens instead of being one; it is not said itself."""


def special_tokens(template: str, speech: Speech, lines: Sequence[Sequence[Run]]) -> list[str]:
    """The family's own markers: those that the template shows too, and those around thoughts and answers."""
    text = "".join(run.text for runs in lines for run in runs)
    known = template + speech.opener + speech.closer + speech.layout + "".join(speech.around)
    found = [atom for atom in _ATOM.findall(text) if atom in known]
    return list(dict.fromkeys([*found, *speech.companions]))


def is_control(text: str) -> bool:
    """Markers with bars and brackets are control tokens on real files, plain tags are user-defined ones."""
    return not re.fullmatch(r"</?[a-z_:]+>", text)


def tokens(runs: Sequence[Run], special: Sequence[str]) -> list[bytes]:
    """The output cut into tokens: markers whole, the rest at places that mind neither words nor runs.

    Two characters are never one token: a prompt then has one token a byte, whatever the vocabulary.
    """
    text = "".join(run.text for run in runs)
    cut = random.Random(len(text))
    split = "|".join(re.escape(marker) for marker in sorted([*special, SPELLED], key=len, reverse=True))
    out: list[bytes] = []
    for part in re.split(f"({split})", text):
        if part in special:
            out.append(part.encode())
            continue
        while part and part != SPELLED:
            size = cut.choice((1, 3, 4, 5, 8))
            piece, part = part[:size], part[size:]
            out += [piece.encode()] if len(piece) > 2 else [bytes([byte]) for byte in piece.encode()]
    return out


def as_script(token: bytes) -> str:
    """The token in the words of Line; a space is the one that the tokenizer makes, not its byte."""
    return " " if token == b" " else f"<0x{token[0]:02X}>" if len(token) == 1 else token.decode()


def thinking_tokens(runs: Sequence[Run], said: Sequence[bytes]) -> int:
    """How many tokens hold a byte of a thought or its markup: the definition itself."""
    marks = [run.thinks for run in runs for _ in run.text.replace(SPELLED, "").encode()]
    count, at = 0, 0
    for token in said:
        count += any(marks[at : at + len(token)])
        at += len(token)
    return count


@contextlib.contextmanager
def playing(
    path: Path, lines: Sequence[Line], *, template: str, special: Sequence[str], name: str = "scripted"
) -> Iterator[str]:
    """The URL of a server whose model says each line behind a prompt of exactly its length."""
    write_lines(
        path,
        lines,
        chat_template=template,
        control=[text for text in special if is_control(text)],
        user_defined=[text for text in special if not is_control(text)],
        name=name,
        n_ctx=max(line.stop for line in lines) + 8,
    )
    settings = Settings(
        model=ModelSettings(path=str(path), warmup=False),
        # One thread: the model is next to nothing, and two would wait for each other.
        context=ContextSettings(n_parallel=1, cpu=CpuSettings(n_threads=1)),
    )

    def make():
        assembled = assemble(settings, asyncio.get_running_loop())
        assembled.engine.start()
        return make_ready(settings, assembled)

    with serving(make, settings) as url:
        yield url


def padded(client: httpx.Client, url: str, line: Line, body: dict) -> list[dict]:
    """The body's messages, the first question made so long that the prompt is the line's.

    The server says how long the prompt is (`input_tokens`); each letter more is a token more.
    """
    counted = client.post(url + "/v1/chat/completions/input_tokens", json=body)
    assert counted.status_code == 200, counted.text
    missing = line.start - counted.json()["input_tokens"]
    assert missing >= 0
    first, *rest = body["messages"]
    return [{**first, "content": first["content"] + "x" * missing}, *rest]
