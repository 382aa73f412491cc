"""Where log lines go and which are kept, as llama-server's `--log-*` flags say."""

from __future__ import annotations

import logging
import sys
import time

import orjson

from ferrox_gguf.server.request_id import request_id
from ferrox_gguf.settings import LogSettings

LEVELS = (logging.CRITICAL, logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)
"""By verbosity; 4 (trace) and everything above it is DEBUG."""

LETTERS = {logging.DEBUG: "D", logging.INFO: "I", logging.WARNING: "W", logging.ERROR: "E", logging.CRITICAL: "E"}
COLOURS = {logging.WARNING: "\x1b[33m", logging.ERROR: "\x1b[31m", logging.CRITICAL: "\x1b[31m"}
PLAIN = "\x1b[0m"


def configure_logging(settings: LogSettings) -> None:
    """Lines go to standard error, JSON to standard output, and either also to a file if one is named."""
    root = logging.getLogger()
    for handler in root.handlers[:]:
        root.removeHandler(handler)
    root.setLevel(LEVELS[max(0, min(settings.verbosity, len(LEVELS) - 1))])
    if not settings.enabled:
        root.setLevel(logging.CRITICAL + 1)
        return
    stream = logging.StreamHandler(sys.stdout if settings.jsonl else sys.stderr)
    coloured = settings.colors == "on" or (settings.colors == "auto" and stream.stream.isatty())
    stream.setFormatter(JsonLine() if settings.jsonl else TextLine(settings, coloured=coloured))
    root.addHandler(stream)
    if settings.file:
        file = logging.FileHandler(settings.file, encoding="utf-8", delay=False)
        file.setFormatter(JsonLine() if settings.jsonl else TextLine(settings, coloured=False))
        root.addHandler(file)
    # Its own news ("Started server process") says nothing that ours does not.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    logging.getLogger("asyncio").setLevel(logging.WARNING)


class TextLine(logging.Formatter):
    """`seconds since start, level, [request's id] message`, the first two if asked for."""

    def __init__(self, settings: LogSettings, *, coloured: bool) -> None:
        super().__init__()
        self._settings, self._coloured = settings, coloured
        self._began = time.time()

    def format(self, record: logging.LogRecord) -> str:
        line = record.getMessage()
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        if asked := request_id.get():
            line = f"[{asked}] {line}"
        if self._settings.prefix:
            line = f"{LETTERS.get(record.levelno, 'I')} {line}"
        if self._settings.timestamps:
            line = f"{record.created - self._began:9.3f} {line}"
        colour = COLOURS.get(record.levelno) if self._coloured else None
        return f"{colour}{line}{PLAIN}" if colour else line


class JsonLine(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "timestamp": record.created,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if asked := request_id.get():
            line["request_id"] = asked
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line).decode()
