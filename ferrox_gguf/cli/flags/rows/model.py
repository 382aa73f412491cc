"""Which model: a file, or where to fetch one, and what it is called."""

from __future__ import annotations

from ferrox_gguf.cli.flags.flag import Flag, Group, State
from ferrox_gguf.cli.flags.values import choice, comma_list, text
from ferrox_gguf.settings import MetadataValue


def metadata_override(item: str) -> tuple[str, MetadataValue]:
    """`key=int:1`, `key=float:0.5`, `key=bool:true` or `key=str:text`."""
    key, equals, typed = item.partition("=")
    kind, colon, raw = typed.partition(":")
    if not (key and equals and colon):
        raise ValueError(f"{item!r} is not KEY=TYPE:VALUE")
    try:
        if kind == "int":
            return key, int(raw)
        if kind == "float":
            return key, float(raw)
    except ValueError:
        raise ValueError(f"{raw!r} is not of type {kind}") from None
    if kind == "bool" and raw in ("true", "false"):
        return key, raw == "true"
    if kind == "str" and len(raw.encode()) <= 127:
        return key, raw
    raise ValueError(f"{item!r}: the type is int, float, bool (true or false) or str (at most 127 bytes)")


ROWS = (
    Flag(
        names=("-m", "--model"),
        group=Group.MODEL,
        value=text("FNAME"),
        env=("LLAMA_ARG_MODEL",),
        sets="model.path",
        help="GGUF file to serve; of a split model, its first part (…-00001-of-000NN.gguf)",
    ),
    Flag(
        names=("-hf", "-hfr", "--hf-repo"),
        group=Group.MODEL,
        value=text("<user>/<model>[:quant]"),
        env=("LLAMA_ARG_HF_REPO",),
        sets="model.source.repository",
        help="fetch the model from this repository, into the cache that other tools share; "
        "without a quant, Q4_K_M, else Q8_0, else the first GGUF",
    ),
    Flag(
        names=("-hff", "--hf-file"),
        group=Group.MODEL,
        value=text("FILE"),
        env=("LLAMA_ARG_HF_FILE",),
        sets="model.source.file",
        help="this file of the repository, whatever the quant says",
    ),
    Flag(
        names=("-hft", "--hf-token"),
        group=Group.MODEL,
        value=text("TOKEN"),
        env=("HF_TOKEN",),
        sets="model.source.token",
        default="the one you logged in with",
        help="access token for a repository that is not public",
    ),
    Flag(
        names=("-mu", "--model-url"),
        group=Group.MODEL,
        value=text("MODEL_URL"),
        env=("LLAMA_ARG_MODEL_URL",),
        sets="model.source.url",
        help="fetch the GGUF at this address once, and keep it in the cache (or at --model, when given)",
    ),
    Flag(
        names=("--offline",),
        group=Group.MODEL,
        env=("LLAMA_ARG_OFFLINE",),
        sets="model.source.offline",
        help="use the cache only; never touch the network",
    ),
    Flag(
        names=("-dr", "--docker-repo"),
        group=Group.MODEL,
        value=text("[<repo>/]<model>[:quant]"),
        env=("LLAMA_ARG_DOCKER_REPO",),
        state=State.REFUSED,
        help="fetch from a container registry",
        why="models are not fetched from container registries here: use -hf, -mu, or pull the file and give it to -m",
    ),
    Flag(
        names=("-a", "--alias"),
        group=Group.MODEL,
        value=comma_list("STRING"),
        env=("LLAMA_ARG_ALIAS",),
        sets="model.aliases",
        extends=True,
        default="the file or repository as given",
        help="names to serve the model under, separated by commas; answers carry the alphabetically first",
    ),
    Flag(
        names=("--tags",),
        group=Group.MODEL,
        value=comma_list("STRING"),
        env=("LLAMA_ARG_TAGS",),
        sets="model.tags",
        extends=True,
        help="words shown with the model in /models, separated by commas",
    ),
    Flag(
        names=("-lm", "--load-mode"),
        group=Group.MODEL,
        value=choice("auto", "none", "mmap", "mlock", "mmap+mlock", "dio", hint="MODE"),
        env=("LLAMA_ARG_LOAD_MODE",),
        sets="model.load_mode",
        help="how the file reaches memory: mapped (mmap), read (none), held there (mlock), past the page cache (dio)",
    ),
    Flag(
        names=("-lzm", "--lazy-mode"),
        group=Group.MODEL,
        value=choice("on", "auto", "off", hint="MODE"),
        env=("LLAMA_ARG_LAZY_MODE",),
        sets="model.lazy_mode",
        help="read the rows of lookup tensors from the file when needed; auto: only of tensors above 4 GiB",
    ),
    Flag(
        names=("--check-tensors",),
        group=Group.MODEL,
        sets="model.check_tensors",
        help="look for invalid numbers in the weights while loading",
    ),
    Flag(
        names=("--override-kv",),
        group=Group.MODEL,
        value=comma_list("KEY=TYPE:VALUE...", metadata_override),
        sets="model.override_kv",
        extends=True,
        help="replace metadata of the file; the types are int, float, bool and str",
    ),
    Flag(
        names=("--warmup",),
        off=("--no-warmup",),
        group=Group.MODEL,
        sets="model.warmup",
        help="run once over nothing after loading, so that the first request is not the slow one",
    ),
)
