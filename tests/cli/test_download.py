"""Downloads against a stand-in of the hub: the real library, real HTTP, a cache in a temporary folder."""

from pathlib import Path

import pytest
from huggingface_hub import constants
from support.hub import Hub, serving

from ferrox_gguf.cli.download import located
from ferrox_gguf.cli.flags.parse import parse
from ferrox_gguf.cli.serve import run
from ferrox_gguf.errors import StartupError

SMALL, LARGE = b"small model", bytes(range(256)) * 4096
FILES = {
    "user/model": {
        "README.md": b"",
        "mmproj-F16.gguf": b"projector",
        "model-Q2_K.gguf": b"tiny",
        "model-Q4_K_M.gguf": SMALL,
        "sub/model-Q8_0.gguf": LARGE,
    },
    "user/split": {
        "big-Q4_K_M-00001-of-00002.gguf": b"one",
        "big-Q4_K_M-00002-of-00002.gguf": b"two",
        "big-Q5_K_M-00001-of-00002.gguf": b"alone",
    },
    "user/plain": {"weights.gguf": b"the only one"},
    "user/empty": {"README.md": b""},
}


@pytest.fixture
def hub():
    with serving(Hub(FILES)) as hub:
        yield hub


class Shell:
    """A command line with its own cache, which reaches this hub and no other place."""

    def __init__(self, hub: Hub, folder: Path) -> None:
        self.environment = {"LLAMA_CACHE": str(folder / "cache"), "HF_ENDPOINT": hub.address, "HOME": str(folder)}

    def path(self, *arguments: str) -> Path:
        return Path(located(parse(arguments, self.environment).settings, self.environment).model.path)

    def refusal(self, *arguments: str) -> str:
        with pytest.raises(StartupError) as raised:
            self.path(*arguments)
        return str(raised.value)


@pytest.fixture
def shell(hub, tmp_path):
    return Shell(hub, tmp_path)


def test_a_repository_gives_its_q4_k_m_unless_told_otherwise(shell):
    assert shell.path("-hf", "user/model").read_bytes() == SMALL
    assert shell.path("-hf", "user/model:q8_0").read_bytes() == LARGE
    assert shell.path("-hf", "user/model", "-hff", "model-Q2_K.gguf").read_bytes() == b"tiny"


def test_a_repository_without_the_usual_quants_gives_its_first_model(shell):
    assert shell.path("-hf", "user/plain").read_bytes() == b"the only one"


def test_what_is_missing_is_named_with_what_there_is(shell):
    assert "no quant 'Q9'; there are model-Q2_K.gguf, model-Q4_K_M.gguf" in shell.refusal("-hf", "user/model:Q9")
    assert "there is no file 'x.gguf'" in shell.refusal("-hf", "user/model", "-hff", "x.gguf")
    assert shell.refusal("-hf", "user/empty") == "user/empty: there is no GGUF model in it"
    assert "there is no such repository" in shell.refusal("-hf", "user/none")
    assert "is not <user>/<model>[:quant]" in shell.refusal("-hf", "model")


def test_all_parts_of_a_split_model_are_fetched_side_by_side(shell):
    first = shell.path("-hf", "user/split")
    assert first.name == "big-Q4_K_M-00001-of-00002.gguf"
    assert first.with_name("big-Q4_K_M-00002-of-00002.gguf").read_bytes() == b"two"


def test_a_split_model_with_a_part_missing_is_refused(shell):
    assert "a part is missing: big-Q5_K_M-00002-of-00002.gguf" in shell.refusal("-hf", "user/split:Q5_K_M")


def test_a_fetched_model_is_not_fetched_again(hub, shell):
    first = shell.path("-hf", "user/model")
    hub.seen.clear()
    assert shell.path("-hf", "user/model") == first
    assert [method for method, path, _ in hub.seen if "resolve" in path] == ["HEAD"]


def test_offline_uses_the_cache_and_never_the_network(hub, shell):
    fetched = shell.path("-hf", "user/model")
    hub.seen.clear()
    assert shell.path("-hf", "user/model", "--offline") == fetched
    assert "--offline forbids fetching it" in shell.refusal("-hf", "user/plain", "--offline")
    assert "no quant 'Q8_0'" in shell.refusal("-hf", "user/model:Q8_0", "--offline")
    assert hub.seen == []


def test_a_hub_that_cannot_be_reached_is_no_trouble_for_a_cached_model(shell, tmp_path):
    fetched = shell.path("-hf", "user/model")
    shell.environment["HF_ENDPOINT"] = "http://127.0.0.1:9"
    assert shell.path("-hf", "user/model") == fetched
    assert "the hub cannot be reached" in shell.refusal("-hf", "user/plain")


def test_a_private_repository_wants_the_token(tmp_path):
    with serving(Hub(FILES, token="secret")) as hub:
        shell = Shell(hub, tmp_path)
        assert "needs a token (-hft or HF_TOKEN)" in shell.refusal("-hf", "user/plain", "-hft", "wrong")
        assert shell.path("-hf", "user/plain", "-hft", "secret").read_bytes() == b"the only one"


def test_a_cut_download_from_the_hub_goes_on_where_it_was_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 500)  # what the library writes at a time, 10 MB otherwise
    with serving(Hub(FILES, cut_after=1000)) as hub:
        fetched = Shell(hub, tmp_path).path("-hf", "user/model:Q8_0")
        assert fetched.read_bytes() == LARGE
        assert [wanted for method, _, wanted in hub.seen if method == "GET" and wanted] == ["bytes=1000-"]


def test_an_address_is_fetched_once_and_kept(hub, shell):
    address = f"{hub.address}/user/model/resolve/main/model-Q4_K_M.gguf"
    fetched = shell.path("-mu", address)
    assert fetched.read_bytes() == SMALL
    hub.seen.clear()
    assert shell.path("-mu", address) == shell.path("-mu", address, "--offline") == fetched
    assert hub.seen == []


def test_an_address_may_be_kept_where_the_model_flag_says(hub, shell, tmp_path):
    address = f"{hub.address}/user/model/resolve/main/model-Q4_K_M.gguf"
    wanted = tmp_path / "elsewhere" / "mine.gguf"
    assert shell.path("-mu", address, "-m", str(wanted)) == wanted
    assert wanted.read_bytes() == SMALL


def test_a_cut_download_from_an_address_goes_on_where_it_was_cut(tmp_path):
    with serving(Hub(FILES, cut_after=1000)) as hub:
        fetched = Shell(hub, tmp_path).path("-mu", f"{hub.address}/user/model/resolve/main/sub/model-Q8_0.gguf")
        assert fetched.read_bytes() == LARGE
        assert [wanted for _, _, wanted in hub.seen] == [None, "bytes=1000-"]
        assert list(fetched.parent.iterdir()) == [fetched]


def test_a_file_that_changed_meanwhile_is_fetched_from_the_start(hub, shell, tmp_path):
    cache = Path(shell.environment["LLAMA_CACHE"])
    cache.mkdir()
    (cache / "model-Q4_K_M.gguf.part").write_bytes(b"other")
    (cache / "model-Q4_K_M.gguf.part.tag").write_text('"another"')
    assert shell.path("-mu", f"{hub.address}/user/model/resolve/main/model-Q4_K_M.gguf").read_bytes() == SMALL


def test_all_parts_of_a_split_model_are_fetched_from_its_address(hub, shell):
    first = shell.path("-mu", f"{hub.address}/user/split/resolve/main/big-Q4_K_M-00001-of-00002.gguf")
    assert first.with_name("big-Q4_K_M-00002-of-00002.gguf").read_bytes() == b"two"


def test_an_address_that_fails_is_one_clear_line(hub, shell):
    missing = f"{hub.address}/user/model/resolve/main/none.gguf"
    assert shell.refusal("-mu", missing) == f"{missing}: the server answered 404 Not Found"
    assert "is not an http address" in shell.refusal("-mu", "file:///etc/passwd")


def test_a_token_goes_to_the_hub_and_to_nobody_else(tmp_path):
    with serving(Hub(FILES, token="secret")) as hub:
        shell = Shell(hub, tmp_path)
        address = f"{hub.address}/user/plain/resolve/main/weights.gguf"
        assert shell.path("-mu", address, "-hft", "secret").read_bytes() == b"the only one"
        shell.environment |= {"HF_ENDPOINT": "http://127.0.0.1:9", "LLAMA_CACHE": str(tmp_path / "other")}
        assert "401" in shell.refusal("-mu", address, "-hft", "secret")


def test_without_an_alias_a_model_goes_by_the_words_that_asked_for_it(shell):
    def aliases(*arguments):
        return located(parse(arguments, shell.environment).settings, shell.environment).model.aliases

    assert aliases("-hf", "user/model:Q8_0") == ("user/model:Q8_0",)
    assert aliases("-m", "some/file.gguf") == ("some/file.gguf",)
    assert aliases("-m", "some/file.gguf", "-a", "a,b") == ("a", "b")


def test_cached_models_are_listed(shell, capsys):
    assert run(["--cache-list"], shell.environment) == 0
    assert "no model has been fetched yet" in capsys.readouterr().out
    shell.path("-hf", "user/model:Q8_0")
    assert run(["-cl"], shell.environment) == 0
    assert "1.0 MiB  user/model/sub/model-Q8_0.gguf" in capsys.readouterr().out


def test_a_command_line_without_a_model_says_how_to_name_one(shell):
    assert shell.refusal() == "no model: say which with -m FILE, -hf USER/MODEL, or -mu ADDRESS"
