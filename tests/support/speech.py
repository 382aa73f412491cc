"""How each family writes a thought, an answer and calls: one row a template, as wire-formats section 3 tells it.

This is written from the specification, not from the product's own table, so that one can judge the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from support.json_calls import WRITERS
from support.tagged_calls import FORMS

Calls = Sequence[tuple[str, Mapping[str, str]]]
"""(name, arguments); all arguments are strings here, since types are the parsers' own tests' matter."""


@dataclass(frozen=True)
class Run:
    """A part of an output. thinks: its tokens count as reasoning."""

    text: str
    thinks: bool = False


@dataclass(frozen=True)
class Speech:
    """One family.

    opener, closer: around a thought, with the layout that the model writes.  layout: between closer and answer.
    around: what an answer stands in.  calls: the text of some calls.  parallel: more than one is possible.
    ids: of the calls in `calls`, where the model writes them.  content: can an answer be continued; thought: can one.
    ends: end tokens of answer and calls, where `</s>` is not what stops this family.
    companions: tokens of the vocabulary that are not said.  name: of the model, where the template alone says nothing.
    """

    calls: Callable[[Calls], str]
    opener: str = ""
    closer: str = ""
    layout: str = ""
    around: tuple[str, str] = ("", "")
    parallel: bool = True
    ids: tuple[str, ...] = ()
    content: bool = True
    thought: bool = True
    ends: tuple[str, str] = ("</s>", "</s>")
    companions: tuple[str, ...] = ()
    name: str = "scripted"
    channels: bool = field(default=False, init=False)

    @property
    def thinks(self) -> bool:
        return bool(self.closer) or self.channels

    def think(self, thought: str, *, opened: bool) -> list[Run]:
        """A whole thought, with what leads to the answer or the calls."""
        if not self.closer:
            return []
        opening = "" if opened else self.opener
        return [Run(opening + thought + self.closer, thinks=True), Run(self.layout)]

    def answer(self, text: str) -> list[Run]:
        return [Run(self.around[0] + text + self.around[1])]

    def continued(self, text: str) -> list[Run]:
        """The rest of an answer."""
        return [Run(text + self.around[1])]

    def call(self, calls: Calls) -> list[Run]:
        return [Run(self.calls(calls))]


@dataclass(frozen=True)
class Harmony(Speech):
    """Channels: an analysis message, then a message to the user or to a function."""

    channels: bool = field(default=True, init=False)

    def think(self, thought: str, *, opened: bool) -> list[Run]:
        return [Run(f"<|channel|>analysis<|message|>{thought}<|end|>", thinks=True), Run("<|start|>assistant")]

    def answer(self, text: str) -> list[Run]:
        return [Run(f"<|channel|>final<|message|>{text}")]


@dataclass(frozen=True)
class Atem(Speech):
    """Recipients: a message to itself, then one to the user or to tools. The prompt stops inside a header."""

    channels: bool = field(default=True, init=False)

    def think(self, thought: str, *, opened: bool) -> list[Run]:
        return [Run(f" to=self<|message|>{thought}<|eom|>", thinks=True), Run("<|start|>assistant")]

    def answer(self, text: str) -> list[Run]:
        return [Run(f" to=user<|message|>{text}")]


def json(form: str, change: Callable[[str], str] = str) -> Callable[[Calls], str]:
    """A syntax with JSON payloads, of strings."""

    def write(calls: Calls) -> str:
        return change(WRITERS[form]([(name, json_object(arguments)) for name, arguments in calls]))

    return write


def json_object(arguments: Mapping[str, str]) -> str:
    return "{" + ", ".join(f'"{key}": "{value}"' for key, value in arguments.items()) + "}"


def tagged(form: str, change: Callable[[str], str] = str) -> Callable[[Calls], str]:
    def write(calls: Calls) -> str:
        return change(FORMS[form].write(*[(name, dict(arguments)) for name, arguments in calls]))

    return write


def harmony_call(calls: Calls) -> str:
    ((name, arguments),) = calls
    return f" to=functions.{name}<|channel|>commentary json<|message|>{json_object(arguments)}"


def atem_calls(calls: Calls) -> str:
    """Each call is a message to its tool."""
    return "<|eom|><|start|>assistant".join(f" to={name}<|message|>{atem_call(name, rest)}" for name, rest in calls)


def atem_call(name: str, arguments: Mapping[str, str]) -> str:
    values = "".join(f'<atem:parameter name="{key}">{value}</atem:parameter>\n' for key, value in arguments.items())
    return f'<atem:function_calls>\n<atem:invoke name="{name}">\n{values}</atem:invoke>\n</atem:function_calls>'


def think(calls: Callable[[Calls], str], layout: str = "\n\n", **fields) -> Speech:
    """`<think>` on lines of its own."""
    return Speech(calls, "<think>\n", "\n</think>", layout, **fields)


def tight(calls: Callable[[Calls], str], **fields) -> Speech:
    """`<think>` without line breaks."""
    return Speech(calls, "<think>", "</think>", **fields)


HERMES = json("qwen25")
V4 = tagged("deepseekv32", lambda text: text.replace("function_calls", "tool_calls"))
GLM_TIGHT = tagged("glm47", lambda text: text.replace("\n", ""))
NINE = ("000000000", "000000001")
KIMI = ("functions.get_weather:0", "functions.lookup:1")
TEN = ("a1b2c3d4e0", "a1b2c3d4e1")
COHERE = {
    "calls": json("cohere"),
    "opener": "<|START_THINKING|>",
    "closer": "<|END_THINKING|>",
    "ids": ("0", "1"),
}
GEMMA = Speech(tagged("gemma4"), "<|channel>thought\n", "\n<channel|>")


def without_ids(text: str) -> str:
    for number in NINE:
        text = text.replace(f"[CALL_ID]{number}", "")
    return text


SPEECH: dict[str, Speech] = {
    "Apertus-8B-Instruct": Speech(json("apertus"), "<|inner_prefix|>", "<|inner_suffix|>"),
    "Apriel-1.6-15b-Thinker-fixed": Speech(json("apriel"), closer="\n[BEGIN FINAL RESPONSE]", layout="\n"),
    "Bielik-11B-v3.0-Instruct": think(HERMES, "\n"),
    "ByteDance-Seed-OSS": Speech(tagged("seed_oss"), "<seed:think>", "</seed:think>", "\n"),
    "Cohere2MoE": Speech(**COHERE, around=("<|START_TEXT|>", "<|END_TEXT|>")),
    "CohereForAI-c4ai-command-r-plus-tool_use": Speech(json("command_r_plus")),
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": Speech(
        **COHERE, around=("<|START_RESPONSE|>", "<|END_RESPONSE|>")
    ),
    "GLM-4.6": Speech(tagged("glm47"), "\n<think>", "</think>", "\n"),
    "GLM-4.7-Flash": tight(GLM_TIGHT),
    "GigaChat3-10B-A1.8B": Speech(json("gigachat3"), parallel=False),
    "GigaChat3.1-10B-A1.8B": Speech(json("gigachat31"), parallel=False),
    "HuggingFaceTB-SmolLM3-3B": think(HERMES, "\n"),
    "Kimi-K2-Instruct": Speech(json("kimi_k2"), ids=KIMI),
    "Kimi-K2-Thinking": tight(json("kimi_k2"), ids=KIMI),
    "Kimi-K3": Speech(
        tagged("kimi_k3"),
        "<|open|>think<|sep|>",
        "<|close|>think<|sep|>",
        around=("<|open|>response<|sep|>", "<|close|>response<|sep|><|close|>message<|sep|>"),
    ),
    "LFM2-8B-A1B": Speech(tagged("lfm2")),
    "LFM2.5-8B-A1B": tight(tagged("lfm2")),
    "LFM2.5-Instruct": Speech(tagged("lfm2")),
    "MiMo-VL": think(HERMES, "\n", name="MiMo-VL-7B-RL"),
    "MiniMax-M1": think(json("minimax_m1")),
    "MiniMax-M2": think(tagged("minimax"), content=False),
    "MiniMax-M3": Speech(tagged("minimax_m3"), "<mm:think>", "</mm:think>"),
    "Mistral-Small-3.2-24B-Instruct-2506": Speech(json("mistral_v11"), ids=NINE),
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": think(tagged("qwen3_coder"), "\n"),
    "NVIDIA-Nemotron-Nano-v2": think(json("nemotron_v2")),
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": Speech(HERMES),
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": Speech(HERMES),
    "Qwen-QwQ-32B": think(HERMES),
    "Qwen-Qwen2.5-7B-Instruct": Speech(HERMES),
    "Qwen-Qwen3-0.6B": think(HERMES),
    "Qwen3-Coder": Speech(tagged("qwen3_coder")),
    "Qwen3.5-4B": think(tagged("qwen3_coder")),
    "Reka-Edge": think(HERMES),
    "Spark2.5": tight(GLM_TIGHT),
    "StepFun3.5-Flash": think(tagged("qwen3_coder"), "\n"),
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": think(json("deepseek_r1")),
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": think(json("deepseek_r1")),
    "deepseek-ai-DeepSeek-V3.1": tight(json("deepseek_v31")),
    "deepseek-ai-DeepSeek-V3.2": tight(tagged("deepseekv32"), content=False, companions=("｜DSML｜",)),
    "deepseek-ai-DeepSeek-V4": tight(V4, content=False, companions=("｜DSML｜",)),
    "deepseek-ai-DeepSeek-V4-Flash-0731": tight(V4, content=False, companions=("｜DSML｜",)),
    "fireworks-ai-llama-3-firefunction-v2": Speech(json("firefunction", " {}".format)),
    "google-gemma-2-2b-it": Speech(HERMES),
    "google-gemma-4-31B-it": GEMMA,
    "google-gemma-4-31B-it-interleaved": GEMMA,
    "ibm-granite-granite-3.3-2B-Instruct": tight(json("granite33"), around=("<response>", "</response>")),
    "ibm-granite-granite-4.0": Speech(HERMES),
    "ibm-granite-granite-4.1": Speech(HERMES),
    "inclusionai-ling-3.0-flash": think(tagged("glm47"), "\n"),
    "llama-cpp-deepseek-r1": think(json("deepseek_r1")),
    "llama-cpp-rwkv-world": think(HERMES),
    "meetkai-functionary-medium-v3.1": Speech(json("functionary_v31")),
    "meetkai-functionary-medium-v3.2": Speech(
        json("functionary_v32", lambda text: text.removeprefix(">>>")), around=("all\n", "")
    ),
    "meta-llama-Llama-3.1-8B-Instruct": Speech(json("llama3")),
    "meta-llama-Llama-3.2-3B-Instruct": Speech(json("llama3")),
    "meta-llama-Llama-3.3-70B-Instruct": Speech(json("llama3")),
    "microsoft-Phi-3.5-mini-instruct": Speech(HERMES),
    "mistralai-Ministral-3-14B-Reasoning-2512": Speech(json("mistral_v11", without_ids), "[THINK]", "[/THINK]"),
    "mistralai-Mistral-Nemo-Instruct-2407": Speech(json("mistral"), ids=NINE),
    "moonshotai-Kimi-K2": Speech(json("kimi_k2"), ids=KIMI),
    "muse-glimmer": Atem(atem_calls, content=False, thought=False),
    "openai-gpt-oss-120b": Harmony(
        harmony_call,
        parallel=False,
        content=False,
        thought=False,
        ends=("<|return|>", "<|call|>"),
        companions=("<|return|>", "<|call|>"),
    ),
    "openbmb-MiniCPM5-1B": think(tagged("minicpm5")),
    "poolside-Laguna-S-2.1": tight(GLM_TIGHT),
    "poolside-Laguna-XS-2.1": tight(tagged("glm47")),
    "poolside-Laguna-XS.2": tight(tagged("glm47")),
    "tencent-Hy3": Speech(tagged("hunyuan_v3"), "<think:opensource>", "</think:opensource>"),
    "unsloth-Apriel-1.5": Speech(json("apriel")),
    "unsloth-mistral-Devstral-Small-2507": Speech(json("mistral_v11", without_ids)),
    "upstage-Solar-Open-100B": Speech(
        json("solar_open", lambda text: text.removesuffix("<|calls|>")),
        "<|think|>",
        "<|end|>",
        "<|begin|>assistant",
        around=("<|content|>", ""),
        ids=TEN,
        ends=("</s>", "<|calls|>"),
        companions=("<|calls|>", "<|flush|>"),
    ),
}
