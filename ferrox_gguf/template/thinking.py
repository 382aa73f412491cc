"""Thinking on, off, and how much: what was asked, and how each template is told.

Precedence, strongest first: the request's `chat_template_kwargs`, the request's own fields, the `--reasoning…` flags,
`--chat-template-kwargs`, the template's default. `enable_thinking` is true when nobody says otherwise, as in
llama-server; every other switch is set only when somebody did say something. A template that raises when
`enable_thinking` is set does not get it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.jinja import CompiledTemplate
from ferrox_gguf.json_types import Json
from ferrox_gguf.request import ChatRequest
from ferrox_gguf.settings import ChatSettings
from ferrox_gguf.template.capabilities import KEEP_THOUGHTS
from ferrox_gguf.template.probe import USER, Probe, said

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""The words in use, from least to most."""

_EFFORT_NAMES = ("reasoning_effort", "reasoning_strength", "thinking_effort")

_LEAST = ("no_think", "none", "minimal", "low")
"""For a template whose only switch is the effort: the first of these that it knows is "off"."""

_UNHEARD = "an unheard of effort"

_BUDGETS = {"minimal": 512, "low": 1024, "medium": 4096}
"""Tokens, for templates that count them (Seed-OSS). More than medium is unlimited."""


@dataclass(frozen=True, slots=True)
class ThinkingChoice:
    """What was decided for one request. enabled: None when nobody said anything, which means on.

    budget: tokens, -1 unlimited.  keep: earlier turns keep their thoughts where the template can.
    """

    enabled: bool | None = None
    effort: str | None = None
    budget: int = -1
    keep: bool = True

    @property
    def on(self) -> bool:
        return self.enabled is not False


def decide(request: ChatRequest, settings: ChatSettings) -> ThinkingChoice:
    """Apply the precedence. Raises InvalidField for a keyword of the wrong type."""
    kwargs, defaults = request.template_kwargs, settings.template_kwargs
    layers = (
        (_switch(kwargs), _word(kwargs)),
        (request.thinking.enabled, request.thinking.effort),
        (settings.reasoning.enabled, settings.reasoning.effort),
        (_switch(defaults), _word(defaults)),
    )
    enabled: bool | None = None
    effort: str | None = None
    for said_switch, said_effort in layers:
        if enabled is None:
            enabled = False if said_switch is None and said_effort == "none" else said_switch
        effort = effort or said_effort
    keep = [_boolean(layer, "preserve_reasoning") for layer in (kwargs, defaults)]
    return ThinkingChoice(
        enabled=enabled,
        effort=None if effort == "none" else effort,
        budget=settings.reasoning.budget if request.thinking.budget is None else request.thinking.budget,
        keep=next((one for one in keep if one is not None), settings.reasoning.preserve),
    )


class ThinkingSwitches:
    """The switches of one template, by the names it reads.

    has_off: turning thinking off changes what it renders; otherwise `render.py` closes the block itself.
    in_words: the switch is a word in the system text (Nemotron Nano v2).
    """

    def __init__(self, template: CompiledTemplate, variables: Mapping[str, Json], *, enable_thinking: bool) -> None:
        self._reads = template.reads
        self._enable_thinking = enable_thinking
        self._probe = Probe(template, variables)
        self._efforts: dict[str, tuple[str, ...]] = {}
        self.in_words = "/no_think" in template.source and "enable_thinking" not in template.reads
        self.has_off = self.in_words or self._changes()

    @property
    def takes_effort(self) -> bool:
        """Can the template be told how much to think."""
        return any(self._read(name) for name in (*_EFFORT_NAMES, "thinking_budget"))

    def variables(self, choice: ThinkingChoice) -> dict[str, Json]:
        """What the template has to be told."""
        out: dict[str, Json] = {}
        if self._enable_thinking:
            out["enable_thinking"] = choice.on
        if choice.enabled is not None:
            out.update(self._explicit(choice.enabled))
        for name in _EFFORT_NAMES:
            word = self._effort(name, choice)
            if word is not None:
                out[name] = word
        if "thinking_budget" in self._reads and (budget := _budget(choice)) is not None:
            out["thinking_budget"] = budget
        out.update(
            {name: kept if choice.keep else not kept for name, kept in KEEP_THOUGHTS.items() if self._read(name)}
        )
        return out

    def _explicit(self, on: bool) -> dict[str, Json]:
        switches: dict[str, Json] = {
            "thinking": on,
            "reasoning": on,
            "thinking_mode": "enabled" if on else "disabled",
            "thinking_option": "on" if on else "off",
        }
        return {name: value for name, value in switches.items() if self._read(name)}

    def _read(self, name: str) -> bool:
        return name in self._reads

    def _effort(self, name: str, choice: ThinkingChoice) -> str | None:
        if not self._read(name):
            return None
        if choice.enabled is False:
            return next((word for word in _LEAST if word in self._known(name)), None)
        if choice.effort is not None:
            return self._nearest(name, choice.effort)
        # Hunyuan 3 thinks only when told how much.
        return "high" if choice.enabled and "no_think" in self._known(name) else None

    def _known(self, name: str) -> tuple[str, ...]:
        """The words that the template does not refuse; all of them where it prints whatever it is given."""
        if name not in self._efforts:
            taken = [word for word in ("no_think", *EFFORTS) if self._effort_text(name, word) is not None]
            anything = self._effort_text(name, _UNHEARD) is not None
            # A template that takes any word only means the usual three.
            self._efforts[name] = ("low", "medium", "high") if anything else tuple(taken)
        return self._efforts[name]

    def _nearest(self, name: str, word: str) -> str:
        """The client's word, or the nearest one that the template knows; of two equally near the greater effort."""
        known = [one for one in self._known(name) if one in EFFORTS]
        if word in known or word not in EFFORTS or not known or self._reads_as_is(name, word):
            return word
        at = EFFORTS.index(word)
        return min(known, key=lambda one: (abs(EFFORTS.index(one) - at), -EFFORTS.index(one)))

    def _reads_as_is(self, name: str, word: str) -> bool:
        """Words beyond the usual three that change the prompt on their own account (DeepSeek V4's `max`)."""
        asked, other = self._effort_text(name, word), self._effort_text(name, _UNHEARD)
        return asked is not None and other is not None and asked.replace(word, _UNHEARD) != other

    def _effort_text(self, name: str, word: str) -> str | None:
        variables: dict[str, Json] = {"enable_thinking": True, name: word}
        return self._probe.text([said("user", USER)], None, True, **variables)

    def _changes(self) -> bool:
        talk = [said("user", USER)]
        on, off = (
            self._probe.text(talk, None, True, **self.variables(state))
            for state in (ThinkingChoice(enabled=True), ThinkingChoice(enabled=False))
        )
        return on != off


def no_think(text: str) -> str:
    """System text with the switch word. `/think` must not stand before it: the template looks for that first."""
    return f"{text.replace('/think', '')}\n/no_think".strip()


def _switch(kwargs: Mapping[str, Json]) -> bool | None:
    switch = _boolean(kwargs, "enable_thinking")
    thinking = kwargs.get("thinking")
    return thinking if switch is None and isinstance(thinking, bool) else switch


def _word(kwargs: Mapping[str, Json]) -> str | None:
    word = kwargs.get("reasoning_effort")
    return word if isinstance(word, str) and word else None


def _boolean(kwargs: Mapping[str, Json], name: str) -> bool | None:
    value = kwargs.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise InvalidField(f"chat_template_kwargs.{name}", f"must be true or false, not {value!r}")


def _budget(choice: ThinkingChoice) -> int | None:
    if choice.enabled is False:
        return 0
    return choice.budget if choice.budget >= 0 else _BUDGETS.get(choice.effort or "")
