"""The metrics page: names that dashboards know, counts that survive, rates between two scrapes."""

from prometheus_client.parser import text_string_to_metric_families
from support.lanes import ScriptedLanes

from ferrox_gguf.server.metrics import Meter


def page(meter, stats):
    return meter.page(stats).decode()


def values(text):
    """{name with labels: value}, after Prometheus's own parser has found nothing wrong."""
    assert list(text_string_to_metric_families(text))
    return {
        name: float(value)
        for name, value in (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    }


def lanes(**counts):
    made = ScriptedLanes(n_ctx=100, n_slots=2)
    for name, value in counts.items():
        setattr(made.counters, name, value)
    return made


COUNTERS = {
    "prompt_tokens_total",
    "prompt_tokens_cached_total",
    "prompt_seconds_total",
    "tokens_predicted_total",
    "tokens_predicted_seconds_total",
    "n_decode_total",
    "n_tokens_max",
    "spec_decode_num_draft_tokens_total",
    "spec_decode_num_accepted_tokens_total",
    "spec_decode_num_drafts_total",
}
GAUGES = {
    "prompt_tokens_seconds",
    "predicted_tokens_seconds",
    "requests_processing",
    "requests_deferred",
    "n_busy_slots_per_decode",
}


def test_every_metric_of_llama_server_has_its_name_and_kind():
    text = page(Meter(), lanes().stats())
    kinds = dict(line.removeprefix("# TYPE ").split() for line in text.splitlines() if line.startswith("# TYPE "))
    theirs = {name.removeprefix("llamacpp:"): kind for name, kind in kinds.items() if name.startswith("llamacpp:")}
    assert theirs == dict.fromkeys(COUNTERS, "counter") | dict.fromkeys(GAUGES, "gauge")
    assert all(f"# HELP llamacpp:{name} " in text for name in COUNTERS | GAUGES)


def test_counts_are_the_engines_own():
    made = lanes(prompt_tokens=10, cached_tokens=4, generated_tokens=6, prompt_ms=2000.0, longest=21, cancelled=3)
    made.counters.shared_tokens, made.queued, made.busy = 2, 5, {0}
    found = values(page(Meter(), made.stats()))
    assert found["llamacpp:prompt_tokens_total"] == 10
    assert found["llamacpp:prompt_tokens_cached_total"] == 4
    assert found["llamacpp:prompt_seconds_total"] == 2
    assert found["llamacpp:tokens_predicted_total"] == 6
    assert found["llamacpp:n_tokens_max"] == 21
    assert found["llamacpp:requests_processing"] == 1
    assert found["llamacpp:requests_deferred"] == found["ferrox:queue_depth"] == 5
    assert found["ferrox:sequences_cancelled_total"] == 3
    assert found["ferrox:prompt_tokens_shared_total"] == 2


def test_steps_are_a_histogram_of_seconds():
    made = lanes()
    for elapsed in (1.5, 1.5, 30.0, 9000.0):
        made.counters.observe_step(decoding=1, prompt_tokens=0, rows=1, elapsed_ms=elapsed)
    found = values(page(Meter(), made.stats()))
    borders = ("0.001", "0.002", "0.02", "0.05", "5", "+Inf")
    assert [found[f'ferrox:step_seconds_bucket{{le="{le}"}}'] for le in borders] == [0, 2, 2, 3, 3, 4]
    assert found["ferrox:step_seconds_sum"] == 9.033
    assert found["ferrox:step_seconds_count"] == 4


def test_rates_are_of_the_time_since_the_last_scrape():
    meter, made = Meter(), lanes(generated_tokens=10, generated_ms=500.0)
    assert values(page(meter, made.stats()))["llamacpp:predicted_tokens_seconds"] == 20
    made.counters.generated_tokens, made.counters.generated_ms = 40, 1500.0
    assert values(page(meter, made.stats()))["llamacpp:predicted_tokens_seconds"] == 30
    assert values(page(meter, made.stats()))["llamacpp:predicted_tokens_seconds"] == 0


def test_counts_go_on_over_an_engine_that_left_and_the_next_one():
    meter, first = Meter(), lanes(generated_tokens=10, generated_ms=500.0, longest=50)
    first.busy, first.held = {0}, [30, 0]
    first.counters.observe_step(decoding=1, prompt_tokens=0, rows=1, elapsed_ms=3.0)
    meter.bank(first.stats())
    asleep = values(page(meter, None))
    assert asleep["llamacpp:tokens_predicted_total"] == 10
    assert asleep["llamacpp:requests_processing"] == 0
    assert asleep["ferrox:cells_used"] == 30
    assert asleep["llamacpp:predicted_tokens_seconds"] > 0
    again = values(page(meter, lanes(generated_tokens=5, longest=20).stats()))
    assert again["llamacpp:tokens_predicted_total"] == 15
    assert again["llamacpp:n_tokens_max"] == 50
    assert again["ferrox:step_seconds_count"] == 1
