"""`--path`: files at `/`, and never one from outside the folder."""

from dataclasses import replace

import httpx
import pytest
from support.models import scripted_ready
from support.serving import serving

from ferrox_gguf.settings import ServerSettings, Settings

CLIENT = httpx.Client(verify=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text("secret")
    folder = outside / "public"
    (folder / "below").mkdir(parents=True)
    (folder / "index.html").write_text("<h1>mine</h1>")
    (folder / "below" / "page.js").write_text("1")
    (folder / "props").write_text("a file")
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    (folder / "up").symlink_to(outside)
    return folder


def settings(**fields):
    return replace(Settings(), server=replace(ServerSettings(), **fields))


@pytest.fixture(scope="module")
def url(folder):
    with serving(lambda: scripted_ready(b"hi"), settings(static_path=str(folder))) as url:
        yield url


def test_files_are_served_with_their_type(url):
    index, page = CLIENT.get(url + "/"), CLIENT.get(url + "/below/page.js")
    assert (index.text, index.headers["content-type"]) == ("<h1>mine</h1>", "text/html; charset=utf-8")
    assert (page.text, page.headers["content-type"].split(";")[0]) == ("1", "text/javascript")


def test_the_servers_own_routes_win(url):
    assert CLIENT.get(url + "/props").json()["total_slots"] == 4
    assert CLIENT.post(url + "/completion", json={"prompt": "a"}).json()["content"] == "hi"


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/below/../../secret.txt",
        "/below/%2e%2e/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/%2fetc/passwd",
        "//etc/passwd",
        "/link.txt",
        "/up/secret.txt",
        "/below/..%5c..%5csecret.txt",
        "/%00",
        "/nothing",
    ],
)
def test_nothing_outside_the_folder_is_ever_served(url, path):
    # httpx would tidy the path, so it goes out as it stands.
    with httpx.Client(verify=False) as client:
        request = client.build_request("GET", url + "/")
        request.url = request.url.copy_with(raw_path=path.encode())
        answer = client.send(request)
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "not_found_error"
    assert "secret" not in answer.text.replace("secret.txt", "")


def test_with_keys_only_the_first_page_needs_none(folder):
    with serving(lambda: scripted_ready(b"hi"), settings(static_path=str(folder), api_keys=("k",))) as url:
        assert CLIENT.get(url + "/").text == "<h1>mine</h1>"
        assert CLIENT.get(url + "/below/page.js").status_code == 401
        assert CLIENT.get(url + "/below/page.js", headers={"x-api-key": "k"}).status_code == 200


def test_a_page_of_llama_servers_that_a_browser_still_holds_is_retired():
    with serving(lambda: scripted_ready(b"hi"), settings(api_keys=("k",))) as url:
        worker = CLIENT.get(url + "/sw.js")
        assert worker.headers["content-type"].startswith("text/javascript")
        assert worker.headers["cache-control"] == "no-cache"
        assert "unregister" in worker.text


def test_a_worker_of_ones_own_is_served_instead(tmp_path):
    (tmp_path / "sw.js").write_text("mine")
    with serving(lambda: scripted_ready(b"hi"), settings(static_path=str(tmp_path))) as url:
        assert CLIENT.get(url + "/sw.js").text == "mine"


@pytest.mark.parametrize("path", ["/tools", "/cors-proxy"])
def test_what_this_server_never_does_is_switched_off(url, path):
    answer = CLIENT.post(url + path, json={})
    assert (answer.status_code, answer.json()["error"]["type"]) == (403, "feature_disabled")
