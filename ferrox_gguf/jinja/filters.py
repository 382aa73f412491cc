"""Filters that differ from jinja2's: JSON as Hugging Face renders it, and the bounded forms of those that can grow.

jinja2's own `tojson` sorts keys and escapes `<`, which no model was trained on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import wraps
from types import GeneratorType
from typing import Any

from jinja2 import Undefined
from jinja2 import filters as stock
from jinja2.nodes import EvalContext
from jinja2.utils import pass_eval_context

from ferrox_gguf.jinja.bounds import charge_percent, charge_replace, check_width, current


def tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: Iterable[str] | None = None,
    sort_keys: bool = False,
) -> str:
    """`json.dumps` with Hugging Face's defaults: no escaping of HTML or of non-ASCII, key order kept."""
    check_width(indent)
    item, key = separators or (None, None)
    text = json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=None if item is None or key is None else (item, key),
        sort_keys=sort_keys,
        default=_listed,
    )
    current().charge(len(text))
    return text


def _listed(value: object) -> object:
    """What `map` and `select` return are generators: templates pass them to tojson, and llama.cpp accepts that."""
    if isinstance(value, (GeneratorType, map, filter, range)):
        return list(value)
    if isinstance(value, Undefined):
        raise TypeError("tojson of an undefined value")
    raise TypeError(f"tojson of a {type(value).__name__}")


def from_json(text: object) -> object:
    """`json.loads`, for templates that read arguments given as a string; what is parsed already passes through."""
    return json.loads(text) if isinstance(text, (str, bytes)) else text


def indent(s: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    columns = len(width) if isinstance(width, str) else width
    check_width(columns)
    current().charge(len(s) + (s.count("\n") + 1) * max(columns, 0))
    return stock.do_indent(s, width, first, blank)


@pass_eval_context
def replace(eval_ctx: EvalContext, s: str, old: str, new: str, count: int | None = None) -> str:
    charge_replace(str(s), str(old), str(new))
    return stock.do_replace(eval_ctx, s, old, new, count)


@pass_eval_context
def join(eval_ctx: EvalContext, value: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    items = list(value)
    current().charge(len(str(d)) * len(items))
    text = stock.sync_do_join(eval_ctx, items, d, attribute)
    current().charge(len(text))
    return text


def format_percent(value: str, *args: object, **kwargs: object) -> str:
    charge_percent(str(value))
    return stock.do_format(value, *args, **kwargs)


def _narrow(name: str) -> Callable[..., Any]:
    """The stock filter, unless a number among its arguments asks for an absurd width."""
    unbounded: Callable[..., Any] = stock.FILTERS[name]

    @wraps(unbounded)
    def narrow(*args: object, **kwargs: object) -> Any:
        for argument in (*args[1:], *kwargs.values()):
            check_width(argument)
        return unbounded(*args, **kwargs)

    return narrow


FILTERS: dict[str, Callable[..., Any]] = {
    "tojson": tojson,
    "from_json": from_json,
    "fromjson": from_json,
    "indent": indent,
    "replace": replace,
    "join": join,
    "format": format_percent,
    "center": _narrow("center"),
    "batch": _narrow("batch"),
    "slice": _narrow("slice"),
}
