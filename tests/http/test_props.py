"""`/props`: what a client can learn of a server before it asks anything."""

from dataclasses import replace

import httpx
import pytest
from support.models import THINKS, scripted_ready
from support.serving import serving

from ferrox_gguf.settings import EndpointSettings, ServerSettings, Settings

CLIENT = httpx.Client(verify=False)

LLAMA_SERVERS = {
    "default_generation_settings",
    "total_slots",
    "model_alias",
    "model_ftype",
    "model_path",
    "modalities",
    "media_marker",
    "endpoint_slots",
    "endpoint_props",
    "endpoint_metrics",
    "ui",
    "ui_settings",
    "chat_template",
    "chat_template_caps",
    "bos_token",
    "eos_token",
    "build_info",
    "is_sleeping",
    "cors_proxy_enabled",
}
PARAMETERS = set(
    """
    seed temperature dynatemp_range dynatemp_exponent top_k top_p min_p top_n_sigma xtc_probability xtc_threshold
    typical_p repeat_last_n repeat_penalty presence_penalty frequency_penalty dry_multiplier dry_base dry_allowed_length
    dry_penalty_last_n mirostat mirostat_tau mirostat_eta adaptive_target adaptive_decay max_tokens n_predict n_keep
    n_discard ignore_eos stream n_probs min_keep chat_format reasoning_format reasoning_in_content generation_prompt
    samplers speculative.types timings_per_token post_sampling_probs backend_sampling lora
    """.split()
)


def opened(props):
    return replace(Settings(), server=replace(ServerSettings(), endpoints=EndpointSettings(props=props)))


@pytest.fixture(scope="module")
def url():
    with serving(lambda: scripted_ready(b"hi", template=THINKS)) as url:
        yield url


def test_every_field_of_llama_servers_is_there(url):
    props = CLIENT.get(url + "/props").json()
    assert props.keys() == LLAMA_SERVERS | {"posture"}
    assert props["default_generation_settings"].keys() == {"params", "n_ctx"}
    assert props["default_generation_settings"]["params"].keys() == PARAMETERS


def test_how_the_model_speaks_is_told_with_the_evidence(url):
    posture = CLIENT.get(url + "/props").json()["posture"]
    assert posture["reasoning_protocol"] == "prompt_opened"
    assert posture["reasoning_format"]
    assert posture["evidence"]
    assert all(isinstance(line, str) for line in posture["evidence"])


def test_changing_them_needs_a_flag_as_in_llama_server(url):
    refused = CLIENT.post(url + "/props", json={})
    assert (refused.status_code, refused.json()["error"]["type"]) == (501, "not_supported_error")
    with serving(lambda: scripted_ready(b"hi"), opened(props=True)) as other:
        assert CLIENT.post(other + "/props").json() == {"success": True}
        assert CLIENT.get(other + "/props").json()["endpoint_props"] is True
