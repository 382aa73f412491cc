"""Several models in one process, which is not done here."""

from __future__ import annotations

from ferrox_gguf.cli.flags.flag import Flag, Group, State
from ferrox_gguf.cli.flags.values import integer, text

NO_ROUTER = "one process serves one model: start a server for each, with -m and its own --port"

ROWS = (
    Flag(
        names=("--models-dir",),
        group=Group.ROUTER,
        value=text("PATH"),
        env=("LLAMA_ARG_MODELS_DIR",),
        state=State.REFUSED,
        default="none",
        help="folder of models to choose from by request",
        why=NO_ROUTER,
    ),
    Flag(
        names=("--models-preset",),
        group=Group.ROUTER,
        value=text("PATH"),
        env=("LLAMA_ARG_MODELS_PRESET",),
        state=State.REFUSED,
        default="none",
        help="file of models to choose from by request",
        why=NO_ROUTER,
    ),
    Flag(
        names=("--models-max",),
        group=Group.ROUTER,
        value=integer(0),
        env=("LLAMA_ARG_MODELS_MAX",),
        state=State.ACCEPTED,
        default="1",
        help="models loaded at the same time",
        why=NO_ROUTER,
    ),
    Flag(
        names=("--models-autoload",),
        off=("--no-models-autoload",),
        group=Group.ROUTER,
        env=("LLAMA_ARG_MODELS_AUTOLOAD",),
        state=State.ACCEPTED,
        default="off",
        help="load a model when a request names it",
        why=NO_ROUTER,
    ),
)
