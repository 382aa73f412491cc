"""`ferrox-gguf inspect`: what a file says of itself, how its model speaks, and how that was found out.

Reads the header only: no weights, no llama.cpp.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence

from ferrox_gguf.cli.subject import Subject, add_subject_flags, subject_of
from ferrox_gguf.errors import FerroxError
from ferrox_gguf.gguf import FileFacts, NamedToken
from ferrox_gguf.json_types import Json
from ferrox_gguf.posture.values import Posture


def run(arguments: Sequence[str]) -> int:
    """Print what was found. Exit status 1, and one line on standard error, when nothing can be."""
    parser = argparse.ArgumentParser(prog="ferrox-gguf inspect", description=__doc__.split("\n")[0])
    add_subject_flags(parser, positional=True)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    given = parser.parse_args(arguments)
    try:
        subject = subject_of(given)
        found = inspected(subject)
    except FerroxError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if given.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        print("\n".join(_lines(found)))
    return 0


def inspected(subject: Subject) -> dict[str, Json]:
    """Everything, as JSON: the file, its template, the posture, and that for requests with tools where it differs."""
    plain, with_tools = subject.posture(), subject.posture(tools=True)
    found: dict[str, Json] = {}
    if subject.facts is not None:
        found["file"] = file_json(subject.facts)
    template = subject.template
    variants: list[Json] = list(subject.facts.named_templates) if subject.facts else []
    found["template"] = {
        "origin": template.origin,
        "characters": len(template.source),
        "variants": variants,
        "notes": list(template.notes),
    }
    found["posture"] = posture_json(plain)
    if with_tools != plain:
        found["posture_with_tools"] = posture_json(with_tools)
    return found


def file_json(facts: FileFacts) -> dict[str, Json]:
    return {
        "path": facts.path,
        "files": list(facts.files),
        "bytes": facts.size,
        "gguf_version": facts.version,
        "architecture": facts.architecture,
        "name": facts.name,
        "basename": facts.basename,
        "finetune": facts.finetune,
        "size_label": facts.size_label,
        "parameters": facts.parameters,
        "quantization": facts.quantization,
        "context_length": facts.context_length,
        "tokenizer": facts.tokenizer,
        "pre_tokenizer": facts.pre_tokenizer,
        "vocabulary_size": facts.vocabulary_size,
        "special_tokens": len(facts.special_tokens),
        "bos": _token_json(facts.bos),
        "eos": _token_json(facts.eos),
        "eot": _token_json(facts.eot),
        "eom": _token_json(facts.eom),
        "add_bos": facts.add_bos,
        "add_eos": facts.add_eos,
    }


def posture_json(posture: Posture) -> dict[str, Json]:
    reasoning = posture.reasoning
    markers = posture.call_markers
    return {
        "family": posture.family,
        "reasoning_format": reasoning.name if reasoning else None,
        "reasoning_opener": reasoning.opener if reasoning else None,
        "reasoning_closer": reasoning.closer if reasoning else None,
        "answer_wrapper": list(reasoning.wrapper) if reasoning and reasoning.wrapper else None,
        "reasoning_protocol": posture.protocol.value,
        "tool_format": posture.tool_format,
        "call_markers": {name: getattr(markers, name) for name in markers.__slots__} if markers else None,
        "calls_interrupt_thoughts": posture.calls_interrupt,
        "string_stops": list(posture.string_stops),
        "evidence": list(posture.evidence),
    }


def _token_json(token: NamedToken | None) -> Json:
    return None if token is None else {"id": token.id, "text": token.text}


def _lines(found: dict[str, Json]) -> Iterator[str]:
    for section, title in (
        ("file", "File"),
        ("template", "Chat template"),
        ("posture", "How it speaks"),
        ("posture_with_tools", "How it speaks when tools are offered"),
    ):
        facts = found.get(section)
        if not isinstance(facts, dict):
            continue
        yield title
        for name, value in facts.items():
            if name == "evidence" or value is None or value == []:
                continue
            yield f"  {name.replace('_', ' '):26}{_shown(value)}"
        evidence = facts.get("evidence")
        if isinstance(evidence, list):
            yield "  evidence"
            yield from (f"    - {sentence}" for sentence in evidence)
        yield ""


def _shown(value: Json) -> str:
    if isinstance(value, dict):
        if set(value) == {"id", "text"}:
            return f"{value['text']} (id {value['id']})"
        return ", ".join(f"{name} {item!r}" for name, item in value.items() if item)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value).replace("\n", "\\n")
