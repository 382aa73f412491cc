"""Which routes answer."""

from __future__ import annotations

from ferrox_gguf.cli.flags.flag import Flag, Group, State
from ferrox_gguf.cli.flags.values import text

ROWS = (
    Flag(
        names=("--slots",),
        off=("--no-slots",),
        group=Group.ENDPOINT,
        env=("LLAMA_ARG_ENDPOINT_SLOTS",),
        sets="server.endpoints.slots",
        help="GET /slots: what each slot is doing",
    ),
    Flag(
        names=("--metrics",),
        group=Group.ENDPOINT,
        env=("LLAMA_ARG_ENDPOINT_METRICS",),
        sets="server.endpoints.metrics",
        help="GET /metrics, for Prometheus",
    ),
    Flag(
        names=("--props",),
        group=Group.ENDPOINT,
        env=("LLAMA_ARG_ENDPOINT_PROPS",),
        sets="server.endpoints.props",
        help="POST /props: change settings while running",
    ),
    Flag(
        names=("--ui", "--webui"),
        off=("--no-ui", "--no-webui"),
        group=Group.ENDPOINT,
        env=("LLAMA_ARG_UI",),
        sets="server.ui",
        help="a page at / to try the model with, unless --path serves one",
    ),
    Flag(
        names=("--ui-config", "--webui-config"),
        group=Group.ENDPOINT,
        value=text("JSON"),
        env=("LLAMA_ARG_UI_CONFIG",),
        state=State.ACCEPTED,
        help="settings of llama.cpp's web page",
        why="the page here is another and has no settings; --path serves one of your own",
    ),
    Flag(
        names=("--ui-config-file", "--webui-config-file"),
        group=Group.ENDPOINT,
        value=text("PATH"),
        env=("LLAMA_ARG_UI_CONFIG_FILE",),
        state=State.ACCEPTED,
        help="the same, from a file",
        why="the page here is another and has no settings; --path serves one of your own",
    ),
    Flag(
        names=("--spm-infill",),
        group=Group.ENDPOINT,
        sets="spm_infill",
        help="/infill: put the text after the gap before the text in front of it",
    ),
)
