"""Sampling, limits and stops: what a request says on top of the server's defaults."""

import math
from dataclasses import replace

import pytest

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.request import RANDOM_SEED, Generation, GrammarKind, LoraScale, Sampling
from ferrox_gguf.wire.generation import parse_generation
from ferrox_gguf.wire.sampling import ROWS
from ferrox_gguf.wire.served import Served

SERVED = Served("m", "b1", tokenise=lambda text: list(text.encode()), n_vocab=300, end_tokens=(257,), n_parallel=4)


def with_defaults(**fields):
    return replace(SERVED, defaults=replace(Generation(), **fields))


def test_an_empty_request_gets_the_servers_defaults():
    defaults = Generation(sampling=Sampling(temperature=0.3), max_tokens=9, stop=("x",))
    assert parse_generation({}, replace(SERVED, defaults=defaults)) == defaults


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 1.5),
        ("top_k", 3),
        ("top_p", 0.5),
        ("min_p", 0.1),
        ("typical_p", 0.9),
        ("repeat_last_n", -1),
        ("mirostat", 2),
        ("adaptive_target", 0.5),
        ("min_keep", 2),
    ],
)
def test_a_sampling_field_reaches_its_place(name, value):
    assert getattr(parse_generation({name: value}, SERVED).sampling, name) == value


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("temperature", 1e39, "within 32 bits"),
        ("temperature", -1e39, "within 32 bits"),
        ("dynatemp_range", -0.1, "at least 0"),
        ("dynatemp_exponent", -1, "at least 0"),
        ("top_k", -2, "at least -1"),
        ("top_p", 1.1, "between 0 and 1"),
        ("top_p", -0.1, "between 0 and 1"),
        ("min_p", -0.1, "between 0 and 1"),
        ("min_p", 1.1, "between 0 and 1"),
        ("top_n_sigma", 1e39, "within 32 bits"),
        ("xtc_probability", 1.1, "between 0 and 1"),
        ("xtc_threshold", -0.1, "between 0 and 1"),
        ("typical_p", 1.1, "between 0 and 1"),
        ("repeat_last_n", -2, "at least -1"),
        ("repeat_penalty", 0, "at least 1e-06"),
        ("repeat_penalty", -1, "at least 1e-06"),
        ("presence_penalty", 1e39, "within 32 bits"),
        ("frequency_penalty", -1e39, "within 32 bits"),
        ("dry_multiplier", -1, "at least 0"),
        ("dry_base", 1e39, "within 32 bits"),
        ("dry_allowed_length", -1, "at least 0"),
        ("dry_penalty_last_n", -2, "at least -1"),
        ("mirostat", 3, "between 0 and 2"),
        ("mirostat_tau", -1, "at least 0"),
        ("mirostat_eta", -1, "at least 0"),
        ("adaptive_target", 1.1, "at most 1"),
        ("adaptive_decay", 1.0, "between 0 and 0.99"),
        ("min_keep", -1, "at least 0"),
        ("n_predict", -2, "at least -1"),
        ("n_probs", -1, "at least 0"),
        ("n_indent", -1, "at least 0"),
        ("n_keep", -2, "at least -1"),
        ("n_discard", -1, "at least 0"),
        ("n_cache_reuse", -1, "at least 0"),
        ("t_max_predict_ms", -2, "at least -1"),
        ("id_slot", -2, "at least -1"),
        ("n_cmpl", 0, "between 1 and 4"),
    ],
)
def test_a_value_out_of_range_is_refused_with_its_name_and_range(name, value, allowed):
    with pytest.raises(InvalidField, match=f"must be {allowed}") as refused:
        parse_generation({name: value}, SERVED)
    assert refused.value.field == name


@pytest.mark.parametrize("name", [row.name for row in ROWS])
@pytest.mark.parametrize("value", ["1", [1], {"a": 1}])
def test_a_value_that_is_no_number_is_refused_by_name(name, value):
    with pytest.raises(InvalidField, match="must be a number") as refused:
        parse_generation({name: value}, SERVED)
    assert refused.value.field == name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_null_is_the_servers_default(row):
    assert parse_generation({row.name: None}, SERVED).sampling == Sampling()


def test_a_temperature_below_zero_is_taken_since_it_means_greedy():
    assert parse_generation({"temperature": -1}, SERVED).sampling.temperature == -1


@pytest.mark.parametrize(("sent", "seed"), [(-1, RANDOM_SEED), (42, 42), (RANDOM_SEED, RANDOM_SEED), (2**32 + 5, 5)])
def test_a_seed_has_32_bits_and_minus_one_is_random(sent, seed):
    assert parse_generation({"seed": sent}, SERVED).sampling.seed == seed


def test_the_limit_has_three_names_and_llama_servers_wins():
    body = {"max_tokens": 1, "max_completion_tokens": 2, "n_predict": 3}
    assert parse_generation(body, SERVED).max_tokens == 3
    assert parse_generation({"max_tokens": 1, "max_completion_tokens": 2}, SERVED).max_tokens == 2
    assert parse_generation({"max_tokens": 1}, SERVED).max_tokens == 1


@pytest.mark.parametrize(("sent", "limit"), [(-1, 64), (100, 100), (8, 8), (0, 0), (None, 64)])
def test_a_request_without_a_limit_gets_the_servers(sent, limit):
    assert parse_generation({"n_predict": sent}, with_defaults(max_tokens=64)).max_tokens == limit


@pytest.mark.parametrize(
    ("sent", "stop"), [("a", ("a",)), (["a", "b"], ("a", "b")), ([""], ("d",)), ([], ("d",)), (None, ("d",))]
)
def test_stops_are_one_string_or_several_and_empty_ones_stop_nothing(sent, stop):
    assert parse_generation({"stop": sent}, with_defaults(stop=("d",))).stop == stop


@pytest.mark.parametrize("sent", [5, [5], {"a": 1}])
def test_a_stop_that_is_no_string_is_refused(sent):
    with pytest.raises(InvalidField, match="stop"):
        parse_generation({"stop": sent}, SERVED)


@pytest.mark.parametrize(
    ("sent", "pairs"),
    [
        ([[65, 1.5]], ((65, 1.5),)),
        ([[65, False]], ((65, -math.inf),)),
        ([["AB", -1]], ((65, -1.0), (66, -1.0))),
        ({"65": 2}, ((65, 2.0),)),
        ({"AB": 2}, ((65, 2.0), (66, 2.0))),
        ([[300, 1], [-1, 1]], ()),
        (None, ()),
    ],
)
def test_logit_bias_is_read_in_every_form(sent, pairs):
    assert parse_generation({"logit_bias": sent}, SERVED).sampling.logit_bias == pairs


@pytest.mark.parametrize("sent", [[[65]], [65], "65", [[65, "x"]], [[65, True]], [[1.5, 1]], [[65, 1e39]], 5])
def test_a_logit_bias_of_no_known_form_is_refused(sent):
    with pytest.raises(InvalidField, match="logit_bias"):
        parse_generation({"logit_bias": sent}, SERVED)


def test_samplers_are_named_in_order_or_by_letters():
    assert parse_generation({"samplers": ["top_k", "temp"]}, SERVED).sampling.samplers == ("top_k", "temperature")
    assert parse_generation({"samplers": "kpt"}, SERVED).sampling.samplers == ("top_k", "top_p", "temperature")
    with pytest.raises(InvalidField, match="topk"):
        parse_generation({"samplers": ["topk"]}, SERVED)


def test_n_is_bounded_by_the_slots():
    assert parse_generation({"n": 4}, SERVED).n == 4
    with pytest.raises(InvalidField, match="between 1 and 4"):
        parse_generation({"n": 5}, SERVED)


def test_a_dry_base_below_one_is_replaced_by_the_default():
    assert parse_generation({"dry_base": 0.5}, SERVED).sampling.dry_base == Sampling().dry_base


def test_a_schema_or_a_grammar_becomes_a_constraint():
    schema = parse_generation({"json_schema": {}}, SERVED).grammar
    assert schema is not None
    assert (schema.kind, schema.source) == (GrammarKind.JSON_SCHEMA, '{"type":"object"}')
    grammar = parse_generation({"grammar": 'root ::= "a"'}, SERVED).grammar
    assert grammar is not None
    assert (grammar.kind, grammar.source) == (GrammarKind.GBNF, 'root ::= "a"')


def test_a_lazy_grammar_needs_a_trigger():
    with pytest.raises(InvalidField, match="grammar_triggers"):
        parse_generation({"grammar": "root ::= x", "grammar_lazy": True}, SERVED)


def test_adapters_are_named_with_their_scales():
    assert parse_generation({"lora": [{"id": 1, "scale": 0.5}]}, SERVED).lora == (LoraScale(1, 0.5),)
    with pytest.raises(InvalidField, match="lora"):
        parse_generation({"lora": [{"id": 1}]}, SERVED)
