"""Calls whose arguments are one JSON object: what all such constraints are made of.

A syntax says how its family writes a section, as text with a few places in it; here that text becomes Lark. Its white
space is the template's own, since that is the spelling that the model has learnt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.tools.rules import LAYOUT, CallRules, alternatives, literal

_PLACE = re.compile(r"(\$[a-z_]+)")
_RAW_NAME = re.compile(r"[^\s\"'<>\[\]{}]+")
"""Names that stand between markers without quotes. Any other would end early, or look like markup."""


class JsonForm:
    """`header opener call separator call … closer`.

    call: one call, with its places: $name (as it is), $quoted (as a JSON string), $id, $arguments, and $layout (some
    white space or none).  id: what $id may be, a regular expression.  single: the family writes one call a message.
    maybe_id: what $maybe_id stands for, or is left out.  header: may be left out.
    closer: one that ends generation is left to the model's own end.
    """

    header: str = ""
    opener: str = ""
    call: str = ""
    separator: str = ""
    closer: str = ""
    id: str = ""
    maybe_id: str = ""
    single = False

    def lark(self, rules: CallRules) -> str:
        """Raises InvalidField for a name or a schema that cannot be written in this form."""
        return "\n".join(
            [
                f"start: {LAYOUT} {self._start(rules)}",
                alternatives("call", [self._call(index, rules) for index in rules.allowed]),
                *(f"arguments_{index}: {rules.arguments(index)}" for index in rules.allowed),
            ]
        )

    def _start(self, rules: CallRules) -> str:
        places = self._places(rules)
        header, opener, between = (_lark(text, rules, places) for text in (self.header, self.opener, self.separator))
        calls = "call"
        if rules.parallel and not self.single:
            calls = f"call ({between} call)*" if between else "call+"
        closer = "" if rules.ends(self.closer) else _lark(self.closer, rules, places)
        return " ".join(filter(None, (f"({header})?" if header else "", opener, calls, closer)))

    def _call(self, index: int, rules: CallRules) -> str:
        name = rules.tools[index].name
        if "$name" in self.call and not _RAW_NAME.fullmatch(name):
            raise InvalidField(f"tools.{index}.function.name", f"{name!r} cannot be written in this model's calls")
        names = {"$name": name, "$quoted": json.dumps(name, ensure_ascii=False)}
        return _lark(self.call, rules, {**self._places(rules), "$arguments": f"arguments_{index}"}, names)

    def _places(self, rules: CallRules) -> dict[str, str]:
        """What stands in each place, as Lark."""
        places = {"$id": f"/{self.id}/", "$layout": LAYOUT}
        return {**places, "$maybe_id": f"({_lark(self.maybe_id, rules, places)})?"} if self.maybe_id else places


def _lark(text: str, rules: CallRules, places: Mapping[str, str], names: Mapping[str, str] | None = None) -> str:
    """Text with places and markers in it as Lark. A name joins the text beside it: one literal is one lexeme."""
    out: list[str] = []
    plain = ""

    def end_literal() -> None:
        nonlocal plain
        if plain:
            out.append(literal(plain))
        plain = ""

    for part in _PLACE.split(text):
        if names and part in names:
            plain += names[part]
        elif part in places:
            end_literal()
            out.append(places[part])
        else:
            for piece in rules.pieces(part):
                if isinstance(piece, str):
                    plain += piece
                else:
                    end_literal()
                    out.append(f"<[{piece}]>")
    end_literal()
    return " ".join(filter(None, out))
