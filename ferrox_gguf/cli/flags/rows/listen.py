"""Where to listen, and how long to wait."""

from __future__ import annotations

from ferrox_gguf.cli.flags.flag import Flag, Group, Value
from ferrox_gguf.cli.flags.values import comma_list, folder, integer


def prefix(path: str) -> str:
    """A path that begins with a slash and does not end with one."""
    trimmed = path.strip("/")
    return f"/{trimmed}" if trimmed else ""


def readable_file(path: str) -> str:
    """A file that can be opened; its path is the value."""
    try:
        with open(path, "rb"):
            return path
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None


ROWS = (
    Flag(
        names=("--host",),
        group=Group.SERVER,
        value=comma_list("HOST", needed=True),
        env=("LLAMA_ARG_HOST",),
        sets="server.hosts",
        help="addresses to listen on, separated by commas; a path that ends in .sock is a UNIX socket",
    ),
    Flag(
        names=("--port",),
        group=Group.SERVER,
        value=integer(0, 65535, hint="PORT"),
        env=("LLAMA_ARG_PORT",),
        sets="server.port",
        help="port to listen on; 0 takes a free one and says which",
    ),
    Flag(
        names=("--reuse-port",),
        group=Group.SERVER,
        env=("LLAMA_ARG_REUSE_PORT",),
        sets="server.reuse_port",
        help="let several processes listen on the same port",
    ),
    Flag(
        names=("--api-prefix",),
        group=Group.SERVER,
        value=Value("PREFIX", prefix, show=lambda value: str(value) or "none"),
        env=("LLAMA_ARG_API_PREFIX",),
        sets="server.api_prefix",
        help="path in front of every route",
    ),
    Flag(
        names=("--path",),
        group=Group.SERVER,
        value=folder(),
        env=("LLAMA_ARG_STATIC_PATH",),
        sets="server.static_path",
        help="folder of files to serve at /",
    ),
    Flag(
        names=("-to", "--timeout"),
        group=Group.SERVER,
        value=integer(1),
        env=("LLAMA_ARG_TIMEOUT",),
        sets="server.timeout",
        help="seconds that a connection may be silent while it is read or written",
    ),
    Flag(
        names=("--sse-ping-interval",),
        group=Group.SERVER,
        value=integer(-1),
        env=("LLAMA_ARG_SSE_PING_INTERVAL",),
        sets="server.sse_ping_interval",
        default="30; -1 never",
        help="seconds of silence after which a stream gets a sign of life",
    ),
    Flag(
        names=("--threads-http",),
        group=Group.SERVER,
        value=integer(),
        env=("LLAMA_ARG_THREADS_HTTP",),
        sets="server.threads",
        default="-1, four",
        help="threads for work beside the event loop (templates, tokenizing, files)",
    ),
    Flag(
        names=("--sleep-idle-seconds",),
        group=Group.SERVER,
        value=integer(-1, nonzero=True, hint="SECONDS"),
        sets="server.sleep_idle",
        default="-1, never",
        help="unload the model after this long without a request; the next request loads it again",
    ),
    Flag(
        names=("--ssl-key-file",),
        group=Group.SERVER,
        value=Value("FNAME", readable_file, show=lambda value: str(value) or "none"),
        env=("LLAMA_ARG_SSL_KEY_FILE",),
        sets="server.tls.key_file",
        help="private key for https, PEM; needs --ssl-cert-file",
    ),
    Flag(
        names=("--ssl-cert-file",),
        group=Group.SERVER,
        value=Value("FNAME", readable_file, show=lambda value: str(value) or "none"),
        env=("LLAMA_ARG_SSL_CERT_FILE",),
        sets="server.tls.cert_file",
        help="certificate for https, PEM; needs --ssl-key-file",
    ),
)
