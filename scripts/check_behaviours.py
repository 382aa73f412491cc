"""Fails when a behaviour that the user specified has no test: `python scripts/check_behaviours.py`.

A test is marked `@pytest.mark.behaviour("C3")`. Marks are read from the source, so that this runs without importing
anything; a number in `parametrize(..., marks=...)` counts too, since it is the same call.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"

# C: counting reasoning tokens. O: reading the output. P: a template's reasoning protocol. K: continuing a message.
WANTED: tuple[str, ...] = (
    *(f"C{number}" for number in range(1, 13)),
    *(f"O{number}" for number in range(1, 13)),
    *(f"P{number}" for number in range(1, 11)),
    *(f"K{number}" for number in range(1, 12)),
    "K5b",
    "K5c",
)


def marked(folder: Path) -> dict[str, list[str]]:
    """Number → the tests (file::function) that carry it."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        for test, number in _marks(ast.parse(path.read_text(encoding="utf-8"))):
            found.setdefault(number, []).append(f"{path.relative_to(folder)}::{test}")
    return found


def _marks(module: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_"):
            for decorator in node.decorator_list:
                yield from ((node.name, number) for number in _numbers(decorator))


def _numbers(decorator: ast.expr) -> Iterator[str]:
    for call in ast.walk(decorator):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.behaviour":
            yield from (arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))


def main(folder: Path = TESTS) -> int:
    found = marked(folder)
    missing = [number for number in WANTED if number not in found]
    unheard = sorted(set(found) - set(WANTED))
    for number in missing:
        print(f"{number}: no test is marked with it")
    for number in unheard:
        print(f"{number}: there is no such behaviour, but {', '.join(found[number])} is marked with it")
    print(f"{len(WANTED) - len(missing)} of {len(WANTED)} behaviours have a test")
    return 1 if missing or unheard else 0


if __name__ == "__main__":
    sys.exit(main())
