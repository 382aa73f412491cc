"""The constraint of MiniMax-M3: parameters are elements named by their keys, objects and lists nest them.

Where elements would be read as something else (beside a string, or with names that the schema leaves open), a container
is written as JSON text, which the parser reads as well.
"""

from __future__ import annotations

from ferrox_gguf.declared import Declared
from ferrox_gguf.grammar.tools.lines import Lines, spelled
from ferrox_gguf.grammar.tools.members import member_rules
from ferrox_gguf.grammar.tools.rules import LAYOUT, CallRules
from ferrox_gguf.grammar.tools.schemas import Branch, Members, Path, Schemas
from ferrox_gguf.grammar.tools.tagged import Form, Tagged, is_read
from ferrox_gguf.grammar.tools.texts import Ending
from ferrox_gguf.json_types import Json

MARK = "]<]minimax[>["
KEY = r"[^\s<>\"'\[\]/=&][^\s<>\"'\[\]=&]{0,200}"
CONTAINERS = frozenset({"object", "array"})


def _ending(key: str) -> Ending:
    """No text holds another tag: it would be taken for an element, or matched by depth."""
    return Ending(f"{MARK}</{key}>", words=(f"{MARK}<",))


class MiniMaxM3(Tagged):
    def __init__(self) -> None:
        super().__init__(
            Form(
                section=(f"{MARK}<tool_call>", f"{MARK}</tool_call>"),
                call=(f'{MARK}<invoke name="NAME">', f"{MARK}</invoke>"),
                head=lambda key, kind: f"{MARK}<{key}>",
                ending=Ending(""),
                key=KEY,
            )
        )

    def arguments(self, rules: CallRules, lines: Lines, schemas: Schemas) -> str:
        self._elements: dict[tuple[str, int, frozenset[str]], tuple[str, Json]] = {}
        return super().arguments(rules, lines, schemas)

    def rest(self, rules: CallRules, lines: Lines, schemas: Schemas, members: Members) -> str | None:
        if members.rest is not None and not members.properties:
            raise schemas.refuse(
                ("additionalProperties",), "members without a name cannot be enforced in this model's tool-call form"
            )
        return None

    def parameter(
        self, rules: CallRules, lines: Lines, schemas: Schemas, key: str, node: Json, declared: Declared, path: Path
    ) -> str:
        known = (key, id(node), declared.types)
        if known not in self._elements:
            name = lines.name("element")
            self._elements[known] = (name, node)
            lines.define(name, self._element(rules, lines, schemas, key, node, declared, path))
        return self._elements[known][0]

    def _element(
        self, rules: CallRules, lines: Lines, schemas: Schemas, key: str, node: Json, declared: Declared, path: Path
    ) -> str:
        types, ending = declared.types, _ending(key)
        nests = len(types & CONTAINERS) == 1 and "string" not in types
        nested: list[str] = []
        flat: list[Branch] = []
        for branch in schemas.branches(node, path):
            inner = None
            if nests and is_read(branch.kind, types):
                inner = self._nested(rules, lines, schemas, branch, declared, path)
            if inner is None:
                flat.append(branch)
            else:
                nested.append(f"{LAYOUT} {inner} {spelled(rules, ending.marker)}")
        if flat or not nested:
            nested.append(self.value(rules, lines, schemas, flat, types, path, ending))
        inside = nested[0] if len(nested) == 1 else lines.rule("\n | ".join(nested), "inside")
        return f"{spelled(rules, self.form.head(key, ''))} {inside}"

    def _nested(
        self, rules: CallRules, lines: Lines, schemas: Schemas, branch: Branch, declared: Declared, path: Path
    ) -> str | None:
        """Elements inside an element; None where the value is no container, or is written as JSON."""
        schema = branch.schema
        if branch.values is not None:
            return None
        if branch.kind == "array" and "prefixItems" not in schema:
            if schema.get("maxItems") == 0 or schema.get("items") is False:
                return '""'
            item = self.parameter(
                rules, lines, schemas, "item", schema.get("items", {}), declared.item(), (*path, "items")
            )
            least, most = schema.get("minItems", 0), schema.get("maxItems", "")
            return f"({item} {LAYOUT}){{{least},{most}}}"
        if branch.kind != "object" or not schema.get("properties") or schema.get("patternProperties"):
            return None
        members = schemas.members(branch, path)

        def write(key: str, where: Path) -> str:
            self.require_key(schemas, key, where)
            node, of_member = members.properties[key], declared.member(key)
            return f"{self.parameter(rules, lines, schemas, key, node, of_member, where)} {LAYOUT}"

        return member_rules(schemas, lines, members, path, write)
