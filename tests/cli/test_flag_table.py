"""The table against llama-server's own list of flags.

tests/golden/llama_server_flags.json: names, variables and whether a value follows, taken from the options that
llama-server registers at the llama.cpp commit of llama-cpp-python 0.3.36.
"""

import ast
import json
from pathlib import Path

import ferrox_gguf
from ferrox_gguf.cli.flags.flag import Action, Group, State
from ferrox_gguf.cli.flags.path import get
from ferrox_gguf.cli.flags.shown import default, groups
from ferrox_gguf.cli.flags.table import FLAGS, by_spelling
from ferrox_gguf.settings import Settings

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "llama_server_flags.json").read_text())


READ_HERE = ("model.source.", "context.cpu.cpus")
"""Settings that the command line itself acts upon."""

PASSED_WHOLE = "generation.sampling."
"""Sampling travels as one value, whose fields the sampler reads under other names."""


def reads_below_the_command_line():
    """(owner, attribute) wherever a room reads one: ("cache", "ram_mib") for `settings.cache.ram_mib`."""
    package = Path(ferrox_gguf.__file__).parent
    above = {"cli", "settings.py", "request.py"}
    for path in package.rglob("*.py"):
        if path.relative_to(package).parts[0] not in above:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute):
                    owner = getattr(node.value, "attr", getattr(node.value, "id", ""))
                    yield owner.lstrip("_"), node.attr


def pairs():
    """Each row of llama-server's list with ours."""
    spellings = by_spelling()
    return [(row, spellings[row["names"][0]][0]) for row in GOLDEN if row["names"][0] in spellings]


def test_every_flag_of_llama_server_has_a_row():
    assert len(GOLDEN) == 255
    assert [row["names"] for row in GOLDEN if not by_spelling().keys() >= set(row["names"])] == []


def test_each_row_has_the_spellings_of_llama_servers_and_no_others():
    assert [flag.name for row, flag in pairs() if {*flag.names, *flag.off} != set(row["names"])] == []


def test_a_flag_takes_a_value_exactly_where_llama_servers_does():
    assert [flag.name for row, flag in pairs() if (flag.value is None) != (row["value"] is None)] == []


def test_a_flag_reads_the_variable_that_llama_servers_reads():
    assert [flag.name for row, flag in pairs() if flag.env[:1] != ((row["env"],) if row["env"] else ())] == []


def test_the_spellings_that_switch_off_are_those_that_say_no():
    for row, flag in pairs():
        said_no = {name for name in row["names"] if name.lstrip("-").startswith(("no-", "nkvo", "nocb", "nr"))}
        all_say_no = len(said_no) == len(row["names"])
        assert set(flag.off) == (set() if all_say_no else said_no), flag.name


def test_flags_that_llama_server_removed_are_refused():
    removed = [flag for row, flag in pairs() if row["removed"]]
    assert len(removed) == 5
    assert {flag.state for flag in removed} == {State.REFUSED}


def test_a_flag_that_llama_server_lacks_is_marked_as_ours():
    theirs = {name for row in GOLDEN for name in row["names"]}
    assert [flag.name for flag in FLAGS if flag.ours == bool(theirs.intersection(flag.names))] == []


def test_no_spelling_and_no_variable_means_two_things():
    spellings = [name for flag in FLAGS for name in (*flag.names, *flag.off)]
    variables = [name for flag in FLAGS for name in flag.env]
    assert len(spellings) == len(set(spellings))
    assert len(variables) == len(set(variables))


def test_a_flag_that_is_not_done_says_why():
    absent = [flag for flag in FLAGS if flag.state is not State.DONE]
    assert [flag.name for flag in absent if not flag.why] == []
    assert [flag.name for flag in absent if flag.state is State.REFUSED and flag.sets is not None] == []


def test_a_flag_is_done_exactly_when_a_room_below_reads_what_it_decides():
    read = set(reads_below_the_command_line())
    for flag in FLAGS:
        if isinstance(flag.sets, str) and not flag.sets.startswith((*READ_HERE, PASSED_WHOLE)):
            *_, part, name = ("settings", *flag.sets.split("."))
            wired = not read.isdisjoint({(part, name), ("settings", name), ("flags", name)})
            assert wired == (flag.state is State.DONE), f"{flag.name} is {flag.state.value}, and read below: {wired}"


def test_a_flag_that_is_done_decides_something_that_exists():
    for flag in FLAGS:
        if flag.state is State.DONE and isinstance(flag.sets, str):
            get(Settings(), flag.sets)
    undecided = [flag.name for flag in FLAGS if flag.state is State.DONE and flag.sets is None]
    assert undecided == ["--escape"]


def test_every_flag_has_a_default_that_can_be_shown():
    assert [flag.name for flag in FLAGS if not default(flag) and not isinstance(flag.sets, Action)] == []


def test_each_group_is_one_run_of_the_table():
    assert [group for group, _ in groups()] == list(Group)
