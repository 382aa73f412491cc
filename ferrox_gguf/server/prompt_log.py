"""`--log-prompts-dir`: every prompt in a file of its own, to find out what a client's request became."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from ferrox_gguf.wire.answer import Asked

logger = logging.getLogger(__name__)


def write_prompts(folder: str, asked: Asked) -> None:
    """Files that sort by time, named by the answer's id. Blocks; a folder that cannot be written harms no request."""
    moment = int(time.time() * 1000)
    try:
        for choice in range(0, asked.choices, asked.generation.n):
            path = Path(folder, f"{moment}-{asked.id}-{choice}.txt")
            path.write_text(asked.prompt_text(choice), encoding="utf-8")
    except OSError as error:
        logger.warning("--log-prompts-dir: %s: %s", folder, error.strerror)
