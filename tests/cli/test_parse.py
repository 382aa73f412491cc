import json

import pytest

from ferrox_gguf.cli.flags.flag import Action
from ferrox_gguf.cli.flags.parse import parse
from ferrox_gguf.errors import StartupError
from ferrox_gguf.request import RANDOM_SEED, GrammarKind, ReasoningDisplay
from ferrox_gguf.settings import Adapter, ReasoningSettings, Settings


def settings(*arguments: str, **environment: str) -> Settings:
    return parse(arguments, environment).settings


def refusal(*arguments: str, **environment: str) -> str:
    with pytest.raises(StartupError) as raised:
        parse(arguments, environment)
    return str(raised.value)


def test_nothing_said_is_llama_servers_default():
    assert settings() == Settings()


def test_a_flag_is_known_by_each_of_its_spellings():
    assert settings("-c", "4096") == settings("--ctx-size", "4096") == settings("--ctx_size=4096")


def test_the_last_use_of_a_flag_counts():
    assert settings("--port", "1", "--port", "2").server.port == 2


def test_a_flag_wins_over_its_variable():
    assert settings("--port", "1", LLAMA_ARG_PORT="2").server.port == 1
    assert settings(LLAMA_ARG_PORT="2").server.port == 2


@pytest.mark.parametrize("word", ["1", "on", "enabled", "true"])
def test_a_switch_is_turned_on_by_a_variable(word):
    assert settings(LLAMA_ARG_ENDPOINT_METRICS=word).server.endpoints.metrics


@pytest.mark.parametrize("word", ["0", "off", "disabled", "false"])
def test_a_switch_is_turned_off_by_a_variable(word):
    assert not settings(LLAMA_ARG_JINJA=word).chat.jinja


def test_the_negative_variable_turns_off_whatever_it_says():
    assert not settings(LLAMA_ARG_NO_JINJA="1").chat.jinja
    assert not settings(LLAMA_ARG_NO_JINJA="0").chat.jinja
    assert not settings(LLAMA_ARG_NO_JINJA="1", LLAMA_ARG_JINJA="1").chat.jinja


def test_an_empty_variable_is_unset():
    assert settings(LLAMA_ARG_PORT="", LLAMA_ARG_NO_UI="") == Settings()


def test_a_variable_with_no_meaning_is_named():
    assert refusal(LLAMA_ARG_JINJA="maybe").startswith("LLAMA_ARG_JINJA: 'maybe' is neither")
    assert refusal(LLAMA_ARG_PORT="x") == "LLAMA_ARG_PORT: expected a whole number, got 'x'"


def test_an_unknown_flag_is_refused_and_the_nearest_one_named():
    assert refusal("--modle", "x") == "invalid argument: --modle (the nearest known flag is --model)"
    assert "nearest known flag is --no-warmup" in refusal("--nowarmup")
    assert "nearest known flag is --port" in refusal("--prot"), "letters that changed places, before other likenesses"
    assert "the nearest known flag is" in refusal("stray")


def test_a_flag_without_its_value_is_refused():
    assert refusal("-c") == "-c: expected a value (N)"
    assert "expected a value" in refusal("--control-vector-layer-range", "3")


def test_a_switch_takes_no_value():
    assert refusal("--metrics=1") == "--metrics: takes no value"


def test_a_value_may_look_like_a_flag():
    assert settings("--keep", "-1").generation.n_keep == -1
    assert settings("-n", "-1").generation.max_tokens == -1


def test_a_list_grows_with_each_use_and_replaces_the_default():
    server = settings("--api-key", "a,b", "--api-key", "c", LLAMA_API_KEY="unused").server
    assert server.api_keys == ("a", "b", "c")


def test_keys_come_from_a_file_too(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("# comment\none\n\ntwo\n")
    assert settings("--api-key", "zero", "--api-key-file", str(keys)).server.api_keys == ("zero", "one", "two")
    assert "cannot read" in refusal("--api-key-file", str(tmp_path / "none"))


def test_keys_and_tokens_never_show_in_a_log():
    shown = repr(settings("--api-key", "sesame", "--hf-token", "hush"))
    assert "sesame" not in shown
    assert "hush" not in shown


def test_a_quoted_field_may_hold_a_comma():
    assert settings("--lora", 'a.gguf,"b, c.gguf"').adapters.lora == (Adapter("a.gguf"), Adapter("b, c.gguf"))


def test_adapters_keep_their_order_and_strength():
    lora = settings("--lora", "a", "--lora-scaled", "b:0.5,c:2").adapters.lora
    assert lora == (Adapter("a"), Adapter("b", 0.5), Adapter("c", 2.0))
    assert not settings("--lora-init-without-apply").adapters.lora_apply
    assert refusal("--lora-scaled", "b") == "--lora-scaled: 'b' is not FNAME:SCALE"


def test_layers_on_the_gpu_are_a_number_or_a_word():
    assert [settings("-ngl", said).model.n_gpu_layers for said in ("7", "auto", "all", "-1")] == [7, -1, -2, -1]


@pytest.mark.parametrize(
    ("said", "meant"), [("on", "on"), ("1", "on"), ("false", "off"), ("auto", "auto"), ("-1", "auto")]
)
def test_flash_attention_takes_three_values_in_many_words(said, meant):
    assert settings("-fa", said).context.flash_attention == meant


def test_hosts_are_separated_by_commas():
    assert settings("--host", "127.0.0.1, ::1,/run/x.sock").server.hosts == ("127.0.0.1", "::1", "/run/x.sock")
    assert "at least one value" in refusal("--host", ",")


def test_metadata_is_overridden_with_its_type():
    said = "a.b=int:3,c=float:0.5,d=bool:true,e=str:x:y"
    assert settings("--override-kv", said).model.override_kv == (("a.b", 3), ("c", 0.5), ("d", True), ("e", "x:y"))
    assert "not KEY=TYPE:VALUE" in refusal("--override-kv", "a")
    assert "type" in refusal("--override-kv", "a=int:x")


def test_where_tensors_lie_adds_up_in_the_order_said():
    buffers = settings("-ot", "exps=CPU", "-ncffn", "2", "-cmoe").model.tensor_buffers
    assert [place for _, place in buffers] == ["CPU"] * 4
    assert [pattern for pattern, _ in buffers][:2] == ["exps", r"blk\.0\.ffn_(gate|up|down)\."]


def test_cpus_come_from_a_mask_and_a_range_together():
    assert settings("-C", "0x5", "-Cr", "4-5").context.cpu.cpus == (0, 2, 4, 5)
    assert "lo-hi" in refusal("-Cr", "5")
    assert "hexadecimal" in refusal("-C", "zz")


def test_proportions_are_separated_by_commas_or_slashes():
    assert settings("-ts", "3,1").model.tensor_split == settings("-ts", "3/1").model.tensor_split == (3.0, 1.0)


def test_samplers_are_known_by_name_and_by_letter():
    by_name = settings("--samplers", "top_k;Top-P;minp;temp").generation.sampling.samplers
    assert by_name == settings("--sampler-seq", "kpmt").generation.sampling.samplers
    assert by_name == ("top_k", "top_p", "min_p", "temperature")
    assert "'nope' is not a sampler" in refusal("--samplers", "top_k;nope")


def test_what_a_person_said_about_sampling_is_remembered():
    assert settings("--temp", "0.8", LLAMA_ARG_TOP_K="3").sampling_given == {"temperature", "top_k"}


def test_a_negative_seed_is_drawn():
    assert settings("-s", "-1").generation.sampling.seed == RANDOM_SEED
    assert settings("-s", "42").generation.sampling.seed == 42


def test_biases_are_a_token_and_a_signed_strength():
    bias = settings("-l", "15+1.5", "-l", "16-inf").generation.sampling.logit_bias
    assert bias == ((15, 1.5), (16, float("-inf")))
    assert "TOKEN_ID" in refusal("-l", "x+1")


def test_escapes_are_read_in_stops_and_breakers():
    generation = settings("-r", r"\n\x41\q", "--dry-sequence-breaker", r"\t").generation
    assert generation.stop == ("\nA\\q",)
    assert generation.sampling.dry_sequence_breakers == ("\t",)
    assert settings("-r", r"\n", "--no-escape").generation.stop == ("\\n",)


def test_the_first_breaker_replaces_the_defaults_and_none_empties_the_list():
    def breakers(*words):
        flags = [part for word in words for part in ("--dry-sequence-breaker", word)]
        return settings(*flags).generation.sampling.dry_sequence_breakers

    assert breakers("a", "b") == ("a", "b")
    assert breakers("none") == ()
    assert breakers("a", "none", "b") == ("b",)


def test_a_constraint_is_a_grammar_or_a_schema_from_a_flag_or_a_file(tmp_path):
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object"}')
    assert settings("--grammar", "root ::= [a-z]+").generation.grammar.kind is GrammarKind.GBNF
    from_file, inline = settings("-jf", str(schema)), settings("-j", '{"type": "object"}')
    assert from_file.generation.grammar == inline.generation.grammar
    assert "not JSON" in refusal("-j", "{")


def test_a_template_says_which_flag_it_came_from(tmp_path):
    source = tmp_path / "t.jinja"
    source.write_text("{{ messages }}")
    chat = settings("--chat-template-file", str(source)).chat
    assert (chat.template, chat.template_origin) == ("{{ messages }}", "--chat-template-file")
    assert settings("--chat-template", "chatml").chat.template == "chatml"


def test_template_variables_are_a_json_object():
    said = json.dumps({"enable_thinking": False})
    assert settings("--chat-template-kwargs", said).chat.template_kwargs == {"enable_thinking": False}
    assert "JSON object" in refusal("--chat-template-kwargs", "[1]")


def test_thinking_is_steered_by_flags():
    said = settings("-rea", "off", "--reasoning-format", "deepseek-legacy", "--reasoning-effort", "high")
    assert said.chat.reasoning == ReasoningSettings(False, ReasoningDisplay.DEEPSEEK_LEGACY, "high")
    assert settings("--reasoning-effort", "default").chat.reasoning.effort is None
    assert settings("--reasoning", "auto").chat.reasoning.enabled is None


def test_a_reranker_is_an_embedding_model_that_pools_to_a_score():
    embedding = settings("--rerank").embedding
    assert (embedding.enabled, embedding.reranking, embedding.pooling) == (True, True, "rank")


def test_a_prefix_has_one_slash_in_front_and_none_behind():
    assert settings("--api-prefix", "x/y/").server.api_prefix == "/x/y"
    assert settings("--api-prefix", "/").server.api_prefix == ""


def test_https_needs_both_files(tmp_path):
    key = tmp_path / "key.pem"
    key.write_text("")
    assert refusal("--ssl-key-file", str(key)) == "https needs both --ssl-key-file and --ssl-cert-file"


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    assert settings("--slot-save-path", str(tmp_path)).cache.slot_save_path == str(tmp_path)
    assert "not a directory" in refusal("--slot-save-path", str(tmp_path / "none"))


def test_numbers_have_their_ranges():
    assert refusal("-np", "0") == "-np: 0 is not allowed"
    assert "is above 65535" in refusal("--port", "70000")
    assert "finite" in refusal("--temp", "inf")


def test_google_clouds_variables_name_the_port_and_the_routes():
    server = settings(AIP_MODE="PREDICTION", AIP_HTTP_PORT="9000", AIP_PREDICT_ROUTE="guess").server
    assert (server.port, server.prediction.predict_route) == (9000, "/guess")
    assert settings(AIP_HTTP_PORT="9000").server.prediction is None


def test_a_flag_of_an_absent_feature_warns_once_and_changes_nothing():
    command_line = parse(["-md", "a.gguf", "-md", "b.gguf"], {})
    assert command_line.settings == Settings()
    assert len(command_line.warnings) == 1
    assert command_line.warnings[0].startswith("-md has no effect: there is no speculative decoding")


def test_asking_for_what_happens_anyway_says_nothing():
    arguments = [
        "--no-mmproj",
        "--cont-batching",
        "--no-agent",
        "--spec-type",
        "none",
        "--fit",
        "off",
        "--no-perf",
        "--jinja",
    ]
    assert parse(arguments, {}).warnings == ()
    assert parse(["--no-cont-batching"], {}).warnings != ()


def test_a_feature_whose_absence_would_change_the_answers_is_refused_with_the_way_out():
    assert refusal("--mmproj", "x") == (
        "--mmproj: images, audio and video are not read: serve the model for text, without --mmproj"
    )
    assert "start a server for each" in refusal(LLAMA_ARG_MODELS_DIR="/m")
    assert "--spec-draft-n-max" in refusal("--draft", "8")


def test_a_variable_that_no_flag_reads_is_mentioned():
    assert parse([], {"LLAMA_ARG_CTX_SZIE": "4096", "FERROX_UNSET": "", "PATH": "/bin"}).warnings == (
        "LLAMA_ARG_CTX_SZIE is set, but no flag reads it (the nearest known variable is LLAMA_ARG_CTX_SIZE)",
    )


def test_an_action_needs_nothing_else():
    assert parse(["-m", "x", "--help", "--mmproj", "y"], {"LLAMA_ARG_PORT": "x"}).action is Action.HELP


@pytest.mark.behaviour("K3")
@pytest.mark.parametrize("word", ["0", "false", "off", "no", "disabled", " No ", "OFF", "False\n"])
def test_prefill_is_turned_off_by_these_words(word):
    assert not settings(FERROX_PREFILL_ASSISTANT=word).chat.prefill_assistant
    assert not settings(LLAMA_ARG_PREFILL_ASSISTANT=word).chat.prefill_assistant


@pytest.mark.behaviour("K3")
def test_prefill_is_on_unless_something_turns_it_off():
    assert settings().chat.prefill_assistant
    assert settings(FERROX_PREFILL_ASSISTANT="1").chat.prefill_assistant
    assert not settings("--no-prefill-assistant").chat.prefill_assistant


@pytest.mark.behaviour("K3")
def test_prefill_listens_to_the_flag_then_llama_servers_variable_then_ours():
    off = {"LLAMA_ARG_PREFILL_ASSISTANT": "0", "FERROX_PREFILL_ASSISTANT": "0"}
    assert settings("--prefill-assistant", **off).chat.prefill_assistant
    assert settings(LLAMA_ARG_PREFILL_ASSISTANT="on", FERROX_PREFILL_ASSISTANT="off").chat.prefill_assistant
    assert not settings(LLAMA_ARG_NO_PREFILL_ASSISTANT="1", FERROX_PREFILL_ASSISTANT="on").chat.prefill_assistant


@pytest.mark.behaviour("K3")
def test_any_other_word_about_prefill_ends_the_program():
    assert refusal(FERROX_PREFILL_ASSISTANT="maybe").startswith("FERROX_PREFILL_ASSISTANT: 'maybe' is neither")
