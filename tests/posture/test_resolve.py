"""Evidence is weighed in order, fills only what stronger evidence left open, and is told in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.templates import templates

from ferrox_gguf.errors import StartupError
from ferrox_gguf.gguf import FileFacts, NamedToken, SpecialToken
from ferrox_gguf.posture import PostureInputs, resolve
from ferrox_gguf.posture.inputs import inputs_of
from ferrox_gguf.posture.open_block import block_state
from ferrox_gguf.posture.values import BlockState, Posture, ReasoningProtocol

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
THINK_TOKENS = frozenset({"<think>", "</think>"})


def formats(posture: Posture) -> tuple[str | None, str | None]:
    return posture.reasoning.name if posture.reasoning else None, posture.tool_format


def about(
    architecture: str | None = None, name: str | None = None, markers: frozenset[str] = frozenset()
) -> PostureInputs:
    return PostureInputs(architecture, (name,) if name else (), markers)


def test_a_flag_beats_the_template() -> None:
    source = templates()["Qwen-Qwen3-0.6B"]
    assert formats(resolve(about(), source)) == ("qwen3", "qwen25")
    posture = resolve(about(), source, reasoning_parser="none", tool_call_parser="glm47")
    assert formats(posture) == (None, "glm47")
    assert posture.protocol is ReasoningProtocol.NONE
    assert posture.evidence[:2] == (
        "no reasoning format: asked for by flag",
        "tool format glm47: asked for by flag",
    )


def test_a_flag_for_one_half_leaves_the_other_to_the_evidence() -> None:
    posture = resolve(about(), templates()["Qwen3.5-4B"], tool_call_parser="hermes")
    assert formats(posture) == ("qwen3", "qwen25")
    assert not posture.calls_interrupt, "a Hermes call inside an open thought is never a call"


def test_a_format_asked_for_by_name_keeps_the_templates_own_spelling_of_it() -> None:
    asked = resolve(about(), templates()["Cohere2MoE"], reasoning_parser="cohere")
    assert asked.reasoning == resolve(about(), templates()["Cohere2MoE"]).reasoning


@pytest.mark.parametrize("name", ["deepseek-r1", "DeepSeek_R1", " qwen3 ", "glm45"])
def test_the_names_that_other_servers_use_are_understood(name: str) -> None:
    assert formats(resolve(about(), None, reasoning_parser=name))[0] == "qwen3"


@pytest.mark.parametrize("half", ["reasoning_parser", "tool_call_parser"])
def test_an_unknown_name_is_refused_with_the_names_that_exist(half: str) -> None:
    with pytest.raises(StartupError, match=r"there is no .* 'quen3'; there are: .*qwen3.*, none"):
        resolve(about(), None, **{half: "quen3"})  # type: ignore[arg-type]


def test_the_template_beats_vocabulary_architecture_and_name() -> None:
    everything_else = about("gpt-oss", "MiniMax-M2", frozenset({"[TOOL_CALLS]", "[THINK]", "[/THINK]"}))
    assert formats(resolve(everything_else, templates()["Qwen-Qwen3-0.6B"])) == ("qwen3", "qwen25")


def test_a_signature_that_says_there_is_no_thought_is_believed_over_the_vocabulary() -> None:
    assert formats(resolve(about(markers=THINK_TOKENS), templates()["Qwen3-Coder"])) == (None, "qwen3_coder")


def test_a_template_that_many_families_share_leaves_thinking_to_the_vocabulary() -> None:
    source = templates()["MiMo-VL"]
    assert formats(resolve(about(), source)) == (None, "qwen25")
    posture = resolve(about(markers=THINK_TOKENS), source)
    assert formats(posture) == ("qwen3", "qwen25")
    assert "the vocabulary has `<think>` and `</think>`" in "\n".join(posture.evidence)


def test_or_to_the_name() -> None:
    posture = resolve(about(name="MiMo-VL-7B-RL"), templates()["MiMo-VL"])
    assert formats(posture) == ("qwen3", "qwen25")
    assert "the model is called MiMo-VL-7B-RL" in "\n".join(posture.evidence)


def test_a_plain_template_of_a_fine_tune_leaves_thinking_to_the_vocabulary() -> None:
    assert formats(resolve(about(markers=THINK_TOKENS), CHATML)) == ("qwen3", None)
    assert formats(resolve(about(), CHATML)) == (None, None)


@pytest.mark.parametrize(
    ("markers", "expected"),
    [
        ({"<|channel|>", "<|message|>", "<|start|>"}, ("gpt_oss", "gpt_oss")),
        ({"[TOOL_CALLS]", "[ARGS]", "[THINK]", "[/THINK]"}, ("mistral", "mistral_v11")),
        ({"[TOOL_CALLS]"}, (None, "mistral")),
        ({"<tool_call>", "</tool_call>", "<think>", "</think>"}, ("qwen3", "qwen25")),
        ({"<think>", "</think>"}, ("qwen3", None)),
        ({"<|START_ACTION|>", "<|START_TEXT|>", "<|START_THINKING|>", "<|END_THINKING|>"}, ("cohere", "cohere")),
        ({"<seed:think>", "</seed:think>", "<seed:tool_call>"}, ("seed_oss", "seed_oss")),
        ({"<|im_start|>", "<|im_end|>"}, (None, None)),
    ],
)
def test_marker_tokens_speak_where_there_is_no_template(
    markers: set[str], expected: tuple[str | None, str | None]
) -> None:
    assert formats(resolve(about(markers=frozenset(markers)), None)) == expected


@pytest.mark.parametrize(
    ("architecture", "expected"),
    [
        ("gpt-oss", ("gpt_oss", "gpt_oss")),
        ("minimax-m2", ("minimax", "minimax")),
        ("cohere2moe", ("cohere", "cohere")),
        ("llama", (None, None)),
        ("qwen2", (None, None)),
        ("deepseek2", (None, None)),
        ("glm4moe", (None, None)),
    ],
)
def test_an_architecture_speaks_only_where_all_its_models_speak_alike(
    architecture: str, expected: tuple[str | None, str | None]
) -> None:
    assert formats(resolve(about(architecture), None)) == expected


def test_an_architecture_fills_what_a_plain_template_leaves_open() -> None:
    assert formats(resolve(about("gpt-oss"), CHATML)) == ("gpt_oss", "gpt_oss")
    assert formats(resolve(about("gpt-oss"), templates()["Qwen3-Coder"])) == (None, "qwen3_coder")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DeepSeek-R1-Distill-Qwen-7B", ("qwen3", "deepseek_r1")),
        ("Qwen3-Coder-30B-A3B-Instruct", (None, "qwen3_coder")),
        ("Qwen3.5-4B", ("qwen3", "qwen3_coder")),
        ("qwen3_8b-q4_k_m.gguf", ("qwen3", "qwen25")),
        ("Qwen2.5-7B-Instruct", (None, "qwen25")),
        ("Qwen3 4B Instruct 2507", (None, "qwen25")),
        ("Meta-Llama-3.1-8B-Instruct", (None, "llama3")),
        ("Hermes-3-Llama-3.1-8B", (None, "qwen25")),
        ("Phi-4-mini-instruct", (None, "firefunction")),
        ("Phi-4-mini-reasoning", ("qwen3", None)),
        ("Phi-4-reasoning-plus", ("qwen3", None)),
        ("Magistral-Small-2506", ("qwen3", "mistral")),
        ("Magistral-Small-2509", ("mistral", "mistral_v11")),
        ("Hunyuan-A13B-Instruct", ("hunyuan_a13b", "apriel")),
        ("EXAONE-4.0-32B", ("qwen3", "qwen25")),
        ("MiMo-V2-Flash", ("qwen3", "qwen3_coder")),
        ("kimi-k2-thinking", ("qwen3", "kimi_k2")),
        ("gemma-3-4b-it", (None, None)),
        ("some-model-nobody-knows", (None, None)),
    ],
)
def test_the_name_speaks_last(name: str, expected: tuple[str | None, str | None]) -> None:
    assert formats(resolve(about(name=name), None)) == expected


def test_each_half_is_explained_by_the_evidence_that_settled_it() -> None:
    posture = resolve(about("llama", "Qwen3-8B", frozenset({"[TOOL_CALLS]"})), None)
    assert formats(posture) == ("qwen3", "mistral")
    told = "\n".join(posture.evidence)
    assert "tool format mistral: the vocabulary has `[TOOL_CALLS]`" in told
    assert "reasoning format qwen3: the model is called Qwen3-8B" in told


@pytest.mark.parametrize("value", [None, "", "chatml", "mistral-v7-tekken"])
def test_a_templates_name_is_no_template(value: str | None) -> None:
    posture = resolve(about(), value)
    assert posture.protocol is ReasoningProtocol.UNKNOWN
    assert posture.evidence[0] == (f"the template is a name: {value}" if value else "there is no template")


def test_a_template_that_is_not_jinja_is_judged_by_its_text() -> None:
    posture = resolve(about(), "{% if %}<tool_call> <think>{{ }")
    assert formats(posture) == ("qwen3", "qwen25")
    assert posture.evidence[0].startswith("the template cannot be rendered: ")


def test_the_facts_of_a_file_are_the_evidence() -> None:
    facts = FileFacts(
        path="/models/file-name.gguf",
        architecture="llama",
        name="A name",
        basename="A base",
        special_tokens={"<think>": SpecialToken(5, "<think>", control=False)},
        bos=NamedToken(1, "<s>"),
        eos=NamedToken(99, None),
    )
    inputs = inputs_of(facts)
    assert inputs.names == ("A name", "A base", "file-name.gguf")
    assert (inputs.architecture, inputs.bos_token, inputs.eos_token) == ("llama", "<s>", "")
    assert inputs.markers == {"<think>"}
    assert resolve(facts, None) == resolve(inputs, None)


@pytest.mark.behaviour("O3")
def test_one_posture_and_the_rendered_prompt_settle_how_a_request_is_read() -> None:
    from ferrox_gguf.request import ChatRequest, Message, Thinking
    from ferrox_gguf.settings import ChatSettings
    from ferrox_gguf.template.render import Renderer

    source = templates()["Qwen3.5-4B"]
    posture = resolve(about(), source)
    assert formats(posture) == ("qwen3", "qwen3_coder")
    renderer = Renderer(source, posture)
    blocks = [
        renderer.render(
            ChatRequest((Message("user", "An open <think> of the user's"),), thinking=Thinking(enabled=thinking)),
            ChatSettings(),
        ).block
        for thinking in (True, False)
    ]
    assert blocks == [BlockState.OPEN, BlockState.CLOSED]


@given(st.text(), st.text())
def test_any_text_resolves(source: str, name: str) -> None:
    posture = resolve(about(name=name, architecture=name), source)
    assert posture.evidence
    if posture.reasoning is not None:
        assert block_state(source, posture.reasoning) in BlockState


@given(st.lists(st.sampled_from(["{{", "}}", "{%", "%}", "<tool_call>", "<think>", "m", " for ", "messages", "'"])))
def test_any_broken_template_resolves(parts: list[str]) -> None:
    assert resolve(about(), "".join(parts)).evidence
