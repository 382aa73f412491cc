"""Tools that the server itself would run, which it does not."""

from __future__ import annotations

from ferrox_gguf.cli.flags.flag import Flag, Group, State
from ferrox_gguf.cli.flags.values import text

NO_TOOLS = "this server runs no tools on your machine: let the client, or an agent beside it, run them"

ROWS = (
    Flag(
        names=("--tools",),
        group=Group.AGENT,
        value=text("TOOL1,TOOL2,..."),
        env=("LLAMA_ARG_TOOLS",),
        state=State.REFUSED,
        default="none",
        help="tools that the server itself runs",
        why=NO_TOOLS,
    ),
    Flag(
        names=("--tools-runtime",),
        group=Group.AGENT,
        value=text("OPTION"),
        env=("LLAMA_ARG_TOOLS_RUNTIME",),
        state=State.REFUSED,
        default="none",
        help="where it runs them",
        why=NO_TOOLS,
    ),
    Flag(
        names=("--mcp-servers-config",),
        group=Group.AGENT,
        value=text("PATH"),
        env=("LLAMA_ARG_MCP_SERVERS_CONFIG",),
        state=State.REFUSED,
        default="none",
        help="file of MCP servers to start",
        why=NO_TOOLS,
    ),
    Flag(
        names=("--mcp-servers-json",),
        group=Group.AGENT,
        value=text("JSON"),
        env=("LLAMA_ARG_MCP_SERVERS_JSON",),
        state=State.REFUSED,
        default="none",
        help="the same, as JSON",
        why=NO_TOOLS,
    ),
    Flag(
        names=("-ag", "--agent"),
        off=("-no-ag", "--no-agent"),
        group=Group.AGENT,
        env=("LLAMA_ARG_AGENT",),
        state=State.REFUSED,
        default="off",
        help="all of these",
        why=NO_TOOLS,
    ),
    Flag(
        names=("--ui-mcp-proxy", "--webui-mcp-proxy"),
        off=("--no-ui-mcp-proxy", "--no-webui-mcp-proxy"),
        group=Group.AGENT,
        env=("LLAMA_ARG_UI_MCP_PROXY",),
        state=State.REFUSED,
        default="off",
        help="let the web page reach MCP servers through this one",
        why=NO_TOOLS,
    ),
)
