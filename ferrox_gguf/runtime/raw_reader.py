"""Reads a raw completion: nothing is split, only decoded and searched for stop strings."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence

from ferrox_gguf.events import ContentDelta, OutputEvent
from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.stops import StopFinder


class RawReader:
    """A Reader. piece: a token's bytes."""

    reasoning_tokens = None

    def __init__(self, piece: Callable[[int], bytes], stop: Sequence[str]) -> None:
        self._piece, self._stops = piece, StopFinder(stop)
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode

    @property
    def stopped(self) -> str | None:
        return self._stops.hit

    def push(self, token: int) -> Sequence[OutputEvent]:
        return shown(self._stops.push(self._decode(self._piece(token))))

    def flush(self, end: End) -> Sequence[OutputEvent]:
        """What was held; half a character at the very end is dropped."""
        return shown(self._stops.flush())


def shown(text: str) -> Sequence[OutputEvent]:
    return (ContentDelta(text),) if text else ()
