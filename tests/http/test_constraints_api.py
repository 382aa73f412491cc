"""Constraints over HTTP, on real models: a small one with random weights, and one that says what a script says."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random

import httpx
import pytest
from jsonschema import Draft202012Validator
from support.asking import get, post
from support.models import THINKS
from support.random_schemas import random_schema
from support.real import EXACT, serving_file
from support.scripted_gguf import write_scripted_gguf
from support.small_gguf import write_dense

from ferrox_gguf.runtime import load
from ferrox_gguf.settings import ChatSettings

HI = [{"role": "user", "content": "hi"}]
TO_AN_END = [['"', 4], ["}", 4], ["]", 4], [",", -2]]
"""A random-weight model has no wish to close what it opened."""

SEATS = {
    "type": "object",
    "properties": {"seats": {"type": "integer", "minimum": 1, "maximum": 9}, "city": {"enum": ["Rome", "Turin"]}},
    "required": ["seats", "city"],
    "additionalProperties": False,
}
TOOLS = [
    {"type": "function", "function": {"name": "book_table", "parameters": SEATS}},
    {"type": "function", "function": {"name": "ping"}},
]
YES_OR_NO = 'root ::= "yes" | "no"'


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dense(tmp_path_factory.mktemp("constraints") / "dense.gguf", n_ctx=4096)


@pytest.fixture(scope="module")
def url(model: Path) -> Iterator[str]:
    with serving_file(model, context=replace(EXACT, n_ctx=4096)) as url:
        yield url


def chat(url: str, **fields: object) -> dict:
    answer = post(f"{url}/v1/chat/completions", {"messages": HI, "max_tokens": 400, "seed": 1, **fields})
    assert answer.status_code == 200, answer.text
    choice: dict = answer.json()["choices"][0]
    return choice


def refusal(url: str, path: str = "/v1/chat/completions", **fields: object) -> dict:
    answer = post(url + path, {"messages": HI, "max_tokens": 5, **fields})
    assert answer.status_code == 400, answer.text
    error: dict = answer.json()["error"]
    return error


# -- what is asked for is what comes


def test_json_mode_is_an_object(url: str) -> None:
    choice = chat(url, response_format={"type": "json_object"}, logit_bias=TO_AN_END)
    assert choice["finish_reason"] == "stop"
    assert isinstance(json.loads(choice["message"]["content"]), dict)


def test_a_strict_schema_is_kept(url: str) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "seats", "strict": True, "schema": SEATS}}
    choice = chat(url, response_format=wanted)
    assert choice["finish_reason"] == "stop"
    Draft202012Validator(SEATS).validate(json.loads(choice["message"]["content"]))


def test_one_of_with_disjoint_branches_is_kept(url: str) -> None:
    schema = {"oneOf": [{"const": "a"}, {"type": "integer", "minimum": 3, "maximum": 5}, {"type": "null"}]}
    said = {chat(url, json_schema=schema, seed=seed)["message"]["content"].strip() for seed in range(8)}
    assert said <= {'"a"', "3", "4", "5", "null"}


def test_random_schemas_on_random_weights_are_finished_and_valid(url: str) -> None:
    schemas = [random_schema(Random(f"http {seed}"), 2) for seed in range(24)]

    def ask(schema: dict) -> bool:
        choice = chat(url, json_schema=schema, logit_bias=TO_AN_END)
        if choice["finish_reason"] == "stop":
            Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(
                json.loads(choice["message"]["content"])
            )
        return bool(choice["finish_reason"] == "stop")

    with ThreadPoolExecutor(4) as pool:
        finished = list(pool.map(ask, schemas))
    assert sum(finished) >= 0.8 * len(finished)


def test_the_limit_wins_over_the_schema(url: str) -> None:
    choice = chat(url, json_schema=SEATS, max_tokens=3)
    assert choice["finish_reason"] == "length"


def test_json_mode_does_not_run_on_in_white_space(url: str) -> None:
    blanks = [[" ", 40], ["\n", 40], ["}", 10], ['"', 5]]
    choice = chat(url, response_format={"type": "json_object"}, logit_bias=blanks)
    assert choice["finish_reason"] == "stop"
    assert max(map(len, re.findall(r"\s+", choice["message"]["content"]))) <= 48


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "book_table"}}])
def test_a_forced_tool_choice_is_a_call_that_validates(url: str, choice: object) -> None:
    answer = chat(url, tools=TOOLS, tool_choice=choice, parallel_tool_calls=False, logit_bias=TO_AN_END)
    assert answer["finish_reason"] == "tool_calls"
    assert not answer["message"].get("content")
    for call in answer["message"]["tool_calls"]:
        arguments = json.loads(call["function"]["arguments"])
        if choice != "required" or call["function"]["name"] == "book_table":
            Draft202012Validator(SEATS).validate(arguments)
        else:
            assert (call["function"]["name"], arguments) == ("ping", {})
    if choice != "required":
        assert [call["function"]["name"] for call in answer["message"]["tool_calls"]] == ["book_table"]


def test_a_schema_beside_tools_leaves_the_choice_between_an_answer_and_a_call(url: str) -> None:
    unenforceable = {"type": "function", "function": {"name": "odd", "parameters": {"not": {}}}}
    for tools in (TOOLS, [*TOOLS, unenforceable]):
        said = set()
        for seed in range(6):
            bias = [*TO_AN_END, ["<" if seed % 2 else "{", 30]]
            choice = chat(
                url,
                tools=tools,
                parallel_tool_calls=False,
                json_schema=SEATS,
                seed=seed,
                logit_bias=bias,
                max_tokens=900,
            )
            if choice["finish_reason"] == "length":
                continue
            said.add(choice["finish_reason"])
            if choice["finish_reason"] == "stop":
                Draft202012Validator(SEATS).validate(json.loads(choice["message"]["content"]))
            else:
                [call] = choice["message"]["tool_calls"]
                assert call["function"]["name"] in ("book_table", "ping", "odd")
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
        assert said == {"stop", "tool_calls"}


# -- on every route, ready or not

Ask = Callable[[str], httpx.Response]
ROUTES: dict[str, tuple[str, dict, Callable[[dict], str]]] = {
    "completion": ("/completion", {"prompt": "hi", "n_predict": 9}, lambda body: body["content"]),
    "completions": (
        "/v1/completions",
        {"prompt": "hi", "max_tokens": 9},
        lambda body: body["choices"][0]["text"],
    ),
    "chat": (
        "/v1/chat/completions",
        {"messages": HI, "max_tokens": 9},
        lambda body: body["choices"][0]["message"]["content"],
    ),
    "responses": (
        "/v1/responses",
        {"input": "hi", "max_output_tokens": 9},
        lambda body: body["output"][-1]["content"][0]["text"],
    ),
    "messages": ("/v1/messages", {"messages": HI, "max_tokens": 9}, lambda body: body["content"][-1]["text"]),
}
CHOSEN = {"enum": ["yes", "no"]}
OWN_FIELDS: dict[str, dict] = {
    "completion": {"response_format": {"type": "json_schema", "json_schema": {"schema": CHOSEN}}},
    "completions": {"response_format": {"type": "json_schema", "json_schema": {"schema": CHOSEN}}},
    "chat": {"response_format": {"type": "json_schema", "json_schema": {"schema": CHOSEN}}},
    "responses": {"text": {"format": {"type": "json_schema", "name": "c", "schema": CHOSEN}}},
    "messages": {"output_config": {"format": {"type": "json_schema", "schema": CHOSEN}}},
}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("how", ["grammar", "json_schema", "its own field"])
def test_every_route_keeps_to_a_constraint(url: str, route: str, how: str) -> None:
    path, body, text = ROUTES[route]
    fields = {"grammar": {"grammar": YES_OR_NO}, "json_schema": {"json_schema": CHOSEN}}.get(how, OWN_FIELDS[route])
    answer = post(url + path, {**body, **fields})
    assert answer.status_code == 200, answer.text
    assert text(answer.json()).strip() in (("yes", "no") if how == "grammar" else ('"yes"', '"no"'))


def test_a_request_before_the_vocabulary_is_read_waits_and_is_constrained(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready, build = threading.Event(), load.build_tokenizer

    def late(*given: object) -> object:
        ready.wait(20)
        return build(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(load, "build_tokenizer", late)
    with serving_file(model) as url, ThreadPoolExecutor(len(ROUTES)) as pool:
        asked = {
            route: pool.submit(post, url + path, {**body, "grammar": YES_OR_NO})
            for route, (path, body, _) in ROUTES.items()
        }
        plain = post(f"{url}/completion", {"prompt": "hi", "n_predict": 1})
        assert plain.status_code == 200
        assert not any(answer.done() for answer in asked.values())
        ready.set()
        for route, answer in asked.items():
            assert ROUTES[route][2](answer.result(20).json()).strip() in ("yes", "no")


# -- after a thought, and at a trigger


def scripted(folder: Path, says: str, prompt: str, template: str) -> Path:
    path = folder / "scripted.gguf"
    script = [f"<0x{byte:02X}>" for byte in says.encode()]
    write_scripted_gguf(path, script=script, start=len(prompt.encode()), chat_template=template)
    return path


def test_a_constraint_begins_when_the_thought_has_closed(tmp_path: Path) -> None:
    prompt = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n<think>\n"
    path = scripted(tmp_path, "I think {so}.</think>\n\nNo JSON.", prompt, THINKS)
    with serving_file(path, chat=ChatSettings()) as url:
        choice = chat(url, json_schema=SEATS, temperature=0.5)
        assert choice["message"]["reasoning_content"].strip() == "I think {so}."
        Draft202012Validator(SEATS).validate(json.loads(choice["message"]["content"]))
        at_once = chat(url, json_schema=SEATS, temperature=0.5, grammar_after_reasoning=False)
        said = at_once["message"].get("reasoning_content") or at_once["message"]["content"]
        assert said.strip().startswith("{")


MAY_THINK = THINKS.replace("<think>\n", "") + "{# <think> </think> #}"
"""The model opens its thoughts itself, or does not."""


@pytest.mark.parametrize("says", ["Sure, here", "", "<thin>", "\n\nNo.", "<think>hm", "<think>hm</think>\n\nNo"])
def test_a_model_that_may_think_and_does_not_is_constrained_from_its_first_word(tmp_path: Path, says: str) -> None:
    prompt = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    with serving_file(scripted(tmp_path, says, prompt, MAY_THINK)) as url:
        # What the script does not say is equally likely to this model; without the bias half its answers were thoughts.
        choice = chat(url, json_schema=SEATS, temperature=0.5, logit_bias=[["{", 3]])
        if choice["finish_reason"] == "stop":
            Draft202012Validator(SEATS).validate(json.loads(choice["message"]["content"]))
        else:
            # It never closes the thought that it began, and may not end in it.
            assert says.startswith("<thin")
            assert not says.endswith("No")
            assert not choice["message"]["content"]


def test_a_lazy_grammar_wakes_at_its_trigger(tmp_path: Path) -> None:
    path = scripted(tmp_path, "well: <t>x", "hi", "")
    with serving_file(path) as url:
        lazy = {"grammar": 'root ::= "<t>" [0-9]{3}', "grammar_lazy": True}
        body = {"prompt": "hi", "n_predict": 20, "temperature": 0.5, **lazy}
        for trigger in ({"type": 1, "value": "<t>"}, {"type": 2, "value": "(<t>)"}, {"type": 3, "value": ".*(<t>)"}):
            answer = post(f"{url}/completion", {**body, "grammar_triggers": [trigger]})
            assert answer.status_code == 200, answer.text
            assert re.fullmatch("well: <t>[0-9]{3}", answer.json()["content"])
        for triggers in ([], [{"type": 2, "value": "("}], [{"type": 2, "value": r"(a)\1"}], [{"type": 1, "value": ""}]):
            refused = post(f"{url}/completion", {**body, "grammar_triggers": triggers})
            assert refused.status_code == 400, refused.text


# -- nothing of the caller's ends in a crash

CHAIN = 3_000
HOSTILE: dict[str, dict] = {
    "no grammar": {"grammar": "root ::= ("},
    "a rule that is missing": {"grammar": "root ::= missing"},
    "left recursion without an end": {"grammar": "root ::= root"},
    "deep brackets": {"grammar": "root ::= " + "(" * 5000 + '"a"' + ")" * 5000},
    "a keyword without enforcement": {"json_schema": {"type": "array", "uniqueItems": True}},
    "a recursion without an end": {"json_schema": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}},
    "an enormous schema": {"json_schema": {"properties": {f"p{i}": {"type": "string"} for i in range(30_000)}}},
    "a combinatorial schema": {
        "json_schema": {"allOf": [{"anyOf": [{"properties": {f"{i}.{j}": {}}} for j in range(9)]} for i in range(9)]}
    },
    "a deep pattern": {"json_schema": {"type": "string", "pattern": "(" * 5000 + "a" + ")" * 5000}},
    "too many rules": {"grammar": "root ::= a\n" + 'a ::= "x"\n' * 30_000},
    "a pattern that is none": {"json_schema": {"type": "string", "pattern": "("}},
    "a look-ahead": {"json_schema": {"type": "string", "pattern": "(?=a)b"}},
    "tools that cannot be": {
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"not": {}}}}],
        "tool_choice": "required",
    },
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_constraint_that_cannot_be_is_a_400_in_two_seconds_and_other_streams_go_on(url: str, name: str) -> None:
    streamed: list[float] = []

    def stream() -> None:
        body = {"prompt": "hi", "n_predict": 120, "stream": True, "logit_bias": [[2, False]]}
        with (
            httpx.Client(verify=False, timeout=60) as client,
            client.stream("POST", f"{url}/completion", json=body) as answer,
        ):
            streamed.extend(time.monotonic() for line in answer.iter_lines() if line.startswith("data: "))

    beside = threading.Thread(target=stream)
    beside.start()
    began = time.monotonic()
    error = refusal(url, **HOSTILE[name])
    took = time.monotonic() - began
    beside.join()
    assert error["message"]
    assert took < 2
    assert len(streamed) > 100
    assert get(f"{url}/health").status_code == 200


LONG: dict[str, dict] = {
    "references": {
        "json_schema": {
            "$ref": "#/$defs/a0",
            "$defs": {
                **{f"a{i}": {"properties": {"n": {"$ref": f"#/$defs/a{i + 1}"}}} for i in range(CHAIN)},
                f"a{CHAIN}": {"type": "null"},
            },
        }
    },
    "rules": {
        "grammar": "root ::= r0\n"
        + "\n".join(f'r{i} ::= "x" r{i + 1} | r{i + 1} "y"' for i in range(CHAIN))
        + f'\nr{CHAIN} ::= "z"'
    },
    "rules in a circle": {
        "grammar": "root ::= r0\n"
        + "\n".join(f'r{i} ::= "x" (r{i + 1} | r0 "y")' for i in range(CHAIN))
        + f'\nr{CHAIN} ::= "z"'
    },
}


@pytest.mark.parametrize("name", LONG)
def test_what_leads_to_one_another_without_end_does_not_end_the_process(url: str, name: str) -> None:
    answer = post(f"{url}/completion", {"prompt": "hi", "n_predict": 2, **LONG[name]})
    # Compiled, it may still ask too much of a single token; that ends this request, and says why in a few words.
    assert answer.status_code in (200, 400, 500)
    if answer.status_code == 500:
        message = answer.json()["error"]["message"]
        assert "the constraint cannot go on" in message
        assert len(message) < 300
    assert get(f"{url}/health").status_code == 200


def test_a_pattern_that_would_explode_ends_its_own_request_only(url: str) -> None:
    for pattern in ("(a+)+$", "([ab]*a){60}b", "(.*a){40}", "a{1,5000}b{1,5000}"):
        body = {"prompt": "hi", "n_predict": 30, "json_schema": {"type": "string", "pattern": pattern}}
        began = time.monotonic()
        assert post(f"{url}/completion", body).status_code in (200, 400, 500)
        assert time.monotonic() - began < 20
    assert chat(url, grammar=YES_OR_NO)["message"]["content"] in ("yes", "no")


def test_a_hundred_kilobytes_of_tools_are_served(url: str) -> None:
    tools = [
        {
            "type": "function",
            "function": {
                "name": f"tool_{i}",
                "description": "d" * 300,
                "parameters": {
                    "type": "object",
                    "properties": {f"p{j}": {"type": "string", "description": "e" * 60} for j in range(8)},
                },
            },
        }
        for i in range(90)
    ]
    assert len(json.dumps(tools)) > 100_000
    chosen = {"type": "function", "function": {"name": "tool_7"}}
    answer = post(
        f"{url}/v1/chat/completions",
        {"messages": HI, "tools": tools, "tool_choice": chosen, "max_tokens": 1},
    )
    # The prompt with all of them does not fit this small context, which is said; the constraint was no obstacle.
    assert answer.status_code in (200, 400)
    assert answer.status_code == 200 or "context size" in answer.text
