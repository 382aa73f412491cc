"""A model from an address: fetched once, resumed where an earlier attempt was cut.

A file gets its name only when it is whole; until then it is NAME.part, beside NAME.part.tag, which holds the server's
validator (its ETag), so that the halves of two different files are never joined.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from huggingface_hub.constants import ENDPOINT
from tqdm import tqdm

from ferrox_gguf.cli.download.choose import parts
from ferrox_gguf.cli.download.places import Places
from ferrox_gguf.errors import StartupError
from ferrox_gguf.settings import ModelSource

BLOCK = 1 << 20
TIMEOUT_SECONDS = 30
ATTEMPTS = 3


def fetch_address(source: ModelSource, target: str, where: Places) -> Path:
    """The path of the model's (first) file. target: where to keep it, "" for the cache. Blocks; raises StartupError."""
    split = urlsplit(source.url)
    if split.scheme not in ("http", "https") or not split.netloc:
        raise StartupError(f"--model-url: {source.url!r} is not an http address")
    first = Path(target) if target else where.files / (unquote(split.path.rpartition("/")[2]) or "model.gguf")
    base = split.path.rpartition("/")[0]
    for name in parts(split.path.rpartition("/")[2]):
        path = first if name == split.path.rpartition("/")[2] else first.with_name(unquote(name))
        if not path.exists():
            if source.offline:
                raise StartupError(f"{path} is not there, and --offline forbids fetching it")
            _fetch(split._replace(path=f"{base}/{name}").geturl(), path, _authorization(source, split.netloc, where))
    return first


def _authorization(source: ModelSource, host: str, where: Places) -> Mapping[str, str]:
    """The hub's token goes to the hub and to nobody else."""
    hub = urlsplit(where.endpoint or ENDPOINT).netloc
    return {"Authorization": f"Bearer {source.token}"} if source.token and host == hub else {}


def _fetch(address: str, path: Path, headers: Mapping[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _rest(address, path, headers)
            return
        except urllib.error.HTTPError as error:
            with error:
                raise StartupError(f"{address}: the server answered {error.code} {error.reason}") from None
        except (OSError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS:
                reason = error.reason if isinstance(error, urllib.error.URLError) else error
                raise StartupError(f"{address}: {reason} (start again to go on from here)") from None


def _rest(address: str, path: Path, headers: Mapping[str, str]) -> None:
    """Whatever is still missing. Raises OSError or HTTPException when it was cut; what came is kept."""
    part, tag = path.with_name(path.name + ".part"), path.with_name(path.name + ".part.tag")
    have = part.stat().st_size if part.exists() and tag.exists() else 0
    asked = dict(headers)
    if have:
        asked |= {"Range": f"bytes={have}-", "If-Range": tag.read_text()}
    request = urllib.request.Request(address, headers=asked)  # noqa: S310, the scheme was checked
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
        if answer.status != http.HTTPStatus.PARTIAL_CONTENT:
            have = 0
        if validator := answer.headers.get("ETag"):
            tag.write_text(validator)
        total = have + int(answer.headers.get("Content-Length") or 0)
        with (
            part.open("ab" if have else "wb") as file,
            tqdm(total=total or None, initial=have, unit="B", unit_scale=True, desc=path.name) as bar,
        ):
            while block := answer.read(BLOCK):
                file.write(block)
                bar.update(len(block))
                have += len(block)
    if total and have != total:
        raise http.client.IncompleteRead(b"", total - have)
    part.replace(path)
    tag.unlink(missing_ok=True)
