"""Everything a person decided when starting the server: frozen values, llama-server's defaults, no parsing.

`cli/` fills it from flags and variables; `runtime/` hands the parts on (it alone turns `model`, `context`, `adapters`
and `embedding` into what `llama/` wants). Words with a fixed list of values are plain strings here, spelled as the flag
spells them and checked by `cli/`; the enum that gives them meaning lives with its owner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, Union

from ferrox_gguf.json_types import Json
from ferrox_gguf.request import Generation, ReasoningDisplay

AUTO_SLOTS = 4
"""Slots when nobody asked for a number (`-np -1`); they then share the whole context, as in llama-server."""

MetadataValue: TypeAlias = Union[bool, int, float, str]


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where a model comes from when no file was named.

    repository: "user/name" with an optional ":quant".  file: a file of it, "" to choose by quant.
    token: access token, "" none.  offline: the cache only, no network.
    """

    repository: str = ""
    file: str = ""
    url: str = ""
    token: str = field(default="", repr=False)
    offline: bool = False


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The file, the names it is served under, and how its weights are laid out.

    path: the GGUF (first part of a split one); "" until `cli/` has fetched `source`.
    n_gpu_layers: -1 auto, -2 all.  devices: ("none",) for the CPU alone, () for llama.cpp's own choice.
    tensor_buffers: (tensor name pattern, buffer type), the first that matches counts.
    override_kv: metadata key and the value to put in its place.  tensor_split: proportions, one a device.
    """

    path: str = ""
    source: ModelSource = field(default_factory=ModelSource)
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    n_gpu_layers: int = -1
    split_mode: str = "layer"
    main_gpu: int = 0
    tensor_split: tuple[float, ...] = ()
    devices: tuple[str, ...] = ()
    tensor_buffers: tuple[tuple[str, str], ...] = ()
    load_mode: str = "auto"
    lazy_mode: str = "auto"
    numa: str = "off"
    override_kv: tuple[tuple[str, MetadataValue], ...] = ()
    check_tensors: bool = False
    repack: bool = True
    no_host: bool = False
    op_offload: bool = True
    warmup: bool = True


@dataclass(frozen=True, slots=True)
class RopeSettings:
    """Position scaling. Zeros and negatives mean "as the model says".

    scale: `--rope-scale`, how many times longer (0 unset).  frequency_scale: its inverse, `--rope-freq-scale`.
    """

    scaling: str = "model"
    scale: float = 0.0
    frequency_base: float = 0.0
    frequency_scale: float = 0.0
    yarn_original_context: int = 0
    yarn_extrapolation: float = -1.0
    yarn_attention: float = -1.0
    yarn_beta_slow: float = -1.0
    yarn_beta_fast: float = -1.0


@dataclass(frozen=True, slots=True)
class CpuSettings:
    """Threads and where they run, for one kind of work (generation or prompt reading).

    n_threads: -1 all physical cores (for prompt reading: as generation).  cpus: numbers of the CPUs to stay on, () any.
    """

    n_threads: int = -1
    cpus: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """How much the server can hold and how it computes. Sizes in tokens.

    n_ctx: all slots together; 0 the model's trained context.  n_parallel: slots; -1 automatic (AUTO_SLOTS).
    n_ctx_per_slot: what one request may use at most; 0 no limit of its own.
    kv_unified: may one request use all of n_ctx?  None: exactly when n_parallel is automatic.
    """

    n_ctx: int = 0
    n_parallel: int = -1
    n_ctx_per_slot: int = 0
    n_batch: int = 2048
    n_ubatch: int = 512
    cpu: CpuSettings = field(default_factory=CpuSettings)
    cpu_batch: CpuSettings = field(default_factory=CpuSettings)
    flash_attention: str = "auto"
    cache_type_k: str = "f16"
    cache_type_v: str = "f16"
    kv_unified: bool | None = None
    kv_offload: bool = True
    swa_full: bool = False
    context_shift: bool = False
    rope: RopeSettings = field(default_factory=RopeSettings)


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Vectors instead of text. enabled: `--embedding`.  pooling: "model" is what the file says.

    normalize: -1 none, 0 largest is 32760, 1 taxicab, 2 euclidean, p the p-norm.
    """

    enabled: bool = False
    reranking: bool = False
    pooling: str = "model"
    normalize: int = 2


@dataclass(frozen=True, slots=True)
class Adapter:
    """A LoRA file, or a control vector, and how strongly it is applied."""

    path: str
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class AdapterSettings:
    """lora_apply: False loads the adapters with scale 0.  control_vector_layers: (first, last) inclusive."""

    lora: tuple[Adapter, ...] = ()
    lora_apply: bool = True
    control_vectors: tuple[Adapter, ...] = ()
    control_vector_layers: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ReasoningSettings:
    """What the flags say about thinking; a request may say otherwise.

    enabled: None leaves it to the template (on, wire formats section 0).  effort: None is the template's own.
    budget: thought tokens at most, -1 unlimited, 0 none.  preserve: earlier turns keep their thoughts, if the template
    can.  parser: a reasoning format's name (posture), None to resolve it from the file.
    """

    enabled: bool | None = None
    display: ReasoningDisplay = ReasoningDisplay.AUTO
    effort: str | None = None
    budget: int = -1
    budget_message: str = ""
    preserve: bool = True
    parser: str | None = None


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How conversations become prompts, and answers become messages.

    template: a built-in's name or Jinja source, None for the file's own.  template_origin: the flag it came from.
    jinja: False renders the built-in named templates only.  template_kwargs: before the request's own.
    skip_parsing: everything the model writes is content.  tool_call_parser: a syntax's name, None to resolve it.
    """

    template: str | None = None
    template_origin: str = ""
    jinja: bool = True
    template_kwargs: Mapping[str, Json] = field(default_factory=dict)
    skip_parsing: bool = False
    prefill_assistant: bool = True
    reasoning: ReasoningSettings = field(default_factory=ReasoningSettings)
    tool_call_parser: str | None = None


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """What is kept of prompts that were read.

    ram_mib: state kept beyond the slots; -1 unlimited, 0 none.  checkpoints: per slot, for models that cannot trim.
    checkpoint_min_step: tokens between two of them.  slot_save_path: folder for slot files, "" off.
    slot_prompt_similarity: share of the prompt that a slot must hold to be preferred; 0 off.
    """

    ram_mib: int = 8192
    checkpoints: int = 32
    checkpoint_min_step: int = 8192
    save_idle_slots: bool = True
    slot_save_path: str = ""
    slot_prompt_similarity: float = 0.1


@dataclass(frozen=True, slots=True)
class ScheduleSettings:
    """How work is shared between requests.

    step_budget_ms: how long one step may take while any stream is running.
    queue_limit: requests that may wait for a slot; more are answered 503.
    """

    step_budget_ms: float = 100.0
    queue_limit: int = 1024


@dataclass(frozen=True, slots=True)
class CorsSettings:
    """What browsers are told. origins: ("*",) reflects any, ("localhost",) only local ones."""

    origins: tuple[str, ...] = ("*",)
    methods: str = "GET, POST, DELETE, OPTIONS"
    headers: str = "*"
    credentials: bool = True


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """PEM files. Both or neither."""

    key_file: str = ""
    cert_file: str = ""


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """Routes that can be switched. props is POST /props; GET /props always answers."""

    slots: bool = True
    metrics: bool = False
    props: bool = False


@dataclass(frozen=True, slots=True)
class PredictionSettings:
    """Google Cloud's prediction routes (`AIP_*` variables). health_route: "" keeps /health alone."""

    health_route: str = ""
    predict_route: str = "/predict"


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where and how to listen. Times in seconds.

    hosts: addresses, names, or UNIX socket paths that end in .sock.  api_keys: any of them opens the door; () no door.
    api_prefix: "" or "/x", no trailing slash.  static_path: folder of files served at /, "" none.
    sse_ping_interval: silence after which a stream gets a comment line; -1 never.
    sleep_idle: idle time after which the model is unloaded; -1 never.
    threads: for blocking work beside the event loop; -1 automatic.  ui: the page at /.
    prediction: None unless AIP_MODE is PREDICTION.
    """

    hosts: tuple[str, ...] = ("127.0.0.1",)
    port: int = 8080
    reuse_port: bool = False
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    api_prefix: str = ""
    static_path: str = ""
    timeout: int = 3600
    sse_ping_interval: int = 30
    sleep_idle: int = -1
    threads: int = -1
    ui: bool = True
    cors: CorsSettings = field(default_factory=CorsSettings)
    tls: TlsSettings = field(default_factory=TlsSettings)
    endpoints: EndpointSettings = field(default_factory=EndpointSettings)
    prediction: PredictionSettings | None = None


@dataclass(frozen=True, slots=True)
class LogSettings:
    """verbosity: 0 output only, 1 errors, 2 warnings, 3 info, 4 trace, 5 debug; a line above it is dropped.

    file: also written there, "" none.  jsonl: one JSON object a line, to stdout.  colors: on, off, auto.
    prompts_path: folder that gets every rendered prompt, for debugging; "" off.
    """

    enabled: bool = True
    verbosity: int = 3
    file: str = ""
    jsonl: bool = False
    colors: str = "auto"
    prefix: bool = True
    timestamps: bool = True
    prompts_path: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """One server, decided.

    generation: what a request gets where it says nothing (sampling, limit, stops, constraint, cache reuse).
    sampling_given: names of `Sampling` fields set by a person; the others may take the file's own recommendation.
    spm_infill: suffix before prefix in /infill.  show_special: special tokens appear in text.
    """

    model: ModelSettings = field(default_factory=ModelSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    adapters: AdapterSettings = field(default_factory=AdapterSettings)
    generation: Generation = field(default_factory=Generation)
    sampling_given: frozenset[str] = frozenset()
    chat: ChatSettings = field(default_factory=ChatSettings)
    cache: CacheSettings = field(default_factory=CacheSettings)
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    log: LogSettings = field(default_factory=LogSettings)
    spm_infill: bool = False
    show_special: bool = False
