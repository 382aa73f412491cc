"""`ferrox-gguf parse`: a model's raw output as reasoning, content and tool calls.

One output on standard input, or with --jsonl one case a line (`cases.py` says what is in a case).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from ferrox_gguf.cli.cases import CUTS, CaseReader, Cut, parsed, start_state
from ferrox_gguf.cli.subject import add_subject_flags, read_text, subject_of
from ferrox_gguf.errors import FerroxError, InvalidField
from ferrox_gguf.json_types import Json
from ferrox_gguf.output.pieces import End
from ferrox_gguf.request import ReasoningDisplay
from ferrox_gguf.wire.messages import parse_tools


def run(arguments: Sequence[str]) -> int:
    """Print JSON. Exit status 1 when a case or the command line is wrong; a model's odd output never is."""
    given = _flags().parse_args(arguments)
    cut = Cut(given.cut, given.seed)
    try:
        if given.jsonl:
            return _run_cases(given, cut)
        _write(_run_one(given, cut))
    except FerroxError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _flags() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ferrox-gguf parse", description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="the output or the cases; - is stdin")
    parser.add_argument("--jsonl", action="store_true", help="read one case a line, write one result a line")
    parser.add_argument("--cut", choices=CUTS, default="whole", help="how the text is fed (default: whole)")
    parser.add_argument("--seed", type=int, default=0, help="for --cut random")
    parser.add_argument("--template-dir", metavar="DIR", type=Path, help="where a case's relative template names are")
    one = parser.add_argument_group("without --jsonl")
    add_subject_flags(one, positional=False)
    one.add_argument("--tools", metavar="FILE", help="OpenAI's list of tools, as JSON")
    one.add_argument("--reasoning-open", action="store_true", default=None, help="the prompt left the thought open")
    one.add_argument("--prompt", metavar="FILE", help="the rendered prompt, to see how it left the thought")
    one.add_argument("--finish", choices=("stop", "length"), default="stop", help="length: the output was cut")
    one.add_argument("--stop", action="append", default=[], metavar="TEXT", help="a stop string of the request")
    one.add_argument(
        "--reasoning-format",
        choices=[display.value for display in ReasoningDisplay],
        default="auto",
        help="where a thought is shown, as in llama-server",
    )
    return parser


def _run_one(given: argparse.Namespace, cut: Cut) -> dict[str, Json]:
    tools = parse_tools(_json_file(given.tools)) if given.tools else ()
    subject = subject_of(given, required=False)
    posture = subject.posture(tools=bool(tools))
    prompt = read_text(given.prompt) if given.prompt else None
    template = subject.template.serving(tools=bool(tools))
    return parsed(
        _text(_octets(given.file)),
        posture,
        start_state(posture, given.reasoning_open, prompt, template),
        tools=tools,
        end=End.CUT if given.finish == "length" else End.DONE,
        cut=cut,
        complete=cut.how == "whole",
        stops=given.stop,
        display=ReasoningDisplay(given.reasoning_format),
    )


def _run_cases(given: argparse.Namespace, cut: Cut) -> int:
    reader, status = CaseReader(given.template_dir), 0
    for line in _lines(given.file):
        if not line.strip():
            continue
        result = reader.result(line, cut)
        status = 1 if "error" in result else status
        _write(result)
    return status


def _lines(file: str) -> Iterable[bytes]:
    return sys.stdin.buffer if file == "-" else _octets(file).splitlines()


def _octets(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise InvalidField(file, str(error.strerror)) from None


def _text(octets: bytes) -> str:
    return octets.decode("utf-8", errors="replace")


def _json_file(path: str) -> Json:
    try:
        value: Json = json.loads(read_text(path))
    except ValueError as error:
        raise InvalidField(path, f"is not JSON: {error}") from None
    return value


def _write(result: dict[str, Json]) -> None:
    text = json.dumps(result, ensure_ascii=False)
    # A lone surrogate of the model's own JSON can only be written escaped.
    octets = text.encode("utf-8") if text.isascii() or _encodable(text) else json.dumps(result).encode("ascii")
    sys.stdout.buffer.write(octets + b"\n")
    sys.stdout.buffer.flush()


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
