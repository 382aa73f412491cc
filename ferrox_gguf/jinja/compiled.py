"""Source text → a template that renders conversations. The room's only door; everything else here serves it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

import jinja2
from jinja2 import meta

from ferrox_gguf.errors import TemplateBroken, TemplateFailed, TemplateRefused
from ferrox_gguf.jinja.bounds import BoundExceeded, Budget, current
from ferrox_gguf.jinja.environment import ChatEnvironment
from ferrox_gguf.json_types import Json, JsonObject

Clock = Callable[[], datetime]
"""What time it is, for templates that print a date. A fixed one makes prompts, and so cached prefixes, repeatable."""

_FILENAME = "<template>"
"""jinja2's name for a template without a file: frames of this name in a traceback carry template line numbers."""


@dataclass(frozen=True, slots=True)
class CompiledTemplate:
    """A chat template, ready to render; safe to share between threads.

    reads: the variables it looks up that it does not define itself (`enable_thinking`, `tools`, `bos_token`, …).
    """

    source: str
    reads: frozenset[str]
    _template: jinja2.Template = field(repr=False)
    _clock: Clock = field(repr=False)

    def render(
        self,
        messages: Sequence[JsonObject],
        tools: Sequence[JsonObject] | None = None,
        add_generation_prompt: bool = False,
        **variables: Json,
    ) -> str:
        """The prompt text of a conversation. Inputs are copied: a template may change what it is given.

        A variable that is left out is undefined, `tools` too when there are none (as in llama-server: the `tool_use`
        templates loop over it unasked); `date_string`, `datetime` and `functions` have defaults.
        Raises TemplateRefused with the template's own words, or TemplateFailed when it breaks on this conversation or
        costs more than `bounds.py` allows.
        """
        now = self._clock()
        given: dict[str, object] = {
            "datetime": now.strftime("%b %d %Y"),
            "date_string": now.strftime("%d %b %Y"),
            "strftime_now": now.strftime,
            "messages": [_copy(dict(message)) for message in messages],
            "add_generation_prompt": add_generation_prompt,
            "functions": _functions_text(tools or ()),
        }
        if tools or _expects_none(self.source):
            given["tools"] = [_copy(dict(tool)) for tool in tools] if tools else None
        given.update({name: _copy(value) for name, value in variables.items()})
        try:
            with Budget():
                return _joined(self._template.generate(given))
        except TemplateRefused:
            raise
        except Exception as error:
            # Whatever a template does wrong (a missing key, None + str, too deep a recursion) is one thing to a client.
            raise TemplateFailed(_told(error)) from error


def compile_template(source: str, *, clock: Clock = datetime.now) -> CompiledTemplate:
    """Compile a chat template (cached by its text). Raises TemplateBroken when it is not valid Jinja."""
    template, reads = _compiled(source)
    return CompiledTemplate(source, reads, template, clock)


@lru_cache(maxsize=128)
def _compiled(source: str) -> tuple[jinja2.Template, frozenset[str]]:
    environment = _environment()
    try:
        reads = frozenset(meta.find_undeclared_variables(environment.parse(source)))
        return environment.from_string(source), reads
    except jinja2.TemplateSyntaxError as error:
        raise TemplateBroken(f"{error.message} (line {error.lineno})") from error
    except (RecursionError, ValueError, OverflowError, SyntaxError, MemoryError) as error:
        # Python's own compiler may refuse what jinja2 made of it: nesting too deep, a number too long.
        raise TemplateBroken(f"it cannot be compiled: {error}") from error


@lru_cache(maxsize=1)
def _environment() -> ChatEnvironment:
    return ChatEnvironment()


def _joined(pieces: Iterable[str]) -> str:
    budget, out = current(), []
    for piece in pieces:
        budget.charge(len(piece))
        out.append(piece)
    return "".join(out)


def _expects_none(source: str) -> bool:
    """Hugging Face passes None where there are no tools: a template that relies on it tests for it, and only for it."""
    return "tools is not none" in source and "tools is defined" not in source


def _functions_text(tools: Sequence[JsonObject]) -> str:
    """FireFunction's way of taking tools: the bare functions, already written as JSON."""
    return json.dumps([tool.get("function", tool) for tool in tools], indent=4, ensure_ascii=False)


def _copy(value: object) -> object:
    """A deep copy of JSON; several times faster than copy.deepcopy, which matters for a long history."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copy(item) for item in value]
    return value


def _told(error: Exception) -> str:
    """What went wrong and in which line of the template."""
    reason = "it runs too deep" if isinstance(error, RecursionError) else str(error) or type(error).__name__
    what = "takes more than a rendering may" if isinstance(error, BoundExceeded) else "failed on this conversation"
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _FILENAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"the chat template {what}: {reason}" + (f" (line {line})" if line is not None else "")
