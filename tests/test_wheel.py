"""The wheel, built by the real build backend."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=60)
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_every_module_and_every_template_is_in_it(wheel):
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "ferrox_gguf").rglob("*.py")}
    files = [path for path in (ROOT / "chat_templates").rglob("*") if path.is_file()]
    templates = {f"ferrox_gguf/_chat_templates/{path.relative_to(ROOT / 'chat_templates')}" for path in files}
    assert templates
    assert modules | templates <= set(wheel.namelist())


def test_the_page_to_try_a_model_with_is_in_it(wheel):
    page = "ferrox_gguf/server/page.html"
    assert wheel.read(page) == (ROOT / page).read_bytes()


def test_it_installs_both_commands_and_carries_the_licence(wheel):
    (entry_points,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "ferrox-server = ferrox_gguf.cli.main:server" in wheel.read(entry_points).decode()
    assert "ferrox-gguf = ferrox_gguf.cli.main:main" in wheel.read(entry_points).decode()
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())


def test_what_it_installs_knows_the_templates_by_name(wheel, tmp_path):
    wheel.extractall(tmp_path)
    ask = "from ferrox_gguf.template import named; print(named.folder(), bool(named.source('chatml')))"
    run = subprocess.run(
        [sys.executable, "-c", ask], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert run.stdout.split() == [str(tmp_path / "ferrox_gguf" / "_chat_templates"), "True"], run.stderr


def test_nothing_else_is_in_it(wheel):
    assert {name.split("/")[0].split("-")[0] for name in wheel.namelist()} == {"ferrox_gguf"}
