"""The members of an object, in any order, each at most once, the required ones at least once.

llguidance's rules take a number of 64 bits as parameter: here, the set of members that were written. A larger object's
members come in the schema's order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ferrox_gguf.grammar.tools.lines import Lines
from ferrox_gguf.grammar.tools.schemas import Members, Path, Schemas

_BITS = 64


def member_rules(
    schemas: Schemas,
    lines: Lines,
    members: Members,
    path: Path,
    write: Callable[[str, Path], str],
    rest: str | None = None,
    separator: str = "",
) -> str:
    """Lark for all members between an object's brackets, whatever these are.

    write: Lark for one member, given its name and the schema's path.  rest: Lark for a member that is not declared.
    separator: Lark for what stands between two.
    """
    names = list(members.properties)
    written = {name: lines.rule(write(name, (*path, "properties", name)), "m") for name in names}
    needed = sorted(members.required & written.keys(), key=names.index)
    if members.required - written.keys():
        raise schemas.refuse(
            (*path, "required"), "a member that is not declared cannot be required in this model's tool-call form"
        )
    if members.least > len(names) or (members.most is not None and members.most < len(needed)):
        raise schemas.refuse(path, "the number of members cannot be enforced in this model's tool-call form")
    if len(names) > _BITS:
        if members.least > len(needed) or members.most is not None:
            raise schemas.refuse(path, f"the number of members cannot be enforced where more than {_BITS} are declared")
        return _in_order(lines, names, written, set(needed), separator)
    return _any_order(lines, written, needed, members, rest if members.most is None else None, separator)


def _any_order(
    lines: Lines,
    written: Mapping[str, str],
    needed: Sequence[str],
    members: Members,
    rest: str | None,
    separator: str,
) -> str:
    if not written and rest is None:
        return '""'
    bits = {name: bit for bit, name in enumerate(written)}
    complete = [f"bit_set({bits[name]})" for name in needed]
    if members.least > len(needed):
        complete.append(f"bit_count_ge(_, {members.least})")
    room = [] if members.most is None else [f"bit_count_lt(_, {members.most})"]
    some, more = lines.name("some"), lines.name("more")
    # A separator is written only where a member is left: behind it there is no way back.
    left = [] if rest is not None else [f"not(is_ones([0:{len(bits)}]))", *room]
    following = f"{separator} {some}::_".strip() + _condition(left)
    lines.define(f"{more}::_", f'""{_condition(complete)}\n | {following}')
    entries = [
        f"{rule} {more}::set_bit({bits[name]}){_condition([f'bit_clear({bits[name]})', *room])}"
        for name, rule in written.items()
    ]
    if rest is not None:
        entries.append(f"{rest} {more}::_")
    lines.define(f"{some}::_", "\n | ".join(entries))
    return f'({some}::0x0 | "")' if not complete else f"{some}::0x0"


def _condition(terms: Sequence[str]) -> str:
    if not terms:
        return ""
    whole = terms[0]
    for term in terms[1:]:
        whole = f"and({whole}, {term})"
    return f" %if {whole}"


def _in_order(lines: Lines, names: Sequence[str], written: Mapping[str, str], needed: set[str], separator: str) -> str:
    """From the last member to the first: what may follow when something stands before, and when nothing does."""
    first, later = '""', '""'
    for name in reversed(names):
        entry = lines.rule(f"{written[name]} {later}", "o")
        after, before = f"{separator} {entry}".strip(), entry
        if name not in needed:
            after, before = f"({after} | {later})", f"({before} | {first})"
        later, first = lines.rule(after, "o"), lines.rule(before, "o")
    return first
