"""The whole server over a script: our app, our engine thread and our output chain, and no model.

usage: front_server.py --host HOST --port PORT

The script thinks for half of each answer, then writes content; tools are offered, so every stage of the chain works for
its living. The engine may be AHEAD steps before the event loop, as a real one computes while the last step is sent, so
neither waits for the other; no more than that, so the engine goes as fast as the front carries and no frame is merged.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.models import scripted_ready
from support.scripted import EOS, ByteVocabulary

from bench_server.prompts import WORDS
from ferrox_gguf.engine.contract import Sampled, SequenceRequest
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.loop import EngineLoop
from ferrox_gguf.engine.plan import BatchPlan, Drawn, Outcome, Verdict
from ferrox_gguf.server.serve import run
from ferrox_gguf.server.state import Ready
from ferrox_gguf.settings import ReasoningSettings, ServerSettings, Settings

STREAMS = 64
CONTEXT = 1 << 20
AHEAD = 4
MARKERS = ("<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>")

TEMPLATE = (
    "{% if tools %}<|im_start|>system\nTools: {{ tools | tojson }}<|im_end|>\n{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


class Script:
    """An executor without arithmetic: draws the script's next token for every row that wants one."""

    belongs_to = "script"

    def __init__(self, vocabulary: ByteVocabulary, loop: asyncio.AbstractEventLoop) -> None:
        self._words = vocabulary.ids(*(f" {word}" for word in WORDS))
        self._open, self._close = vocabulary.ids("<think>", "</think>")
        self._loop = loop
        self._said: dict[int, int] = {}
        self._limits: dict[int, int] = {}
        self._ahead = threading.Semaphore(AHEAD)

    def open(self, handle: int, request: SequenceRequest) -> int:
        self._said[handle], self._limits[handle] = 0, request.max_tokens
        return 1

    def close(self, handle: int) -> None:
        self._said.pop(handle, None)

    def first_position(self, slot: int) -> int:
        return 0

    def take_state(self, slot: int) -> NDArray[np.uint8]:
        raise NotImplementedError("nothing is saved here")

    def put_state(self, slot: int, state: NDArray[np.uint8], length: int) -> bool:
        raise NotImplementedError("nothing is saved here")

    def execute(self, plan: BatchPlan) -> Outcome:
        self._ahead.acquire(timeout=1)
        # Behind the last step's hand-off in the event loop's queue.
        self._loop.call_soon_threadsafe(self._ahead.release)
        drawn = {
            index: Drawn((Sampled(self._next(row.sequence)),))
            for index, row in enumerate(plan.rows)
            if row.wants_logits
        }
        return Outcome(Verdict.DONE, drawn, decode_ms=0.01 * plan.n_tokens)

    def _next(self, handle: int) -> int:
        said = self._said[handle]
        self._said[handle] = said + 1
        if said == 0:
            return self._open
        return self._close if said == self._limits[handle] // 2 else self._words[said % len(self._words)]


def load(settings: Settings, loop: asyncio.AbstractEventLoop) -> Ready:
    vocabulary = ByteVocabulary(MARKERS, tuple(f" {word}" for word in dict.fromkeys(WORDS)))
    ready = scripted_ready([], vocabulary=vocabulary, template=TEMPLATE, settings=settings, n_ctx=CONTEXT)
    layout = Layout(STREAMS, n_cells=0, slot_context=CONTEXT, end_tokens=frozenset({EOS}))
    engine = EngineLoop(Script(vocabulary, loop), layout, n_vocab=vocabulary.n_tokens)

    async def start() -> None:
        engine.start()

    async def close() -> None:
        engine.stop()
        await engine.wait_stopped(1)

    asyncio.run_coroutine_threadsafe(start(), loop).result()
    ready.model.engine, ready.close = engine, close
    return ready


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    settings = Settings()
    return run(
        replace(
            settings,
            server=replace(ServerSettings(), hosts=(options.host,), port=options.port),
            chat=replace(settings.chat, tool_call_parser="hermes", reasoning=ReasoningSettings(parser="qwen3")),
        ),
        load,
    )


if __name__ == "__main__":
    sys.exit(main())
