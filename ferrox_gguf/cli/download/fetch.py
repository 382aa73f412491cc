"""Settings that name a source → settings that name a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ferrox_gguf.cli.download.places import places
from ferrox_gguf.errors import StartupError
from ferrox_gguf.settings import Settings


def located(settings: Settings, environment: Mapping[str, str]) -> Settings:
    """The same settings with `model.path` set. Raises StartupError when nothing names a model, or fetching fails."""
    model, source = settings.model, settings.model.source
    if source.url:
        from ferrox_gguf.cli.download.web import fetch_address

        path = str(fetch_address(source, model.path, places(environment)))
    elif model.path:
        path = model.path
    elif source.repository:
        # Imported here: the hub's library takes half a second, and most models are files.
        from ferrox_gguf.cli.download.hub import fetch_repository

        path = str(fetch_repository(source, places(environment)))
    else:
        raise StartupError("no model: say which with -m FILE, -hf USER/MODEL, or -mu ADDRESS")
    # Without an alias the model goes by the words that asked for it, as in llama-server.
    aliases = model.aliases or (path if source.url or model.path else source.repository,)
    return replace(settings, model=replace(model, path=path, aliases=aliases))
