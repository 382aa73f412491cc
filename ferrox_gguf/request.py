"""What a client asked, after its dialect is gone: frozen values, made by `wire/`, read by everything below.

Defaults here are llama-server's. A field that a client left out and a flag may still decide is None.
Presentation (stream or not, which fields to show) stays in `wire/`: nothing below it may depend on that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from ferrox_gguf.json_types import Json, JsonObject

RANDOM_SEED = 0xFFFFFFFF
"""llama.cpp's LLAMA_DEFAULT_SEED: draw a seed (and report the one drawn)."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is drawn. Units and neutral values as in llama-server's README.

    samplers: order of the chain, llama-server's long names; None means the default order.
    logit_bias: (token id, bias) pairs; -inf bans a token. Text keys were tokenised before this value was made.
    repeat_last_n, dry_penalty_last_n: tokens looked back; 0 is off, -1 the whole context.
    """

    seed: int = RANDOM_SEED
    temperature: float = 0.8
    dynatemp_range: float = 0.0
    dynatemp_exponent: float = 1.0
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    top_n_sigma: float = -1.0
    xtc_probability: float = 0.0
    xtc_threshold: float = 0.1
    typical_p: float = 1.0
    repeat_last_n: int = 64
    repeat_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    dry_multiplier: float = 0.0
    dry_base: float = 1.75
    dry_allowed_length: int = 2
    dry_penalty_last_n: int = 64
    dry_sequence_breakers: tuple[str, ...] = ("\n", ":", '"', "*")
    mirostat: int = 0
    mirostat_tau: float = 5.0
    mirostat_eta: float = 0.1
    adaptive_target: float = -1.0
    adaptive_decay: float = 0.9
    min_keep: int = 0
    samplers: tuple[str, ...] | None = None
    logit_bias: tuple[tuple[int, float], ...] = ()
    ignore_eos: bool = False


class GrammarKind(Enum):
    """What language a constraint is written in."""

    JSON_SCHEMA = "json_schema"
    GBNF = "gbnf"
    LARK = "lark"


@dataclass(frozen=True, slots=True)
class GrammarTrigger:
    """What wakes a lazy grammar. kind: word | token | pattern | pattern_full (llama-server's numbers 1, 0, 2, 3)."""

    kind: str
    value: str
    token: int | None = None


@dataclass(frozen=True, slots=True)
class GrammarSpec:
    """An output constraint as the caller wrote it; `grammar/` compiles it.

    lazy: begins at the first trigger only.  after_reasoning: begins once the thought has closed.
    """

    kind: GrammarKind
    source: str
    lazy: bool = False
    triggers: tuple[GrammarTrigger, ...] = ()
    after_reasoning: bool = True


@dataclass(frozen=True, slots=True)
class LoraScale:
    """One loaded adapter (by index) and how strongly this request wants it."""

    adapter: int
    scale: float


@dataclass(frozen=True, slots=True)
class AdapterState:
    """One loaded adapter as clients see it. scale: how strongly a request without a choice of its own gets it."""

    path: str
    scale: float
    task_name: str = ""
    prompt_prefix: str = ""


@dataclass(frozen=True, slots=True)
class Generation:
    """How much to generate, when to stop, and what to report about it.

    max_tokens: new tokens at most; -1 until the context is full (or the end-of-generation token).
    stop: strings that end the answer and are not shown.  n: independent sequences from one prompt.
    n_probs: alternatives reported per token; 0 none.  id_slot: -1 any.
    t_max_predict_ms: stop at the first line break after this time; 0 off.  n_indent: minimum indentation (infill).
    n_keep / n_discard: prompt tokens kept, and tokens dropped, when the context shifts.
    """

    sampling: Sampling = field(default_factory=Sampling)
    max_tokens: int = -1
    stop: tuple[str, ...] = ()
    n: int = 1
    n_probs: int = 0
    post_sampling_probs: bool = False
    cache_prompt: bool = True
    id_slot: int = -1
    t_max_predict_ms: int = 0
    n_indent: int = 0
    n_keep: int = 0
    n_discard: int = 0
    n_cache_reuse: int = 0
    grammar: GrammarSpec | None = None
    lora: tuple[LoraScale, ...] | None = None


@dataclass(frozen=True, slots=True)
class TextPart:
    """One text part of a message's content."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call in the history. arguments: JSON text, as OpenAI writes it (an object argument was serialised)."""

    name: str
    arguments: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. content: text, parts in their order, or None when the client sent null or nothing.

    extra: fields of the client's message that no dialect names, which a template may still read.
    """

    role: str
    content: str | tuple[TextPart, ...] | None = None
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tool:
    """A function on offer. parameters: its JSON Schema, {} when the client gave none."""

    name: str
    description: str | None = None
    parameters: JsonObject = field(default_factory=dict)
    strict: bool = False


class ToolChoiceMode(Enum):
    NONE = "none"
    AUTO = "auto"
    REQUIRED = "required"
    NAMED = "named"


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether the model may, must or must not call. name: the one function when mode is NAMED."""

    mode: ToolChoiceMode = ToolChoiceMode.AUTO
    name: str | None = None


class Continuation(Enum):
    """continue_final_message as the client sent it (required behaviours K1). UNSET: absent or null."""

    UNSET = "unset"
    AUTO = "auto"
    REASONING = "reasoning_content"
    CONTENT = "content"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Thinking:
    """What the request says about thinking; None leaves it to the flags.

    enabled: on or off.  effort: the client's word (low, medium, high, …).
    budget: reasoning tokens at most, -1 unlimited, 0 none.  budget_message: text written before the forced closer.
    controllable: a person may end the thought while it runs.
    """

    enabled: bool | None = None
    effort: str | None = None
    budget: int | None = None
    budget_message: str | None = None
    controllable: bool = False


class ReasoningDisplay(Enum):
    """llama-server's reasoning_format: where a recognised thought is shown. AUTO behaves as DEEPSEEK."""

    NONE = "none"
    AUTO = "auto"
    DEEPSEEK = "deepseek"
    DEEPSEEK_LEGACY = "deepseek-legacy"


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A conversation to continue, in no dialect.

    template_kwargs: `chat_template_kwargs` as sent; passed to the template last.
    add_generation_prompt: None when the client did not say.
    """

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = field(default_factory=ToolChoice)
    parallel_tool_calls: bool | None = None
    template_kwargs: Mapping[str, Json] = field(default_factory=dict)
    add_generation_prompt: bool | None = None
    continuation: Continuation = Continuation.UNSET
    thinking: Thinking = field(default_factory=Thinking)
    reasoning_display: ReasoningDisplay | None = None
    generation: Generation = field(default_factory=Generation)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A raw prompt: text and token ids in any order, as llama-server's mixed prompts allow."""

    pieces: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """Prompts to continue as they are, each on its own."""

    prompts: tuple[Prompt, ...]
    generation: Generation = field(default_factory=Generation)


@dataclass(frozen=True, slots=True)
class ExtraFile:
    """One file of context beside the one being completed."""

    text: str
    name: str = "tmp"


@dataclass(frozen=True, slots=True)
class InfillRequest:
    """Code before and after the cursor.

    prompt: what was already typed at the cursor; it follows the prefix.  extra: the most relevant file last.
    """

    prefix: str
    suffix: str
    prompt: str = ""
    extra: tuple[ExtraFile, ...] = ()
    generation: Generation = field(default_factory=Generation)
