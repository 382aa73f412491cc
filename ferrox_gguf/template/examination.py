"""Finds a template's capabilities by rendering probe conversations and reading the text (wire formats, Appendix B)."""

from __future__ import annotations

import json
import re

from ferrox_gguf.jinja import CompiledTemplate
from ferrox_gguf.json_types import Json
from ferrox_gguf.template.capabilities import (
    KEEP_THOUGHTS,
    Arguments,
    Capabilities,
    ReasoningField,
    Results,
    with_reasoning,
)
from ferrox_gguf.template.probe import (
    ANSWER,
    KEY,
    LATE,
    LONG_IDS,
    RESULT,
    SECOND,
    SECOND_RESULT,
    SECOND_TOOL,
    SHORT_IDS,
    SYSTEM,
    THOUGHT,
    TOOL,
    USER,
    VALUE,
    Probe,
    call,
    parts,
    said,
    tool,
)


def examine(template: CompiledTemplate, variables: dict[str, Json]) -> Capabilities:
    """Ask a template everything. variables: what every rendering gets (bos_token, …). Some 40 small renderings."""
    return _Examination(template, variables).capabilities()


class _Examination:
    def __init__(self, template: CompiledTemplate, variables: dict[str, Json]) -> None:
        self._source = template.source
        self._probe = Probe(template, variables)
        self._string = self._shows_string()
        self._enable_thinking = self._probe.text([self._user()], enable_thinking=True) is not None
        if self._enable_thinking:
            self._probe = Probe(template, {**variables, **KEEP_THOUGHTS, "enable_thinking": True})

    def capabilities(self) -> Capabilities:
        arguments, null_content = self._call_shape()
        results = self._results(arguments, null_content) if arguments else Results.NONE
        shape = arguments or Arguments.OBJECT
        field = self._reasoning_field(shape, null_content)
        return Capabilities(
            string_content=self._string,
            part_roles=frozenset(role for role in ("system", "user", "assistant") if self._takes_parts(role)),
            system_role=self._shows([said("system", self._text(SYSTEM)), self._user()], SYSTEM, USER),
            late_system=self._late_system(),
            developer_role=self._developer(),
            same_role_twice=self._shows([self._user(), said("user", self._text(SECOND))], USER, SECOND),
            tools=self._tools(),
            tool_calls=arguments is not None,
            parallel_calls=self._parallel(shape, null_content),
            arguments=shape,
            any_arguments=self._any_arguments(null_content),
            null_content=null_content,
            content_with_calls=self._calls_show([call(TOOL, _written(shape))], self._text(ANSWER)),
            results=results,
            result_names=results is Results.TOOL_ROLE and self._result_names(shape, null_content),
            short_ids=self._short_ids(shape, null_content),
            reasoning_field=field,
            text_beside_thought=field is None or self._text_beside_thought(shape, field),
            enable_thinking=self._enable_thinking,
        )

    def _shows(self, messages: list[dict[str, Json]], *wanted: str) -> bool:
        return self._probe.shows(messages, *wanted)

    def _text(self, text: str) -> Json:
        return text if self._string else parts(text)

    def _user(self, text: str = USER) -> dict[str, Json]:
        return said("user", self._text(text))

    def _shows_string(self) -> bool:
        """A template that takes only parts walks a string letter by letter, or fails; only then are strings out."""
        if self._probe.shows([said("user", USER)], USER):
            return True
        return not self._probe.shows([said("user", parts(USER))], USER)

    def _takes_parts(self, role: str) -> bool:
        """Every part printed, as text and not as Python's or JSON's picture of a list."""
        one = said(role, parts(SECOND, LATE))
        turns = {"system": [one, self._user()], "user": [one], "assistant": [self._user(), one, self._user(ANSWER)]}
        return self._probe.shows(turns[role], SECOND, LATE, unwanted=[f"'{SECOND}'", f'"{SECOND}"'])

    def _late_system(self) -> bool:
        start, late = said("system", self._text(SYSTEM)), said("system", self._text(LATE))
        talk = [start, self._user(), said("assistant", self._text(ANSWER)), late, self._user(SECOND)]
        return self._shows(talk, SYSTEM, LATE, SECOND) and self._shows([*talk, late], SYSTEM, LATE, SECOND)

    def _developer(self) -> bool:
        """A template that prints any role it is given has not heard of this one."""
        known = re.search(r"""["']developer["']""", self._source) is not None
        return known and self._shows([said("developer", self._text(SYSTEM)), self._user()], SYSTEM, USER)

    def _tools(self) -> bool:
        for first in ([], [said("system", self._text(SYSTEM))]):
            if self._probe.shows([*first, self._user()], TOOL, KEY, tools=[tool(TOOL)]):
                return True
        return False

    def _call_turn(self, calls: list[Json], content: Json, **fields: Json) -> list[dict[str, Json]]:
        return [self._user(), said("assistant", content, tool_calls=calls, **fields)]

    def _calls_show(self, calls: list[Json], content: Json) -> bool:
        """Name, key and value of the call are there, and the key is not inside a JSON string inside JSON."""
        turn = self._call_turn(calls, content)
        return any(
            self._probe.shows(talk, TOOL, KEY, VALUE, unwanted=[f'\\"{KEY}'])
            for talk in (turn, [*turn, self._result(0)])
        )

    def _call_shape(self) -> tuple[Arguments | None, bool]:
        """The first way of writing a call that shows it whole; (None, False) when none does."""
        for content in ("", None):
            for arguments in (Arguments.OBJECT, Arguments.STRING):
                if self._calls_show([call(TOOL, _written(arguments))], content):
                    return arguments, content is None
        return None, False

    def _any_arguments(self, null: bool) -> bool:
        """A list, a word, and what a limit has cut: a call in the history may hold any of them."""
        odd: tuple[Json, ...] = ([1], VALUE, '{"a":')
        turns = (self._call_turn([call(TOOL, given)], None if null else "") for given in odd)
        return all(self._probe.text(turn) is not None for turn in turns)

    def _result(self, index: int, **fields: Json) -> dict[str, Json]:
        text = (RESULT, SECOND_RESULT)[index]
        return said("tool", text, tool_call_id=SHORT_IDS[index], **fields)

    def _two_calls(self, shape: Arguments) -> list[Json]:
        return [call(TOOL, _written(shape)), call(SECOND_TOOL, _written(shape), SHORT_IDS[1])]

    def _parallel(self, shape: Arguments, null: bool) -> bool:
        turn = self._call_turn(self._two_calls(shape), None if null else "")
        results = [self._result(0), self._result(1)]
        return self._shows(turn, TOOL, SECOND_TOOL) or self._shows([*turn, *results], TOOL, SECOND_TOOL)

    def _results(self, shape: Arguments, null: bool) -> Results:
        turn = self._call_turn([call(TOOL, _written(shape))], None if null else "")
        if self._shows([*turn, self._result(0)], RESULT) or self._shows([*turn, self._result(0, name=TOOL)], RESULT):
            return Results.TOOL_ROLE
        responses: Json = [{"name": TOOL, "response": RESULT}]
        turn[-1] = {**turn[-1], "tool_responses": responses}
        return Results.RESPONSES_FIELD if self._shows(turn, RESULT) else Results.NONE

    def _result_names(self, shape: Arguments, null: bool) -> bool:
        turn = self._call_turn([call(TOOL, _written(shape))], None if null else "")
        plain = self._probe.text([*turn, self._result(0)])
        named = self._probe.text([*turn, self._result(0, name=TOOL)])
        return named is not None and named != plain

    def _short_ids(self, shape: Arguments, null: bool) -> bool:
        def turn(ids: tuple[str, str]) -> list[dict[str, Json]]:
            called = self._call_turn([call(TOOL, _written(shape), ids[0])], None if null else "")
            return [*called, said("tool", RESULT, tool_call_id=ids[0])]

        return self._probe.text(turn(LONG_IDS)) is None and self._probe.text(turn(SHORT_IDS)) is not None

    def _reasoning_field(self, shape: Arguments, null: bool) -> ReasoningField | None:
        """Asked where templates keep thoughts: in a turn with calls, in the last turn, and in an earlier one."""
        calls: Json = [call(TOOL, _written(shape))]
        for place in ReasoningField:
            answer = with_reasoning(said("assistant", self._text(ANSWER)), THOUGHT, place)
            calling = with_reasoning(said("assistant", None if null else "", tool_calls=calls), THOUGHT, place)
            for talk in (
                [self._user(), calling, self._result(0)],
                [self._user(), answer],
                [self._user(), answer, self._user(SECOND)],
            ):
                if self._probe.shows(talk, THOUGHT, unwanted=[f"'{THOUGHT}'", f'"{THOUGHT}"']):
                    return place
        return None

    def _text_beside_thought(self, shape: Arguments, field: ReasoningField) -> bool:
        calls: Json = [call(TOOL, _written(shape))]
        both = with_reasoning(said("assistant", self._text(ANSWER), tool_calls=calls), THOUGHT, field)
        return self._probe.text([self._user(), both, self._result(0)]) is not None


def _written(shape: Arguments) -> Json:
    arguments: dict[str, Json] = {KEY: VALUE}
    return arguments if shape is Arguments.OBJECT else json.dumps(arguments)
