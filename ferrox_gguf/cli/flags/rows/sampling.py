"""How tokens are drawn, and where text stops, when a request does not say."""

from __future__ import annotations

import re
from dataclasses import replace

from ferrox_gguf.cli.flags.flag import Flag, Group, State, Value
from ferrox_gguf.cli.flags.samplers import DEFAULT_SAMPLERS, sampler_letters, sampler_names
from ferrox_gguf.cli.flags.values import integer, number
from ferrox_gguf.request import RANDOM_SEED
from ferrox_gguf.settings import Settings


def seed(number: str) -> int:
    """A number of 32 bits; -1 is the value that means "draw one"."""
    try:
        return int(number) & RANDOM_SEED
    except ValueError:
        raise ValueError(f"expected a whole number, got {number!r}") from None


def logit_bias(item: str) -> tuple[tuple[int, float], ...]:
    """`15043+1` or `15043-1`: a token id, a sign, and a strength (which may be inf)."""
    matched = re.fullmatch(r"(\d+)([+-])(\d*\.?\d+|inf)", item)
    if not matched:
        raise ValueError(f"{item!r} is not TOKEN_ID(+/-)BIAS")
    strength = float(matched[3])
    return ((int(matched[1]), -strength if matched[2] == "-" else strength),)


def one(text: str) -> tuple[str, ...]:
    """A text on its own, for flags that may be given several times."""
    return (text,)


def dry_breakers(settings: Settings, value: object) -> Settings:
    """Adds a breaker to those given so far; `none` forgets them."""
    assert isinstance(value, tuple)
    sampling = settings.generation.sampling
    given = "dry_sequence_breakers" in settings.sampling_given
    kept = sampling.dry_sequence_breakers if given and value != ("none",) else ()
    breakers = () if value == ("none",) else (*kept, *value)
    return replace(
        settings,
        generation=replace(settings.generation, sampling=replace(sampling, dry_sequence_breakers=breakers)),
        sampling_given=settings.sampling_given | {"dry_sequence_breakers"},
    )


def _sampling(
    *names: str, sets: str, value: Value, help: str, env: tuple[str, ...] = (), default: str | None = None
) -> Flag:
    return Flag(
        names=names,
        group=Group.SAMPLING,
        value=value,
        env=env,
        sets=f"generation.sampling.{sets}",
        help=help,
        default=default,
    )


ROWS = (
    Flag(
        names=("-n", "--predict", "--n-predict"),
        group=Group.SAMPLING,
        value=integer(-1),
        env=("LLAMA_ARG_N_PREDICT",),
        sets="generation.max_tokens",
        default="-1, until the model ends or the context is full",
        help="tokens to generate, at most",
    ),
    _sampling(
        "--samplers",
        sets="samplers",
        value=Value("SAMPLERS", sampler_names),
        default=DEFAULT_SAMPLERS,
        help="samplers in the order in which they are applied, separated by ;",
    ),
    _sampling(
        "--sampler-seq",
        "--sampling-seq",
        sets="samplers",
        value=Value("SEQUENCE", sampler_letters),
        default="edskypmxt",
        help="the same, one letter a sampler",
    ),
    _sampling("-s", "--seed", sets="seed", value=Value("SEED", seed), default="-1, drawn anew", help="random seed"),
    Flag(
        names=("--ignore-eos",),
        group=Group.SAMPLING,
        sets="generation.sampling.ignore_eos",
        help="never end by the model's own choice",
    ),
    _sampling(
        "--temp",
        "--temperature",
        sets="temperature",
        value=number(),
        env=("LLAMA_ARG_TEMPERATURE",),
        help="how far to stray from the likeliest token; 0 or less never does",
    ),
    _sampling(
        "--top-k",
        sets="top_k",
        value=integer(),
        env=("LLAMA_ARG_TOP_K",),
        default="40; 0 off",
        help="keep the K likeliest tokens",
    ),
    _sampling(
        "--top-p",
        sets="top_p",
        value=number(),
        env=("LLAMA_ARG_TOP_P",),
        default="0.95; 1 off",
        help="keep the likeliest tokens that together have probability P",
    ),
    _sampling(
        "--min-p",
        sets="min_p",
        value=number(),
        env=("LLAMA_ARG_MIN_P",),
        default="0.05; 0 off",
        help="keep tokens at least this likely, next to the likeliest",
    ),
    _sampling(
        "--top-nsigma",
        "--top-n-sigma",
        sets="top_n_sigma",
        value=number(),
        default="-1, off",
        help="keep tokens whose logit is within N standard deviations of the best",
    ),
    _sampling(
        "--xtc-probability",
        sets="xtc_probability",
        value=number(),
        default="0, off",
        help="how often to leave out the likeliest tokens (XTC)",
    ),
    _sampling(
        "--xtc-threshold",
        sets="xtc_threshold",
        value=number(),
        default="0.1; above 0.5 off",
        help="XTC: tokens above this probability may be left out",
    ),
    _sampling(
        "--typical",
        "--typical-p",
        sets="typical_p",
        value=number(),
        default="1, off",
        help="keep tokens that are as surprising as expected, with probability P together",
    ),
    _sampling(
        "--repeat-last-n",
        sets="repeat_last_n",
        value=integer(0),
        default="64; 0 off",
        help="tokens that the penalties look back over",
    ),
    _sampling(
        "--repeat-penalty",
        sets="repeat_penalty",
        value=number(0, nonzero=True),
        env=("LLAMA_ARG_REPEAT_PENALTY",),
        default="1, off",
        help="make tokens less likely that occurred there",
    ),
    _sampling(
        "--presence-penalty",
        sets="presence_penalty",
        value=number(),
        env=("LLAMA_ARG_PRESENCE_PENALTY",),
        default="0, off",
        help="the same, by a fixed amount",
    ),
    _sampling(
        "--frequency-penalty",
        sets="frequency_penalty",
        value=number(),
        env=("LLAMA_ARG_FREQUENCY_PENALTY",),
        default="0, off",
        help="the same, by how often they occurred",
    ),
    _sampling(
        "--dry-multiplier",
        sets="dry_multiplier",
        value=number(),
        default="0, off",
        help="strength of the penalty on repeated sequences (DRY)",
    ),
    _sampling("--dry-base", sets="dry_base", value=number(1), help="DRY: growth of the penalty per repeated token"),
    _sampling(
        "--dry-allowed-length",
        sets="dry_allowed_length",
        value=integer(),
        help="DRY: repeats up to this length are free",
    ),
    _sampling(
        "--dry-penalty-last-n",
        sets="dry_penalty_last_n",
        value=integer(0),
        default="64; 0 off",
        help="DRY: tokens looked back over",
    ),
    Flag(
        names=("--dry-sequence-breaker",),
        group=Group.SAMPLING,
        value=Value("STRING", one),
        sets=dry_breakers,
        default="'\\n', ':', '\"', '*'",
        help="DRY: texts that end a repeat; the first one given replaces the defaults, none empties the list",
    ),
    _sampling(
        "--adaptive-target",
        sets="adaptive_target",
        value=number(None, 1),
        default="-1, off",
        help="adaptive-p: probability of the tokens to prefer",
    ),
    _sampling(
        "--adaptive-decay",
        sets="adaptive_decay",
        value=number(0, 0.99),
        help="adaptive-p: how slowly the target moves",
    ),
    _sampling(
        "--dynatemp-range",
        sets="dynatemp_range",
        value=number(),
        default="0, off",
        help="temperature moves this far, by how certain the model is",
    ),
    _sampling("--dynatemp-exp", sets="dynatemp_exponent", value=number(), help="dynamic temperature: exponent"),
    _sampling(
        "--mirostat",
        sets="mirostat",
        value=integer(0, 2),
        default="0, off",
        help="keep the text's surprise constant, version 1 or 2; replaces top-k, top-p and typical",
    ),
    _sampling("--mirostat-lr", sets="mirostat_eta", value=number(), help="mirostat: learning rate (eta)"),
    _sampling("--mirostat-ent", sets="mirostat_tau", value=number(), help="mirostat: surprise to keep (tau)"),
    Flag(
        names=("-l", "--logit-bias"),
        group=Group.SAMPLING,
        value=Value("TOKEN_ID(+/-)BIAS", logit_bias),
        sets="generation.sampling.logit_bias",
        default="none",
        extends=True,
        help="make a token likelier (15043+1) or less likely (15043-1)",
    ),
    Flag(
        names=("-r", "--reverse-prompt"),
        group=Group.SAMPLING,
        value=Value("PROMPT", one),
        sets="generation.stop",
        default="none",
        extends=True,
        help="stop where the model writes this text",
    ),
    Flag(
        names=("-sp", "--special"),
        group=Group.SAMPLING,
        sets="show_special",
        help="write special tokens out as text",
    ),
    Flag(
        names=("-e", "--escape"),
        off=("--no-escape",),
        group=Group.SAMPLING,
        default="on",
        help="read \\n, \\t and the like in --reverse-prompt and --dry-sequence-breaker",
    ),
    Flag(
        names=("-bs", "--backend-sampling"),
        group=Group.SAMPLING,
        env=("LLAMA_ARG_BACKEND_SAMPLING",),
        state=State.ACCEPTED,
        default="off",
        help="sample on the device",
        why="tokens are sampled on the CPU; the text is the same",
    ),
)
