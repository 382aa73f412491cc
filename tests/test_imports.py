"""The import rule, read off the source: imports point down the floors, and rooms on one floor keep to themselves."""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "ferrox_gguf"

FLOORS = (
    {"request", "events", "settings", "errors", "json_types", "declared"},
    {"gguf", "jinja", "llama"},
    {"posture"},
    {"template", "grammar", "output", "engine"},
    {"runtime", "wire"},
    {"server"},
    {"cli"},
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


def imports(path: Path) -> Iterator[str]:
    """Dotted names of everything a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the floor they come from"
            module = node.module or ""
            yield from (f"{module}.{alias.name}" for alias in node.names)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def sources() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


def breaks(importer: str, imported: str) -> bool:
    """Is this import against the rule? Values of floor 0 may use each other."""
    if importer == imported or FLOOR[importer] == FLOOR[imported] == 0:
        return False
    return FLOOR[importer] <= FLOOR[imported]


def test_every_room_has_a_floor():
    assert {room_of(path) for path in sources()} <= FLOOR.keys()


def test_imports_point_down():
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in sources()
        for name in imports(path)
        if name.startswith("ferrox_gguf.") and (room := name.split(".")[1]) in FLOOR and breaks(room_of(path), room)
    ]
    assert wrong == []


def test_the_rule_itself_can_be_broken():
    assert breaks("engine", "output")
    assert breaks("output", "runtime")
    assert not breaks("runtime", "engine")
    assert not breaks("settings", "request")


def test_only_the_llama_room_knows_llama_cpp():
    wrong = {
        str(path.relative_to(PACKAGE))
        for path in sources()
        for name in imports(path)
        if name.split(".")[0] == "llama_cpp" and room_of(path) != "llama"
    }
    assert wrong == set()
