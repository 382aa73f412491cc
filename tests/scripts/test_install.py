"""What a person sees while llama.cpp compiles."""

import importlib.util
import itertools
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "install.py"
NINJA = [f"  [{step}/200] Building CXX object ggml.o\n" for step in range(1, 201)]


@pytest.fixture
def install(monkeypatch):
    spec = importlib.util.spec_from_file_location("install", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    seconds = itertools.count()
    monkeypatch.setattr(module.time, "monotonic", lambda: next(seconds))
    return module


def test_the_compilers_lines_pass_through_unchanged(install):
    lines = ["Collecting llama-cpp-python\n", *NINJA, "Successfully installed\n"]
    assert list(install.progress(iter(lines))) == lines


def test_without_a_terminal_a_line_appears_now_and_then(install, capsys):
    list(install.progress(iter(NINJA)))
    shown = [line.rstrip() for line in capsys.readouterr().err.splitlines()]
    assert shown[0] == "  0:15 compiling, step 15 of 200"
    assert len(shown) == 200 // install.QUIET_SECONDS


def test_before_the_compiler_starts_something_moves_too(install, capsys):
    list(install.progress(iter(["Collecting scikit-build-core\n"] * 20)))
    assert capsys.readouterr().err.rstrip() == "  0:15 downloading and preparing"


def test_with_a_terminal_one_line_moves(install, capsys, monkeypatch):
    monkeypatch.setattr(install.sys.stderr, "isatty", lambda: True)
    list(install.progress(iter(NINJA)))
    shown = capsys.readouterr().err
    assert shown.count("\r") == 201
    assert "\n" not in shown


def test_the_version_that_is_compiled_is_the_pinned_one(install):
    assert install.COMPILED.startswith("llama-cpp-python==")
    assert f'"{install.COMPILED}"' in (SCRIPT.parent.parent / "pyproject.toml").read_text()
