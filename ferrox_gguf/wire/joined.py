"""A whole answer: the events of one generation, joined. What is not streamed is this, so both always agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ferrox_gguf.events import (
    ContentDelta,
    Finish,
    ReasoningDelta,
    Step,
    StopType,
    TokenInfo,
    ToolCallArguments,
    ToolCallStart,
)


@dataclass(slots=True)
class JoinedCall:
    name: str
    id: str | None
    arguments: str = ""


@dataclass(slots=True)
class Passage:
    """A run of one kind in the order of writing. call: the call it is; else thought tells reasoning from content."""

    text: str = ""
    thought: bool = False
    call: JoinedCall | None = None


@dataclass(slots=True)
class Joined:
    """One choice from its first step to its finish. passages: the same output in the order in which it was written."""

    content: str = ""
    reasoning: str = ""
    calls: list[JoinedCall] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    infos: list[TokenInfo] = field(default_factory=list)
    finish: Finish | None = None
    cut_call: bool = False
    passages: list[Passage] = field(default_factory=list)
    _shown: int = 0

    def add(self, step: Step) -> None:
        for event in step.events:
            if isinstance(event, ContentDelta):
                self.content += event.text
                self._passage(thought=False).text += event.text
            elif isinstance(event, ReasoningDelta):
                self.reasoning += event.text
                self._passage(thought=True).text += event.text
            elif isinstance(event, ToolCallStart):
                self.calls.append(JoinedCall(event.name, event.id))
                self.passages.append(Passage(call=self.calls[-1]))
            elif isinstance(event, ToolCallArguments):
                self.calls[event.index].arguments += event.fragment
            else:
                self.cut_call = not event.whole
        self.tokens += step.tokens
        self.infos += step.infos
        if step.events:
            self._shown = len(self.infos)
        if step.finish:
            self.finish = step.finish
            if step.finish.stop_type is StopType.WORD:
                # Tokens of which nothing was shown belong to the stop string.
                del self.infos[self._shown :]

    def _passage(self, *, thought: bool) -> Passage:
        last = self.passages[-1] if self.passages else None
        if last is None or last.call is not None or last.thought is not thought:
            last = Passage(thought=thought)
            self.passages.append(last)
        return last

    @property
    def ended(self) -> Finish:
        """The finish, which every choice of a complete answer has."""
        assert self.finish is not None
        return self.finish


def join(steps: Iterable[Step], choices: int) -> list[Joined]:
    joined = [Joined() for _ in range(choices)]
    for step in steps:
        joined[step.choice].add(step)
    return joined


def finish_reason(finish: Finish, cut_call: bool) -> str:
    """OpenAI's word. A limit always wins; a call that a stop string cut is not one to execute either."""
    if finish.stop_type is StopType.LIMIT or cut_call:
        return "length"
    return "tool_calls" if finish.called else "stop"
