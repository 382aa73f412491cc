"""The lanes of the engine: `/slots`, and what can be done with one."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.errors import InvalidField, NotSupported, RequestError, Unavailable
from ferrox_gguf.json_types import Json
from ferrox_gguf.server.json_response import json_value
from ferrox_gguf.server.state import ready_of, state_of
from ferrox_gguf.wire.fields import parse_body, string
from ferrox_gguf.wire.slots import erased_json, restored_json, saved_json, slots_json

LONGEST_NAME = 255
"""Bytes that a file's name may have on the usual file systems."""


async def slots(request: Request) -> Response:
    """`?fail_on_no_slot=1` answers 503 when all are busy, for load balancers."""
    if not state_of(request).settings.server.endpoints.slots:
        raise NotSupported("This server does not support slots endpoint. Start it with `--slots`")
    snapshots = ready_of(request).lanes.slots()
    if request.query_params.get("fail_on_no_slot") and all(slot.is_processing for slot in snapshots):
        raise Unavailable("no slot available")
    return json_value(slots_json(snapshots))


async def act(request: Request) -> Response:
    """`?action=save|restore|erase`, once the slot is idle. Files stay in the folder of `--slot-save-path`."""
    folder = state_of(request).settings.cache.slot_save_path
    if not folder:
        raise NotSupported("This server does not support slots action. Start it with `--slot-save-path`")
    slot = slot_number(request.path_params["slot"])
    action = ACTIONS.get(request.query_params.get("action", ""))
    if action is None:
        raise RequestError("Invalid action")
    return json_value(await action(request, slot, Path(folder)))


async def save(request: Request, slot: int, folder: Path) -> dict[str, Json]:
    name = await file_name(request)
    try:
        return saved_json(slot, name, await ready_of(request).lanes.save_slot(slot, folder / name))
    except OSError as error:
        raise InvalidField("filename", f"cannot be written: {error.strerror}") from None


async def restore(request: Request, slot: int, folder: Path) -> dict[str, Json]:
    name = await file_name(request)
    return restored_json(slot, name, await ready_of(request).lanes.restore_slot(slot, folder / name))


async def erase(request: Request, slot: int, folder: Path) -> dict[str, Json]:
    """The body, if there is one, means nothing."""
    return erased_json(slot, await ready_of(request).lanes.erase_slot(slot))


ACTIONS = {"save": save, "restore": restore, "erase": erase}


def slot_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise RequestError("Invalid slot ID") from None


async def file_name(request: Request) -> str:
    """A plain name: no folder, nothing hidden, nothing that a file system or a terminal reads in its own way."""
    name = string(parse_body(await request.body()), "filename")
    if not is_plain(name):
        raise RequestError("Invalid filename")
    return name


def is_plain(name: str) -> bool:
    return (
        0 < len(name.encode(errors="replace")) <= LONGEST_NAME
        and name.isprintable()
        and not name.startswith((".", " "))
        and not name.endswith((".", " "))
        and not any(character in '/\\:*?"<>|' for character in name)
    )


ROUTES = (
    Route("/slots", slots, methods=["GET"]),
    Route("/slots/{slot}", act, methods=["POST"]),
)
