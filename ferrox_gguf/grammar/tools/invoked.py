"""The constraint of `<invoke name="NAME"><parameter name="KEY">VAL</parameter></invoke>` and its relatives."""

from __future__ import annotations

from ferrox_gguf.declared import UNDECLARED, Declared
from ferrox_gguf.grammar.tools.tagged import Form, Head, Tagged
from ferrox_gguf.grammar.tools.texts import Ending, forgotten


class Invoked(Tagged):
    """prefix: what the names of the elements begin with.  elements: their names.  undeclared: as in `Form`.
    words: what no value may hold."""

    def __init__(
        self,
        prefix: str = "",
        elements: tuple[str, str] = ("invoke", "parameter"),
        section: tuple[str, str] = ("", ""),
        *,
        head: Head | None = None,
        undeclared: Declared = UNDECLARED,
        words: tuple[str, ...] = (),
    ) -> None:
        invoke, parameter = (f"{prefix}{word}" for word in elements)
        end = f"</{invoke}>"
        never = (forgotten([end, *filter(None, (section[1],))], f"<{invoke} name="),)
        super().__init__(
            Form(
                section=section,
                call=(f'<{invoke} name="NAME">', end),
                head=head or (lambda key, kind: f'<{parameter} name="{key}">'),
                ending=Ending(f"</{parameter}>", never, words=words),
                said=head is not None,
                said_wins=head is not None,
                undeclared=undeclared,
            )
        )
