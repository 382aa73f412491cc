"""Speculative decoding, which is not here: every flag is accepted, since only speed is lost."""

from __future__ import annotations

from ferrox_gguf.cli.flags.flag import Flag, Group, State
from ferrox_gguf.cli.flags.values import text

NO_DRAFT = "there is no speculative decoding: the text is the same, without the draft's speed"


def _draft(*names: str, off: tuple[str, ...] = (), hint: str = "", env: str = "", help: str, default: str = "") -> Flag:
    return Flag(
        names=names,
        off=off,
        group=Group.DRAFT,
        value=text(hint) if hint else None,
        env=(env,) if env else (),
        state=State.ACCEPTED,
        help=help,
        default=default or ("none" if hint else "off"),
        why=NO_DRAFT,
    )


def _removed(*names: str, env: str = "", instead: str) -> Flag:
    return Flag(
        names=names,
        group=Group.DRAFT,
        value=text("N"),
        env=(env,) if env else (),
        state=State.REFUSED,
        help="removed from llama-server",
        default="none",
        why=f"llama-server has removed it; it is called {instead} now",
    )


ROWS = (
    _draft(
        "--spec-type",
        hint="TYPE,...",
        env="LLAMA_ARG_SPEC_TYPE",
        help="how to guess ahead: none, draft-simple, ngram-mod, …",
    ),
    _draft("--spec-default", help="llama-server's usual choice for guessing ahead"),
    _draft(
        "--spec-draft-model", "-md", "--model-draft", hint="FNAME", env="LLAMA_ARG_SPEC_DRAFT_MODEL", help="draft model"
    ),
    _draft(
        "--spec-draft-hf",
        "-hfd",
        "-hfrd",
        "--hf-repo-draft",
        hint="<user>/<model>[:quant]",
        env="LLAMA_ARG_SPEC_DRAFT_HF_REPO",
        help="repository of the draft model",
    ),
    _draft("--spec-draft-n-max", hint="N", env="LLAMA_ARG_SPEC_DRAFT_N_MAX", help="tokens to guess, at most"),
    _draft("--spec-draft-n-min", hint="N", env="LLAMA_ARG_SPEC_DRAFT_N_MIN", help="tokens to guess, at least"),
    _draft(
        "--spec-draft-p-split",
        "--draft-p-split",
        hint="P",
        env="LLAMA_ARG_SPEC_DRAFT_P_SPLIT",
        help="split probability",
    ),
    _draft(
        "--spec-draft-p-min",
        "--draft-p-min",
        hint="P",
        env="LLAMA_ARG_SPEC_DRAFT_P_MIN",
        help="least sure guess to keep",
    ),
    _draft(
        "--spec-draft-type-k",
        "-ctkd",
        "--cache-type-k-draft",
        hint="TYPE",
        env="LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_K",
        help="number format of the draft's keys",
    ),
    _draft(
        "--spec-draft-type-v",
        "-ctvd",
        "--cache-type-v-draft",
        hint="TYPE",
        env="LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_V",
        help="number format of the draft's values",
    ),
    _draft("--spec-draft-threads", "-td", "--threads-draft", hint="N", help="threads for the draft"),
    _draft("--spec-draft-threads-batch", "-tbd", "--threads-batch-draft", hint="N", help="threads for its prompts"),
    _draft("--spec-draft-cpu-mask", "-Cd", "--cpu-mask-draft", hint="M", help="CPUs for the draft, as a mask"),
    _draft("--spec-draft-cpu-range", "-Crd", "--cpu-range-draft", hint="lo-hi", help="CPUs for the draft, as a range"),
    _draft("--spec-draft-cpu-strict", "--cpu-strict-draft", hint="<0|1>", help="pin the draft's threads"),
    _draft("--spec-draft-prio", "--prio-draft", hint="N", help="priority of the draft's threads"),
    _draft("--spec-draft-poll", "--poll-draft", hint="<0|1>", help="how eagerly they look for work"),
    _draft("--spec-draft-cpu-mask-batch", "-Cbd", "--cpu-mask-batch-draft", hint="M", help="CPUs for its prompts"),
    _draft("--spec-draft-cpu-strict-batch", "--cpu-strict-batch-draft", hint="<0|1>", help="pin its prompt threads"),
    _draft("--spec-draft-prio-batch", "--prio-batch-draft", hint="N", help="priority of its prompt threads"),
    _draft("--spec-draft-poll-batch", "--poll-batch-draft", hint="<0|1>", help="how eagerly those look for work"),
    _draft(
        "--spec-draft-override-tensor",
        "-otd",
        "--override-tensor-draft",
        hint="<pattern>=<buffer>,...",
        help="kinds of memory for the draft's tensors",
    ),
    _draft(
        "--spec-draft-cpu-moe",
        "-cmoed",
        "--cpu-moe-draft",
        env="LLAMA_ARG_SPEC_DRAFT_CPU_MOE",
        help="keep the draft's experts in the CPU's memory",
    ),
    _draft(
        "--spec-draft-n-cpu-moe",
        "--spec-draft-ncmoe",
        "-ncmoed",
        "--n-cpu-moe-draft",
        hint="N",
        env="LLAMA_ARG_SPEC_DRAFT_N_CPU_MOE",
        help="of its first N layers only",
    ),
    _draft("--spec-draft-device", "-devd", "--device-draft", hint="<dev1,dev2,..>", help="devices for the draft"),
    _draft(
        "--spec-draft-ngl",
        "-ngld",
        "--gpu-layers-draft",
        "--n-gpu-layers-draft",
        hint="N",
        env="LLAMA_ARG_N_GPU_LAYERS_DRAFT",
        help="layers of the draft in the GPU's memory",
    ),
    _draft(
        "--spec-draft-backend-sampling",
        off=("--no-spec-draft-backend-sampling",),
        env="LLAMA_ARG_SPEC_DRAFT_BACKEND_SAMPLING",
        help="sample the draft on the device",
    ),
    _draft("--spec-synth-len", hint="L", env="LLAMA_ARG_SPEC_SYNTH_LEN", help="pretended acceptance, for benchmarks"),
    _draft("--spec-synth-rates", hint="P0,P1,...", env="LLAMA_ARG_SPEC_SYNTH_RATES", help="the same, by position"),
    _draft("--spec-ngram-mod-n-min", hint="N", help="n-gram guesses: fewest tokens"),
    _draft("--spec-ngram-mod-n-max", hint="N", help="n-gram guesses: most tokens"),
    _draft("--spec-ngram-mod-n-match", hint="N", help="n-gram guesses: tokens that must match"),
    _draft("--spec-ngram-simple-size-n", hint="N", help="simple n-grams: tokens looked up"),
    _draft("--spec-ngram-simple-size-m", hint="N", help="simple n-grams: tokens guessed"),
    _draft("--spec-ngram-simple-min-hits", hint="N", help="simple n-grams: occurrences needed"),
    _draft("--spec-ngram-map-k-size-n", hint="N", help="n-gram map: tokens looked up"),
    _draft("--spec-ngram-map-k-size-m", hint="N", help="n-gram map: tokens guessed"),
    _draft("--spec-ngram-map-k-min-hits", hint="N", help="n-gram map: occurrences needed"),
    _draft("--spec-ngram-map-k4v-size-n", hint="N", help="n-gram map with values: tokens looked up"),
    _draft("--spec-ngram-map-k4v-size-m", hint="N", help="n-gram map with values: tokens guessed"),
    _draft("--spec-ngram-map-k4v-min-hits", hint="N", help="n-gram map with values: occurrences needed"),
    _draft("-lcs", "--lookup-cache-static", hint="FNAME", help="n-gram file that is read"),
    _draft("-lcd", "--lookup-cache-dynamic", hint="FNAME", help="n-gram file that is read and written"),
    _removed("--draft", "--draft-n", "--draft-max", env="LLAMA_ARG_DRAFT_MAX", instead="--spec-draft-n-max"),
    _removed("--draft-min", "--draft-n-min", env="LLAMA_ARG_DRAFT_MIN", instead="--spec-draft-n-min"),
    _removed("--spec-ngram-size-n", instead="--spec-ngram-simple-size-n"),
    _removed("--spec-ngram-size-m", instead="--spec-ngram-simple-size-m"),
    _removed("--spec-ngram-min-hits", instead="--spec-ngram-simple-min-hits"),
)
