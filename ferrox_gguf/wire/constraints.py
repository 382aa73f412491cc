"""The fields that constrain the output's shape: `json_schema`, `grammar` with its triggers, `response_format`."""

from __future__ import annotations

import orjson

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.request import GrammarKind, GrammarSpec, GrammarTrigger
from ferrox_gguf.wire.fields import boolean, kind, mapping, string

TRIGGER_KINDS = ("token", "word", "pattern", "pattern_full")
"""llama-server's numbers, in order."""


def parse_constraint(body: JsonObject) -> GrammarSpec | None:
    """What `response_format`, `json_schema` or `grammar` ask for. No route takes one of them and does nothing."""
    asked = parse_response_format(body)
    if asked is not None:
        return asked
    source = string(body, "grammar")
    if not source:
        schema = body.get("json_schema")
        return None if schema is None else schema_constraint(schema, "json_schema", body)
    lazy = boolean(body, "grammar_lazy", False)
    triggers = parse_triggers(body)
    if lazy and not triggers:
        raise InvalidField("grammar_triggers", "a lazy grammar needs at least one trigger")
    return GrammarSpec(GrammarKind.GBNF, source, lazy, triggers, starts_after_reasoning(body))


def parse_chat_constraint(body: JsonObject) -> GrammarSpec | None:
    """As parse_constraint; where both could be meant, none is guessed (in `/completion` the grammar wins)."""
    if body.get("json_schema") is not None and string(body, "grammar"):
        raise InvalidField("grammar", "json_schema and grammar exclude each other")
    return parse_constraint(body)


def parse_response_format(body: JsonObject) -> GrammarSpec | None:
    """OpenAI's `response_format`, with llama-server's `schema` beside `json_object`."""
    wanted = mapping(body, "response_format")
    name = string(wanted, "type")
    if name == "json_object":
        schema = wanted.get("schema")
        if schema is None:
            schema = body.get("json_schema")
        return schema_constraint({} if schema is None else schema, "response_format.schema", body)
    if name == "json_schema":
        wrapper = mapping(wanted, "json_schema")
        return schema_constraint(wrapper.get("schema", {}), "response_format.json_schema.schema", body)
    if name not in ("", "text"):
        raise InvalidField("response_format", f'type must be "text", "json_object" or "json_schema", but got "{name}"')
    return None


def schema_constraint(schema: Json, field: str, body: JsonObject) -> GrammarSpec:
    """An empty schema means any object, as JSON mode does."""
    if not isinstance(schema, (dict, bool)):
        raise InvalidField(field, f"must be a JSON Schema object, not {kind(schema)}")
    if schema is False:
        raise InvalidField(field, "false allows no output at all")
    source = orjson.dumps({"type": "object"} if schema == {} else schema).decode()
    return GrammarSpec(GrammarKind.JSON_SCHEMA, source, after_reasoning=starts_after_reasoning(body))


def starts_after_reasoning(body: JsonObject) -> bool:
    """`grammar_after_reasoning: false` constrains from the first token on."""
    return boolean(body, "grammar_after_reasoning", True)


def parse_triggers(body: JsonObject) -> tuple[GrammarTrigger, ...]:
    triggers = body.get("grammar_triggers")
    if triggers is None:
        return ()
    if not isinstance(triggers, list):
        raise InvalidField("grammar_triggers", f"must be an array, not {kind(triggers)}")
    return tuple(parse_trigger(trigger) for trigger in triggers)


def parse_trigger(trigger: Json) -> GrammarTrigger:
    if not isinstance(trigger, dict):
        raise InvalidField("grammar_triggers", "each must be an object with type and value")
    number = trigger.get("type")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(TRIGGER_KINDS):
        raise InvalidField("grammar_triggers", "type must be 0 (token), 1 (word), 2 (pattern) or 3 (full pattern)")
    token = trigger.get("token")
    if token is not None and (isinstance(token, bool) or not isinstance(token, int)):
        raise InvalidField("grammar_triggers", "token must be an id")
    if number == 0 and token is None:
        raise InvalidField("grammar_triggers", "a trigger of type 0 (token) needs the token's id in token")
    value = string(trigger, "value")
    if number != 0 and not value:
        raise InvalidField("grammar_triggers", "value must not be empty")
    return GrammarTrigger(TRIGGER_KINDS[number], value, token)
