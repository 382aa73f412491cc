"""Variables: LLAMA_ARG_* beside their flags, and Google Cloud's AIP_* which have none. An empty variable is unset."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from ferrox_gguf.cli.flags.flag import Flag
from ferrox_gguf.errors import StartupError
from ferrox_gguf.settings import PredictionSettings, ServerSettings

PREFIXES = ("LLAMA_ARG_", "FERROX_")


@dataclass(frozen=True, slots=True)
class Found:
    """A variable that is set. raw: its text, or None where being set is all that counts."""

    name: str
    on: bool = True
    raw: str | None = None


def variable(flag: Flag, environment: Mapping[str, str]) -> Found | None:
    """The first of the flag's variables that is set. LLAMA_ARG_NO_X, set to anything, switches X off."""
    for name in flag.env:
        negative = name.replace("LLAMA_ARG_", "LLAMA_ARG_NO_")
        if flag.off and negative != name and environment.get(negative):
            return Found(negative, on=False)
        if raw := environment.get(name):
            return Found(name, raw=raw)
    return None


def unread(environment: Mapping[str, str], known: Collection[str]) -> list[str]:
    """Variables that look like ours or llama-server's, are set, and are read by no flag."""
    return sorted(
        name for name, value in environment.items() if value and name.startswith(PREFIXES) and name not in known
    )


def variables(flag: Flag) -> tuple[str, ...]:
    """All names that `variable` looks for, for the documentation."""
    negatives = {name: name.replace("LLAMA_ARG_", "LLAMA_ARG_NO_") for name in flag.env} if flag.off else {}
    return tuple(dict.fromkeys(spelling for name in flag.env for spelling in (name, negatives.get(name, name))))


def prediction(server: ServerSettings, environment: Mapping[str, str]) -> ServerSettings:
    """Google Cloud's container contract: its port wins over --port, and it names two routes."""
    if environment.get("AIP_MODE") != "PREDICTION":
        return server
    port = environment.get("AIP_HTTP_PORT") or "8080"
    if not port.isdecimal():
        raise StartupError(f"AIP_HTTP_PORT: expected a port, got {port!r}")
    routes = PredictionSettings(
        health_route=_route(environment.get("AIP_HEALTH_ROUTE", "")),
        predict_route=_route(environment.get("AIP_PREDICT_ROUTE") or "/predict"),
    )
    return replace(server, port=int(port), prediction=routes)


def _route(path: str) -> str:
    return path if not path or path.startswith("/") else f"/{path}"
