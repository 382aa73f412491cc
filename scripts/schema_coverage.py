#!/usr/bin/env python3
"""Run the official JSON Schema test suite against our constraints, and write docs/structured-output.md's tables.

    scripts/schema_coverage.py            write the tables
    scripts/schema_coverage.py --check    fail if the tables are not what a run gives, or anything is wrong

The suite's files come with the source package of `jsonschema`, at the version pinned below. They are other people's
work, so they stay in a folder that git ignores (.cache/schema-suite).

A schema is *enforced* when every valid instance's canonical text is accepted by the compiled grammar and every invalid
one is refused; *refused* when the request would be a 400; *wrong* otherwise. An instance's canonical text is compact,
with whole numbers without a fraction, and with members in the order in which the schema wants them (all are tried).
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llguidance import LLMatcher, LLTokenizer

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.choice import tool_choice_source
from ferrox_gguf.grammar.compiler import GrammarCompiler
from ferrox_gguf.grammar.formats import FORMATS
from ferrox_gguf.grammar.source import Source, json_grammar
from ferrox_gguf.grammar.tools import GRAMMARS
from ferrox_gguf.json_types import Json
from ferrox_gguf.posture.values import CallMarkers
from ferrox_gguf.request import Tool, ToolChoice, ToolChoiceMode

ROOT = Path(__file__).resolve().parents[1]
VERSION = "4.26.0"
CACHE = ROOT / ".cache" / "schema-suite"
DOCS = ROOT / "docs" / "structured-output.md"
INSIDE = "json/tests/draft2020-12"
ORDERS = 5040
"""Orders of members tried for one instance; no instance of the suite has more that matter."""

SKIPPED = {"format.json": "says that formats are annotations by default; here they are enforced, and tested below"}
"""Files that judge a choice the standard leaves open, with the choice."""


@dataclass
class Row:
    """What became of one file's schemas. narrow: valid instances of formats that are never written."""

    enforced: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    narrow: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def suite_folder() -> Path:
    """The suite's files, fetched when they are not there yet. Fails loudly when they cannot be had."""
    folder = CACHE / VERSION
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            unpacked = _fetch(Path(scratch))
            if not folder.is_dir():
                shutil.copytree(unpacked, folder)
    return folder


def _fetch(scratch: Path) -> Path:
    print(f"fetching the source package of jsonschema {VERSION} …", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "jsonschema"]
    subprocess.run([*pip, "--dest", str(scratch), f"jsonschema=={VERSION}"], check=True)
    (archive,) = scratch.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        for member in source:
            parts = Path(member.name).parts[1:]
            if member.isfile() and "/".join(parts).startswith(f"{INSIDE}/"):
                target = scratch.joinpath("unpacked", *parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                content = source.extractfile(member)
                assert content is not None
                target.write_bytes(content.read())
    return scratch / "unpacked" / INSIDE


class Judge:
    """Compiles schemas as the server does, over a vocabulary of bytes."""

    def __init__(self) -> None:
        self._tokenizer = LLTokenizer("byte")
        self._compiler = GrammarCompiler(self._tokenizer)

    def file(self, path: Path, *, is_format: bool = False) -> Row:
        row = Row()
        for group in json.loads(path.read_text(encoding="utf-8")):
            try:
                matcher = self._compiler.compile(Source(json_grammar(group["schema"], field="schema"), "schema"))
            except InvalidField as refused:
                reason = refused.reason.partition(":")[0] if refused.field == "schema" else refused.field.split(".")[-1]
                row.refused[reason] = row.refused.get(reason, 0) + 1
                continue
            self._group(row, group, matcher, is_format=is_format)
        return row

    def _group(self, row: Row, group: dict[str, Any], matcher: LLMatcher, *, is_format: bool) -> None:
        wrong = False
        for test in group["tests"]:
            accepted = any(self.accepts(matcher, text) for text in texts(test["data"]))
            if accepted == test["valid"]:
                continue
            if is_format and test["valid"]:
                row.narrow.append(test["description"])
                continue
            wrong = True
            row.wrong.append(f"{group['description']}: {test['description']}")
        row.enforced += not wrong

    def call(
        self, form: str, markers: CallMarkers | None, properties: dict[str, Json], *, parallel: bool = True
    ) -> str | None:
        """The constraint of a tool with these arguments, None when it is refused."""
        parameters: dict[str, Json] = {"type": "object", "properties": dict(properties), "$defs": {"tree": TREE}}
        tool, choice = Tool("f", parameters=parameters), ToolChoice(ToolChoiceMode.REQUIRED)
        try:
            source = tool_choice_source(form, markers, [tool], choice, parallel=parallel, special=lambda text: None)
            self._compiler.compile(source)
        except InvalidField:
            return None
        return source.text

    def accepts(self, matcher: LLMatcher, text: str) -> bool:
        own = matcher.deep_copy()
        tokens = self._tokenizer.tokenize_str(text)
        if own.validate_tokens(tokens) < len(tokens):
            return False
        own.consume_tokens(tokens)
        return bool(own.is_accepting())


def texts(instance: Any) -> Iterator[str]:
    for ordered in itertools.islice(orders(instance), ORDERS):
        yield json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))


def orders(value: Any) -> Iterator[Any]:
    """The value with the members of its objects in every order."""
    if isinstance(value, float) and value.is_integer():
        yield int(value)
    elif isinstance(value, list):
        yield from (list(items) for items in itertools.product(*[list(orders(item)) for item in value]))
    elif isinstance(value, dict):
        for members in itertools.permutations(value.items()):
            for values in itertools.product(*[list(orders(item)) for _, item in members]):
                yield dict(zip([key for key, _ in members], values, strict=True))
    else:
        yield value


def keyword_table(judge: Judge, folder: Path) -> tuple[list[str], list[str]]:
    """The table, and everything that is wrong."""
    lines = ["| file of the suite | schemas enforced | refused by name | wrong |", "|---|---|---|---|"]
    wrong: list[str] = []
    for path in sorted(folder.glob("*.json")):
        if path.name in SKIPPED:
            lines.append(f"| `{path.stem}` | – | – | {SKIPPED[path.name]} |")
            continue
        row = judge.file(path)
        refused = ", ".join(f"{count} by `{reason}`" for reason, count in sorted(row.refused.items()))
        lines.append(f"| `{path.stem}` | {row.enforced or '–'} | {refused or '–'} | {len(row.wrong) or 'none'} |")
        wrong += [f"{path.stem}: {line}" for line in row.wrong]
    return lines, wrong


def format_table(judge: Judge, folder: Path) -> tuple[list[str], list[str]]:
    lines = ["| format | invalid texts let through | valid texts never written |", "|---|---|---|"]
    wrong: list[str] = []
    for name in sorted(FORMATS):
        row = judge.file(folder / "optional" / "format" / f"{name}.json", is_format=True)
        narrow = "; ".join(row.narrow)
        lines.append(f"| `{name}` | {len(row.wrong) or 'none'} | {narrow or 'none'} |")
        wrong += [f"format {name}: {line}" for line in row.wrong]
    return lines, wrong


PROBES: dict[str, dict[str, Json]] = {
    "types, `enum`": {"enum": ["a", 1, None]},
    "`minLength`, `maxLength`": {"type": "string", "minLength": 2, "maxLength": 5},
    "`pattern`": {"type": "string", "pattern": "^[a-z]+$"},
    "`format`": {"type": "string", "format": "date"},
    "ranges": {"type": "integer", "minimum": 1, "maximum": 9},
    "objects in objects": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
    "arrays": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
    "maps": {"type": "object", "additionalProperties": {"type": "integer"}},
    "unions": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "array", "items": {"type": "null"}}]},
    "recursive `$ref`": {"$ref": "#/$defs/tree"},
}
"""One argument each, as tools have them."""

TREE: Json = {"type": "object", "properties": {"down": {"$ref": "#/$defs/tree"}}, "additionalProperties": False}

UNSEEN = {
    "custom: JSON": CallMarkers("json", call_open="<call>", call_close="</call>"),
    "custom: named": CallMarkers("name_json", call_open="<call>", call_close="</call>", name_close="<args>"),
    "custom: tagged": CallMarkers(
        "tagged",
        call_open="<call>",
        call_close="</call>",
        name_close="<args>",
        key_open="<k>",
        key_close="</k>",
        value_open="<v>",
        value_close="</v>",
    ),
}


def syntax_table(judge: Judge) -> list[str]:
    """What each syntax's constraint takes: found by compiling, `400` where a request would be refused."""
    lines = [f"| syntax | several calls | {' | '.join(PROBES)} |", "|---|---|" + "---|" * len(PROBES)]
    forms: dict[str, tuple[str, CallMarkers | None]] = {
        name: (name, None) for name in sorted(GRAMMARS) if name != "custom"
    }
    forms.update({name: ("custom", markers) for name, markers in UNSEEN.items()})
    for name, (form, markers) in forms.items():
        cells = ["yes" if judge.call(form, markers, {}) != judge.call(form, markers, {}, parallel=False) else "one"]
        for probe in PROBES.values():
            cells.append("yes" if judge.call(form, markers, {"p": probe}) else "400")
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


def written(text: str, name: str, lines: list[str]) -> str:
    """The text with the part between a table's two marks replaced."""
    begin, end = f"<!-- {name}: made by scripts/schema_coverage.py -->\n", f"<!-- end of {name} -->"
    if begin not in text or end not in text:
        raise SystemExit(f"{DOCS.name} has no place for {name}")
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    return head + begin + "\n".join(lines) + "\n" + end + tail


def main(arguments: list[str]) -> int:
    folder, judge = suite_folder(), Judge()
    keywords, wrong = keyword_table(judge, folder)
    formats, wrong_formats = format_table(judge, folder)
    before = DOCS.read_text(encoding="utf-8")
    after = before
    for name, lines in (("keywords", keywords), ("formats", formats), ("syntaxes", syntax_table(judge))):
        after = written(after, name, lines)
    for line in wrong + wrong_formats:
        print(f"wrong: {line}", file=sys.stderr)
    if wrong or wrong_formats:
        return 1
    if "--check" in arguments:
        if before != after:
            print(f"{DOCS.name} is not what a run gives: run scripts/schema_coverage.py", file=sys.stderr)
        return int(before != after)
    DOCS.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
