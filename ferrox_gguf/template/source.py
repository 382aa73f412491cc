"""Which template serves this model: the flag's, else the file's own (corrected where known to be broken), else ChatML.

A value without `{%` or `{{` is the name of one of our own files. A file may bring a second template for conversations
with tools (`tool_use`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ferrox_gguf.errors import StartupError, TemplateBroken
from ferrox_gguf.jinja import compile_template
from ferrox_gguf.template import named
from ferrox_gguf.template.fixes import corrected

_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")
_FALLBACK = "chatml"


@dataclass(frozen=True, slots=True)
class TemplateChoice:
    """The templates of one server. origin: where the source comes from, for people.

    tool_use: the variant for requests with tools.  explicit: somebody (a flag or the file) brought a template.
    notes: what a person should hear at start.
    """

    source: str
    origin: str
    tool_use: str | None = None
    explicit: bool = True
    notes: tuple[str, ...] = ()

    def serving(self, *, tools: bool) -> str:
        """The source that renders a request with or without tools."""
        return self.tool_use if tools and self.tool_use is not None else self.source


def choose_template(
    given: str | None,
    embedded: str | None,
    variants: Mapping[str, str] | None = None,
    *,
    given_origin: str = "--chat-template",
) -> TemplateChoice:
    """Choose. given: the flag's name or Jinja text; embedded, variants: the GGUF's default and named templates.

    Raises StartupError for a name that is not known, TemplateBroken for a source that cannot be compiled.
    """
    if given:
        return _given(given, given_origin)
    notes: list[str] = []
    tool_use = _tool_use(variants or {}, notes)
    source, origin = _of_file(embedded, variants or {}, notes)
    if source is None and tool_use is not None:
        source, origin, tool_use = tool_use, "the file's tool_use template, its only one", None
    if source is None:
        notes.append("the file has no chat template: ChatML is used; give the right one with --chat-template")
        return TemplateChoice(_built_in(_FALLBACK), "ChatML, as the file has no template", None, False, tuple(notes))
    source = _fixed(source, notes)
    compile_template(source)
    return TemplateChoice(source, origin, tool_use, True, tuple(notes))


def _given(value: str, origin: str) -> TemplateChoice:
    if _is_jinja(value):
        notes: list[str] = []
        source = _fixed(value, notes)
        compile_template(source)
        return TemplateChoice(source, origin, notes=tuple(notes))
    name = value.strip()
    source_of_name = named.source(name)
    if source_of_name is not None:
        return TemplateChoice(source_of_name, f"{origin} {name} (built in)")
    if _NAME.fullmatch(name):
        near = difflib.get_close_matches(name, named.names(), 3, 0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"the names are {', '.join(named.names())}"
        raise StartupError(f"{origin}: there is no built-in template {name!r}; {hint}")
    # Plain words are a template too: one that prints itself whatever is said (llama-server takes them so).
    return TemplateChoice(value, origin)


def _of_file(embedded: str | None, variants: Mapping[str, str], notes: list[str]) -> tuple[str | None, str]:
    value = embedded or _variant(variants, "default") or ""
    if _is_jinja(value):
        return value, "the file's own template"
    name = value.strip()
    if not name or (name == _FALLBACK and _variant(variants, "tool_use")):
        return None, ""
    source = named.source(name)
    if source is None:
        notes.append(f"the file names the template {name!r}, which is not known here")
        return None, ""
    return source, f"the file names the built-in template {name}"


def _tool_use(variants: Mapping[str, str], notes: list[str]) -> str | None:
    source = _variant(variants, "tool_use")
    if source is None:
        return None
    source = _fixed(source, notes)
    try:
        compile_template(source)
    except TemplateBroken as error:
        notes.append(f"the file's tool_use template is ignored: {error}")
        return None
    return source


def _variant(variants: Mapping[str, str], wanted: str) -> str | None:
    """Names are compared by their letters, digits and underscores only, as converters reduce them."""
    for name, source in variants.items():
        if re.sub(r"[^A-Za-z0-9_]", "_", name) == wanted:
            return source
    return None


def _fixed(source: str, notes: list[str]) -> str:
    source, applied = corrected(source)
    notes += [f"the template was corrected: {name} (chat_templates/fixes)" for name in applied]
    return source


def _is_jinja(value: str) -> bool:
    return "{%" in value or "{{" in value


def _built_in(name: str) -> str:
    source = named.source(name)
    assert source is not None, f"chat_templates/{name}.jinja is part of the package"
    return source
