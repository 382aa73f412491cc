"""A model from a repository of the hub. The library draws the progress, resumes cut downloads and keeps the cache."""

from __future__ import annotations

import logging
from pathlib import Path

import huggingface_hub
from huggingface_hub.errors import CacheNotFound, GatedRepoError, LocalEntryNotFoundError, RepositoryNotFoundError

from ferrox_gguf.cli.download.choose import choose, is_model, split_repository
from ferrox_gguf.cli.download.places import Places
from ferrox_gguf.errors import StartupError
from ferrox_gguf.settings import ModelSource

logger = logging.getLogger(__name__)


def fetch_repository(source: ModelSource, where: Places) -> Path:
    """The path of the model's (first) file in the cache, with every part beside it. Blocks; raises StartupError."""
    repository, quant = split_repository(source.repository)
    try:
        names = _names(repository, source, where)
        paths = [_one(repository, name, source, where) for name in choose(names, quant=quant, file=source.file)]
    except StartupError as error:
        raise StartupError(f"{repository}: {error}") from None
    return paths[0]


def cached_models(where: Places) -> list[tuple[str, int]]:
    """(repository and file, bytes) of every model in the cache."""
    found = {
        (f"{repo.repo_id}/{_relative(file.file_path, revision.snapshot_path)}", file.size_on_disk)
        for repo in _cached_repositories(where)
        for revision in repo.revisions
        for file in revision.files
        if is_model(file.file_name)
    }
    return sorted(found)


def _names(repository: str, source: ModelSource, where: Places) -> list[str]:
    """What the repository holds; as the cache knows it when offline, or when the hub cannot be reached."""
    cached = _cached_names(repository, where)
    if source.offline:
        if not cached:
            raise StartupError("not in the cache, and --offline forbids fetching it")
        return cached
    api = huggingface_hub.HfApi(endpoint=where.endpoint, token=source.token or None)
    try:
        return api.list_repo_files(repository)
    except GatedRepoError:
        raise StartupError("access must be granted first; then give a token with -hft or HF_TOKEN") from None
    except RepositoryNotFoundError:
        raise StartupError("there is no such repository, or it needs a token (-hft or HF_TOKEN)") from None
    except Exception as error:  # the library's transport, and so its errors, differ between its releases
        if cached:
            logger.warning("the hub cannot be reached (%s): serving what the cache holds", _line(error))
            return cached
        raise StartupError(f"the hub cannot be reached: {_line(error)}") from None


def _one(repository: str, name: str, source: ModelSource, where: Places) -> Path:
    try:
        path = huggingface_hub.hf_hub_download(
            repository,
            name,
            cache_dir=where.hub,
            endpoint=where.endpoint,
            token=source.token or None,
            local_files_only=source.offline,
        )
    except LocalEntryNotFoundError:
        raise StartupError(f"{name} is not in the cache and cannot be fetched") from None
    except Exception as error:
        raise StartupError(f"{name} could not be fetched: {_line(error)}") from None
    return Path(str(path))


def _cached_repositories(where: Places) -> list[huggingface_hub.CachedRepoInfo]:
    try:
        cache = huggingface_hub.scan_cache_dir(where.hub)
    except CacheNotFound:
        return []
    return [repo for repo in cache.repos if repo.repo_type == "model"]


def _cached_names(repository: str, where: Places) -> list[str]:
    """Of the newest cached revision that holds a model."""
    revisions = [
        revision for repo in _cached_repositories(where) if repo.repo_id == repository for revision in repo.revisions
    ]
    for revision in sorted(revisions, key=lambda revision: revision.last_modified, reverse=True):
        names = sorted(_relative(file.file_path, revision.snapshot_path) for file in revision.files)
        if any(is_model(name) for name in names):
            return names
    return []


def _relative(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _line(error: Exception) -> str:
    """One line of an error that may have many."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
