"""A vocabulary of bytes and an engine that plays a script: everything above llama.cpp, without it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence

from ferrox_gguf.engine.contract import Ended, Guide, PromptProgress, Sampled, SequenceRequest, Sink, Tokens
from ferrox_gguf.errors import PromptTooLong
from ferrox_gguf.events import StopType, Timings

BOS, EOS = 256, 257
FIM = ("prefix", "suffix", "middle")
"""A vocabulary with <fim_prefix> and the like among its control tokens can fill in."""


class ByteVocabulary:
    """Ids 0 to 255 are bytes; 256 is BOS, 257 EOS, and then come the given special tokens and pieces of text."""

    def __init__(self, control: Sequence[str] = (), pieces: Sequence[str] = ()) -> None:
        self._control = {text: EOS + 1 + at for at, text in enumerate(control)}
        self._pieces = {text: EOS + 1 + len(control) + at for at, text in enumerate(pieces)}
        self._texts = {token: text for text, token in {**self._control, **self._pieces}.items()}
        self.n_tokens = EOS + 1 + len(control) + len(pieces)
        self.bos, self.eos = BOS, EOS
        self.adds_bos, self.adds_eos, self.adds_sep, self.sep = True, False, False, None
        self.fim_prefix, self.fim_suffix, self.fim_middle = (self._control.get(f"<fim_{name}>") for name in FIM)
        self.fim_repository = self.fim_separator = None
        self.end_tokens = frozenset({EOS})

    def tokenize(self, text: str, *, add_special: bool, parse_special: bool) -> list[int]:
        tokens = [BOS] if add_special else []
        while text:
            control = next((c for c in self._control if text.startswith(c)), None) if parse_special else None
            if control:
                tokens.append(self._control[control])
                text = text[len(control) :]
            else:
                tokens += text[0].encode()
                text = text[1:]
        return tokens

    def piece(self, token: int, *, special: bool = True) -> bytes:
        if token < 256:
            return bytes([token])
        if self.is_control(token) and not special:
            return b""
        if token in (BOS, EOS):
            return b"<s>" if token == BOS else b"</s>"
        return self._texts[token].encode()

    def detokenize(self, tokens: Iterable[int], *, special: bool = True) -> bytes:
        return b"".join(self.piece(token, special=special) for token in tokens)

    def is_control(self, token: int) -> bool:
        return token in (BOS, EOS) or token in self._control.values()

    def is_user_defined(self, token: int) -> bool:
        return False

    def token_of(self, text: str) -> int | None:
        return self._control.get(text)

    def ids(self, *pieces: str) -> list[int]:
        """A script: each piece is one token where it is one, else its bytes."""
        known = {**self._control, **self._pieces}
        return [token for piece in pieces for token in ([known[piece]] if piece in known else piece.encode())]


class ScriptedEngine:
    """Plays `script(request)` one token a loop turn, then EOS. `cancelled` records what was given up."""

    def __init__(self, script: Callable[[SequenceRequest], Sequence[int]], n_ctx: int = 4096) -> None:
        self.script, self.n_ctx = script, n_ctx
        self.submitted: list[SequenceRequest] = []
        self.cancelled: list[int] = []
        self.pause = 0.0
        self.burst = 1  # tokens between two turns of the event loop
        self._running: dict[int, asyncio.Task[None]] = {}

    def submit(self, request: SequenceRequest, sink: Sink) -> int:
        if len(request.tokens) >= self.n_ctx:
            raise PromptTooLong(prompt_tokens=len(request.tokens), context_tokens=self.n_ctx)
        handle = len(self.submitted)
        self.submitted.append(request)
        self._running[handle] = asyncio.ensure_future(self._play(request, sink))
        return handle

    def cancel(self, handle: int) -> None:
        if handle in self._running and not self._running[handle].done():
            self.cancelled.append(handle)
            self._running[handle].cancel()

    def done(self, handle: int) -> bool:
        return handle in self._running and self._running[handle].done()

    async def _play(self, request: SequenceRequest, sink: Sink) -> None:
        n_prompt = len(request.tokens)
        if request.wants_progress:
            sink(PromptProgress(n_prompt, 0, 0, 0.0))
            sink(PromptProgress(n_prompt, 0, n_prompt, 1.0))
        count, stop = 0, StopType.EOS
        for token in guided(self.script(request), request.guide):
            # Like the real one, it draws at least one token.
            if 0 <= request.max_tokens <= count and count:
                stop = StopType.LIMIT
                break
            if count % self.burst == 0:
                await asyncio.sleep(self.pause)
            count += 1
            sink(Tokens((Sampled(token),), Timings(0, n_prompt, 1.0, count, float(count)), slot=0, seed=7))
        if stop is StopType.EOS and 0 <= request.max_tokens <= count:
            stop = StopType.LIMIT
        await asyncio.sleep(0)
        count += stop is StopType.EOS
        sink(Ended(stop, 0, 7, Timings(0, n_prompt, 1.0, count, float(count))))


def guided(script: Iterable[int], guide: Guide | None) -> Iterator[int]:
    """The script as the engine would write it: what the guide forces comes first, then what the model says."""
    for token in (None, *script) if guide else script:
        if token is not None:
            if guide:
                guide.accept(token)
            yield token
        while guide and (forced := tuple(guide.forced())):
            for one in forced:
                guide.accept(one)
                yield one
