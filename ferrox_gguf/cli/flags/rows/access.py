"""Who may ask."""

from __future__ import annotations

from ferrox_gguf.cli.flags.flag import Flag, Group
from ferrox_gguf.cli.flags.values import comma_list, contents, text


def key_lines(content: str) -> tuple[str, ...]:
    """One key a line; a line that begins with # is a comment."""
    return tuple(line for line in content.splitlines() if line and not line.startswith("#"))


ROWS = (
    Flag(
        names=("--api-key",),
        group=Group.ACCESS,
        value=comma_list("KEY"),
        env=("LLAMA_API_KEY",),
        sets="server.api_keys",
        default="none",
        extends=True,
        help="keys that open the server, separated by commas",
    ),
    Flag(
        names=("--api-key-file",),
        group=Group.ACCESS,
        value=contents("FNAME", key_lines),
        env=("LLAMA_ARG_API_KEY_FILE",),
        sets="server.api_keys",
        default="none",
        extends=True,
        help="file with one key a line; # begins a comment",
    ),
    Flag(
        names=("--cors-origins",),
        group=Group.ACCESS,
        value=comma_list("ORIGINS"),
        env=("LLAMA_ARG_CORS_ORIGINS",),
        sets="server.cors.origins",
        help="web pages that may ask, separated by commas; localhost: those of this machine",
    ),
    Flag(
        names=("--cors-methods",),
        group=Group.ACCESS,
        value=text("METHODS"),
        env=("LLAMA_ARG_CORS_METHODS",),
        sets="server.cors.methods",
        help="methods they may use",
    ),
    Flag(
        names=("--cors-headers",),
        group=Group.ACCESS,
        value=text("HEADERS"),
        env=("LLAMA_ARG_CORS_HEADERS",),
        sets="server.cors.headers",
        help="headers they may send",
    ),
    Flag(
        names=("--cors-credentials",),
        off=("--no-cors-credentials",),
        group=Group.ACCESS,
        env=("LLAMA_ARG_CORS_CREDENTIALS",),
        sets="server.cors.credentials",
        help="let them send credentials",
    ),
)
