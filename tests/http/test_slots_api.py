"""`/slots` over HTTP: who is busy, and a slot's cells on disk and back."""

from dataclasses import replace

import httpx
import pytest
from support.models import scripted_ready
from support.serving import serving

from ferrox_gguf.settings import CacheSettings, Settings


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("slots")


@pytest.fixture(scope="module")
def server(folder):
    settings = replace(Settings(), cache=replace(CacheSettings(), slot_save_path=str(folder)))
    ready = []

    def make():
        ready.append(scripted_ready(b"hi", settings=settings, n_parallel=2))
        return ready[0]

    with serving(make, settings) as url:
        yield url, ready[0].lanes


CLIENT = httpx.Client(verify=False)  # reading certificates would be most of the time


def act(url, action, body=None, slot="0"):
    answer = CLIENT.post(f"{url}/slots/{slot}?action={action}", json=body)
    return answer.status_code, answer.json()


def test_a_slot_goes_to_a_file_is_erased_and_comes_back(server, folder):
    url, lanes = server
    lanes.held[0] = 17
    status, saved = act(url, "save", {"filename": "one.bin"})
    assert status == 200
    assert saved == {
        "id_slot": 0,
        "filename": "one.bin",
        "n_saved": 17,
        "n_written": (folder / "one.bin").stat().st_size,
        "timings": {"save_ms": 1.5},
    }
    assert act(url, "erase") == (200, {"id_slot": 0, "n_erased": 17})
    assert lanes.held == [0, 0]
    status, restored = act(url, "restore", {"filename": "one.bin"}, slot="1")
    assert (status, restored["id_slot"], restored["n_restored"], restored["timings"]) == (
        200,
        1,
        17,
        {"restore_ms": 2.5},
    )
    assert restored["n_read"] == saved["n_written"]
    assert lanes.held == [0, 17]


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../a",
        "a/b",
        "/etc/passwd",
        "a\\b",
        "C:a",
        ".hidden",
        "a\nb",
        "a\0b",
        "a" * 256,
        " a",
        "a.",
        "💾" * 64,
    ],
)
@pytest.mark.parametrize("action", ["save", "restore"])
def test_a_name_cannot_leave_the_folder(server, folder, name, action):
    before = sorted(folder.parent.rglob("*"))
    status, body = act(server[0], action, {"filename": name})
    assert (status, body["error"]["type"]) == (400, "invalid_request_error")
    assert sorted(folder.parent.rglob("*")) == before


@pytest.mark.parametrize(
    ("slot", "action", "body", "said"),
    [
        ("x", "save", {"filename": "a"}, "Invalid slot ID"),
        ("0", "burn", {"filename": "a"}, "Invalid action"),
        ("9", "save", {"filename": "a"}, "id_slot"),
        ("0", "save", {"filename": 3}, "filename"),
        ("0", "save", {}, "Invalid filename"),
        ("0", "restore", {"filename": "never-saved.bin"}, "filename"),
    ],
)
def test_what_cannot_be_done_is_a_400_that_says_why(server, slot, action, body, said):
    status, answer = act(server[0], action, body, slot)
    assert (status, answer["error"]["type"]) == (400, "invalid_request_error")
    assert said in answer["error"]["message"]


def test_a_folder_that_cannot_be_written_is_the_clients_news_not_a_crash(server, folder):
    (folder / "taken").mkdir()
    status, body = act(server[0], "save", {"filename": "taken"})
    assert (status, body["error"]["type"]) == (400, "invalid_request_error")


def test_without_a_folder_there_are_no_actions():
    with serving(lambda: scripted_ready(b"hi")) as url:
        status, body = act(url, "save", {"filename": "a"})
    assert (status, body["error"]["type"]) == (501, "not_supported_error")
    assert "--slot-save-path" in body["error"]["message"]


def test_a_load_balancer_is_told_when_every_slot_is_busy(server):
    url, lanes = server
    try:
        lanes.busy = {0}
        assert CLIENT.get(url + "/slots?fail_on_no_slot=1").status_code == 200
        lanes.busy = {0, 1}
        assert CLIENT.get(url + "/slots").status_code == 200
        full = CLIENT.get(url + "/slots?fail_on_no_slot=1")
        assert (full.status_code, full.json()["error"]["type"]) == (503, "unavailable_error")
    finally:
        lanes.busy = set()
