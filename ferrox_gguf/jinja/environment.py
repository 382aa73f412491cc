"""The sandbox in which chat templates run: Hugging Face's settings, with the bounds of `bounds.py` built in.

The mutable sandbox, not the immutable one: templates of the Kimi K2 family append to and pop from their own lists.
`compiled.py` gives them copies, so nothing of ours can change.

How the bounds get in: every loop and macro body begins with a look at `environment.ticked`, a node that the parser
cannot produce (no template can name, shadow or replace it), and the result of every `~` is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import Any

from jinja2 import nodes
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import SandboxedEnvironment, SandboxedFormatter
from jinja2.visitor import NodeTransformer

from ferrox_gguf.errors import TemplateRefused
from ferrox_gguf.jinja.bounds import (
    BoundExceeded,
    charge_percent,
    charge_replace,
    check_items,
    check_spec,
    check_width,
    current,
)
from ferrox_gguf.jinja.filters import FILTERS
from ferrox_gguf.jinja.generation import GenerationTag

_POWER = 64
"""Largest exponent; templates have no use for any, and 9 ** 9 ** 9 fills memory."""


_MEASURED = "the length of a concatenation is measured"
"""Name of the filter around every `~`; not a name that a template can write."""

_DICT_ATTRIBUTES = frozenset(dir(dict))
_SAFE: dict[type, frozenset[str]] = {
    str: frozenset(name for name in dir(str) if not name.startswith(("_", "format"))),
    LoopContext: frozenset(["index0", *(name for name in dir(LoopContext) if not name.startswith("_"))]),
}


class ChatEnvironment(SandboxedEnvironment):
    """Compiles chat templates. One instance serves every template; it holds no state of a rendering."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", GenerationTag])
        self.filters.update(FILTERS)
        self.filters[_MEASURED] = _measured
        self.globals.pop("lipsum")
        self.globals["raise_exception"] = _raise_exception
        self.concat = _concat  # type: ignore[method-assign, assignment]

    @property
    def ticked(self) -> str:
        """Read at every turn of a loop: the cheapest thing that compiled code can be made to do."""
        current().tick()
        return ""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """As the sandbox decides it, with a short way for what templates read most."""
        if type(obj) is dict and attribute not in _DICT_ATTRIBUTES:
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
        if attribute in _SAFE.get(type(obj), ()):
            return getattr(obj, attribute)
        return super().getattr(obj, attribute)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "+":
            return _measured(left + right)
        if operator == "*":
            _check_product(left, right)
        elif operator == "**":
            if isinstance(right, (int, float)) and abs(right) > _POWER:
                raise BoundExceeded(f"it raises to the power of {right}")
        elif isinstance(left, str):
            charge_percent(left)
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        check = _METHOD_CHECKS.get(getattr(__obj, "__name__", None) or "")
        if check is not None:
            check(getattr(__obj, "__self__", None), args)
        return super().call(__context, __obj, *args, **kwargs)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        if super().wrap_str_format(value) is None:
            return None
        text, fields = value.__self__, value.__name__ == "format_map"
        formatter = _NarrowFormatter(self)

        def format_text(*args: Any, **kwargs: Any) -> str:
            named: Mapping[str, Any] = args[0] if fields else kwargs
            return formatter.vformat(str(text), () if fields else args, named)

        return format_text

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        bounded = _Bounded(self).visit(tree)
        assert isinstance(bounded, nodes.Template)
        return bounded


class _Bounded(NodeTransformer):
    """Puts the looks at the clock and the measuring into a parsed template."""

    def __init__(self, environment: ChatEnvironment) -> None:
        self._environment = environment

    def _ticking(self, node: nodes.For | nodes.Macro | nodes.CallBlock) -> nodes.Node:
        self.generic_visit(node)
        look = nodes.EnvironmentAttribute("ticked", lineno=node.lineno, environment=self._environment)
        node.body.insert(0, nodes.ExprStmt(look, lineno=node.lineno))
        return node

    visit_For = visit_Macro = visit_CallBlock = _ticking

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        line, environment = node.lineno, self._environment
        return nodes.Filter(node, _MEASURED, [], [], None, None, lineno=line, environment=environment)


class _NarrowFormatter(SandboxedFormatter):
    """`str.format` for templates: the sandbox's attribute rules, and no absurd widths."""

    def format_field(self, value: Any, format_spec: str) -> str:
        check_spec(format_spec)
        return str(Formatter.format_field(self, value, format_spec))


def _measured(value: object) -> object:
    """A value that an operator has just built. It is at most twice what was there before, so afterwards is in time."""
    if isinstance(value, str):
        current().charge(len(value))
    elif isinstance(value, (list, tuple)):
        check_items(len(value))
    return value


def _raise_exception(message: object) -> None:
    """What a template calls to refuse a conversation."""
    raise TemplateRefused(str(message))


def _concat(pieces: Sequence[str]) -> str:
    """How compiled code joins what a macro or a block printed."""
    pieces = list(pieces)
    current().charge(sum(map(len, pieces)))
    return "".join(pieces)


def _check_product(left: Any, right: Any) -> None:
    for value, times in ((left, right), (right, left)):
        if isinstance(value, (str, list, tuple)) and isinstance(times, int):
            check_width(times)
            if isinstance(value, str):
                current().charge(len(value) * max(times, 0))
            else:
                check_items(len(value) * max(times, 0))


def _check_padding(receiver: object, arguments: tuple[Any, ...]) -> None:
    for argument in arguments:
        check_width(argument)


def _check_replace(receiver: object, arguments: tuple[Any, ...]) -> None:
    if isinstance(receiver, str) and len(arguments) >= 2:
        charge_replace(receiver, str(arguments[0]), str(arguments[1]))


def _check_join(receiver: object, arguments: tuple[Any, ...]) -> None:
    if isinstance(receiver, str) and arguments and isinstance(arguments[0], (list, tuple)):
        current().charge(sum(len(item) for item in arguments[0] if isinstance(item, str)))
        current().charge(len(receiver) * len(arguments[0]))


def _check_extend(receiver: object, arguments: tuple[Any, ...]) -> None:
    if isinstance(receiver, list) and arguments and isinstance(arguments[0], (list, tuple, str)):
        check_items(len(receiver) + len(arguments[0]))


_METHOD_CHECKS: dict[str, Callable[[object, tuple[Any, ...]], None]] = {
    "ljust": _check_padding,
    "rjust": _check_padding,
    "center": _check_padding,
    "zfill": _check_padding,
    "expandtabs": _check_padding,
    "replace": _check_replace,
    "join": _check_join,
    "extend": _check_extend,
}
