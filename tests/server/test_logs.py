"""The log: what is said at which verbosity, where, and in which shape."""

import json
import logging
import re

import pytest

from ferrox_gguf.server.logs import configure_logging
from ferrox_gguf.server.request_id import request_id
from ferrox_gguf.settings import LogSettings

logger = logging.getLogger("ferrox_gguf.test")


@pytest.fixture(autouse=True)
def restored():
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def say(capsys):
    """What is written, on standard output and on standard error, when something is said at every level."""

    def speak(**fields):
        configure_logging(LogSettings(**fields))
        for level in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR):
            logger.log(level, "%s here", logging.getLevelName(level))
        return capsys.readouterr()

    return speak


@pytest.mark.parametrize(
    ("verbosity", "said"),
    [
        (0, []),
        (1, ["ERROR"]),
        (2, ["WARNING", "ERROR"]),
        (3, ["INFO", "WARNING", "ERROR"]),
        (4, ["DEBUG", "INFO", "WARNING", "ERROR"]),
        (5, ["DEBUG", "INFO", "WARNING", "ERROR"]),
        (99, ["DEBUG", "INFO", "WARNING", "ERROR"]),
    ],
)
def test_a_verbosity_drops_what_is_above_it(say, verbosity, said):
    out, err = say(verbosity=verbosity, prefix=False, timestamps=False)
    assert err.split() == [word for level in said for word in (level, "here")]
    assert out == ""


def test_nothing_is_said_when_the_log_is_off(say):
    assert say(enabled=False) == ("", "")


def test_a_line_begins_with_time_and_level_when_asked(say):
    assert re.fullmatch(r" +\d+\.\d{3} E ERROR here\n", say(verbosity=1).err)
    assert say(verbosity=1, timestamps=False).err == "E ERROR here\n"
    assert re.fullmatch(r" +\d+\.\d{3} ERROR here\n", say(verbosity=1, prefix=False).err)


def test_colours_come_only_on_a_terminal_or_on_demand(say):
    assert "\x1b[" not in say(colors="auto").err
    assert "\x1b[" not in say(colors="off").err
    assert "\x1b[31m" in say(colors="on").err


def test_json_lines_are_objects_on_standard_output(say):
    out, err = say(verbosity=2, jsonl=True, colors="on")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [(line["level"], line["message"]) for line in lines] == [
        ("warning", "WARNING here"),
        ("error", "ERROR here"),
    ]
    assert {"timestamp", "logger"} <= lines[0].keys()
    assert err == ""


def test_a_file_gets_what_the_terminal_gets_without_colours(say, tmp_path):
    file = tmp_path / "server.log"
    said = say(file=str(file), colors="on", timestamps=False)
    assert file.read_text() == re.sub(r"\x1b\[\d+m", "", said.err).replace("\x1b[0m", "")


def test_an_exception_is_written_with_its_trace(capsys):
    configure_logging(LogSettings(jsonl=True))
    try:
        raise KeyError("lost")
    except KeyError:
        logger.exception("it failed")
    line = json.loads(capsys.readouterr().out)
    assert "KeyError: 'lost'" in line["exception"]


@pytest.mark.parametrize("jsonl", [False, True])
def test_a_line_names_the_request_that_it_is_about(say, jsonl):
    token = request_id.set("req-1")
    try:
        out, err = say(verbosity=1, jsonl=jsonl, timestamps=False)
    finally:
        request_id.reset(token)
    assert json.loads(out)["request_id"] == "req-1" if jsonl else err == "E [req-1] ERROR here\n"
