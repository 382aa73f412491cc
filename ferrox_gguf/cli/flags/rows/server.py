"""Where to listen, who may ask, and which routes answer."""

from __future__ import annotations

from dataclasses import replace

from ferrox_gguf.cli.flags.flag import Flag, Group, State, Value
from ferrox_gguf.cli.flags.values import choice, comma_list, contents, folder, integer, text
from ferrox_gguf.settings import Settings


def prefix(path: str) -> str:
    """A path that begins with a slash and does not end with one."""
    trimmed = path.strip("/")
    return f"/{trimmed}" if trimmed else ""


def key_lines(content: str) -> tuple[str, ...]:
    """One key a line; a line that begins with # is a comment."""
    return tuple(line for line in content.splitlines() if line and not line.startswith("#"))


def readable_file(path: str) -> str:
    """A file that can be opened; its path is the value."""
    try:
        with open(path, "rb"):
            return path
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None


def reranking(settings: Settings, value: object) -> Settings:
    """A reranker is an embedding model whose pooling is a score."""
    on = bool(value)
    pooling = "rank" if on else settings.embedding.pooling
    embedding = replace(settings.embedding, enabled=on, reranking=on, pooling=pooling)
    return replace(settings, embedding=embedding)


LISTEN_ROWS = (
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
        default="-1, by the machine",
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

ACCESS_ROWS = (
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

ENDPOINT_ROWS = (
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
        help="a page at / to try the model",
    ),
    Flag(
        names=("--ui-config", "--webui-config"),
        group=Group.ENDPOINT,
        value=text("JSON"),
        env=("LLAMA_ARG_UI_CONFIG",),
        state=State.ACCEPTED,
        help="settings of llama.cpp's web page",
        why="llama.cpp's web page is not part of this server; --path serves a page of your own",
    ),
    Flag(
        names=("--ui-config-file", "--webui-config-file"),
        group=Group.ENDPOINT,
        value=text("PATH"),
        env=("LLAMA_ARG_UI_CONFIG_FILE",),
        state=State.ACCEPTED,
        help="the same, from a file",
        why="llama.cpp's web page is not part of this server; --path serves a page of your own",
    ),
    Flag(
        names=("--spm-infill",),
        group=Group.ENDPOINT,
        sets="spm_infill",
        help="/infill: put the text after the gap before the text in front of it",
    ),
)

VECTOR_ROWS = (
    Flag(
        names=("--embedding", "--embeddings"),
        group=Group.VECTOR,
        env=("LLAMA_ARG_EMBEDDINGS",),
        sets="embedding.enabled",
        help="serve an embedding model: vectors instead of text",
    ),
    Flag(
        names=("--rerank", "--reranking"),
        group=Group.VECTOR,
        env=("LLAMA_ARG_RERANKING",),
        sets=reranking,
        default="off",
        help="serve a reranker: scores of documents for a query",
    ),
    Flag(
        names=("--pooling",),
        group=Group.VECTOR,
        value=choice("none", "mean", "cls", "last", "rank"),
        env=("LLAMA_ARG_POOLING",),
        sets="embedding.pooling",
        default="the model's own",
        help="how the vectors of a text become one",
    ),
    Flag(
        names=("--embd-normalize",),
        group=Group.VECTOR,
        value=integer(-1),
        sets="embedding.normalize",
        default="2, euclidean",
        help="length of the vectors: -1 as they are, 0 largest number 32760, 1 taxicab, 2 euclidean, more: p-norm",
    ),
)
