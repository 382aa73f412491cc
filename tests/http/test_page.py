"""`--ui`: the page at `/` to try the model with. No browser runs here: what the page may do, not what it looks like."""

import asyncio
import hashlib
import re
from base64 import b64encode
from dataclasses import replace
from html.parser import HTMLParser

import httpx
import pytest
from support.models import scripted_ready
from support.serving import serving

from ferrox_gguf.server.app import create_app
from ferrox_gguf.server.page import source
from ferrox_gguf.server.state import ServerState
from ferrox_gguf.settings import PredictionSettings, ServerSettings, Settings

CLIENT = httpx.Client(verify=False)


def settings(**fields):
    return replace(Settings(), server=replace(ServerSettings(), **fields))


def ready():
    return scripted_ready(b"hi")


def while_loading(*paths, **fields):
    """The statuses of these paths before there is a model."""

    async def ask():
        app = create_app(ServerState(settings(**fields)))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://test") as client:
            return [(await client.get(path)).status_code for path in paths]

    return asyncio.run(ask())


class Elements(HTMLParser):
    """Every element of the page with its attributes, and what stands in its script and its style."""

    def __init__(self):
        super().__init__()
        self.all, self.texts = [], {}
        self.feed(source())

    def handle_starttag(self, tag, attrs):
        self.all.append((tag, dict(attrs)))

    def handle_data(self, data):
        tag = self.all[-1][0] if self.all else ""
        if tag in ("script", "style"):
            self.texts.setdefault(tag, data)


@pytest.fixture(scope="module")
def elements():
    return Elements()


@pytest.fixture(scope="module")
def url():
    with serving(ready) as url:
        yield url


@pytest.fixture(scope="module")
def policy(url):
    rules = CLIENT.get(url + "/").headers["content-security-policy"].split("; ")
    return {name: value for name, _, value in (rule.partition(" ") for rule in rules)}


@pytest.mark.parametrize("path", ["/", "/index.html"])
def test_it_is_served_unless_somebody_says_otherwise(url, path):
    answer = CLIENT.get(url + path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.text == source()
    assert answer.headers["cache-control"] == "no-cache"
    head = CLIENT.head(url + path)
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(answer.content)))
    assert CLIENT.post(url + path, json={}).status_code == 404


def test_props_say_whether_it_is_there(url):
    assert CLIENT.get(url + "/props").json()["ui"] is True
    with serving(ready, settings(ui=False)) as without:
        assert CLIENT.get(without + "/props").json()["ui"] is False


def test_without_it_there_is_nothing_at_its_address():
    with serving(ready, settings(ui=False)) as url:
        assert [CLIENT.get(url + path).status_code for path in ("/", "/index.html")] == [404, 404]
        assert CLIENT.get(url + "/sw.js").status_code == 200


@pytest.mark.parametrize("ui", [True, False])
def test_a_page_of_ones_own_is_served_in_its_place(tmp_path, ui):
    (tmp_path / "index.html").write_text("mine")
    with serving(ready, settings(ui=ui, static_path=str(tmp_path))) as url:
        answers = [CLIENT.get(url + path) for path in ("/", "/index.html")]
        assert [answer.text for answer in answers] == ["mine", "mine"]
        assert "content-security-policy" not in answers[0].headers


def test_no_key_is_needed_to_see_it_and_one_is_to_ask_anything():
    with serving(ready, settings(api_keys=("k",))) as url:
        assert [CLIENT.get(url + path).status_code for path in ("/", "/index.html", "/v1/models")] == [200, 200, 401]


def test_below_a_prefix_it_asks_below_the_prefix(elements):
    with serving(ready, settings(api_prefix="/a/b", api_keys=("k",)), prefix="/a/b") as url:
        assert CLIENT.get(url + "/a/b/").text == source()
        assert CLIENT.get(url + "/").status_code == 401
        without_slash = CLIENT.get(url + "/a/b")
        assert without_slash.status_code == 307
        assert str(without_slash.next_request.url) == url + "/a/b/"
        asked = re.findall(r'request\("([^"]+)"', elements.texts["script"])
        assert set(asked) == {"v1/models", "v1/chat/completions"}
        with httpx.Client(verify=False, headers={"authorization": "Bearer k"}) as client:
            assert client.get(url + "/a/b/" + asked[0]).status_code == 200


def test_it_is_there_while_the_model_loads_and_nothing_else_is():
    assert while_loading("/", "/index.html", "/v1/models", "/sw.js", "/health") == [200, 200, 503, 503, 503]
    assert while_loading("/x", "/x/", "/x/v1/models", "/", api_prefix="/x") == [307, 200, 503, 503]
    assert while_loading("/", ui=False) == [503]


def test_who_probes_at_its_address_is_not_told_that_a_loading_model_is_healthy():
    assert while_loading("/", prediction=PredictionSettings(predict_route="/p", health_route="/")) == [503]


def test_only_its_own_script_and_style_are_allowed(policy, elements):
    def allowed(kind):
        return "'sha256-" + b64encode(hashlib.sha256(elements.texts[kind].encode()).digest()).decode() + "'"

    assert policy["default-src"] == "'none'"
    assert (policy["script-src"], policy["style-src"]) == (allowed("script"), allowed("style"))
    assert (policy["connect-src"], policy["frame-ancestors"]) == ("'self'", "'none'")
    assert [tag for tag, _ in elements.all if tag in ("script", "style")] == ["style", "script"]


def test_no_attribute_of_it_is_a_script_or_a_style(elements):
    names = {name for _, attributes in elements.all for name in attributes}
    assert "id" in names
    assert [name for name in names if name == "style" or name.startswith("on")] == []


def test_it_names_no_other_host(elements):
    assert re.findall(r"""\w+://|["'`(=]\s*//""", source()) == []
    assert [value for _, each in elements.all for name, value in each.items() if name in ("src", "href")] == ["data:,"]


def test_what_a_model_writes_is_never_read_as_html(policy, elements):
    ways = r"inner\w*HTML|outerHTML|insertAdjacent|setHTML|document\.write|DOMParser|Fragment|srcdoc|eval|Function\("
    assert re.findall(ways, elements.texts["script"]) == []
    # Should a later hand write one of them all the same, the browser refuses it.
    assert policy["require-trusted-types-for"] == "'script'"


def test_it_stores_nothing(elements):
    ways = r"localStorage|sessionStorage|indexedDB|cookie|caches|serviceWorker"
    assert re.findall(ways, elements.texts["script"]) == []


def test_every_field_has_a_label_and_every_element_that_the_script_looks_for_is_there(elements):
    known = {attributes["id"] for _, attributes in elements.all if "id" in attributes}
    assert set(re.findall(r'\$\("(\w+)"\)', elements.texts["script"])) <= known
    labelled = re.findall(r"<label>[^<]+<(?:textarea|input) id=\"(\w+)\"", source())
    fields = [attributes for tag, attributes in elements.all if tag in ("textarea", "input")]
    assert [each["id"] for each in fields if "aria-label" not in each and each["id"] not in labelled] == []
