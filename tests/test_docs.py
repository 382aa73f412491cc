"""What the pages claim, checked where it can be."""

import re
from pathlib import Path

import pytest

from ferrox_gguf.cli.flags.table import by_spelling
from ferrox_gguf.server.routes import ROUTES

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@EACH_PAGE
def test_every_link_leads_somewhere(page):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_a_page_begins_with_a_command_to_paste(page):
    assert page.read_text().startswith("```\n")


@EACH_PAGE
def test_every_flag_that_a_page_names_exists(page):
    bench = re.findall(r'add_argument\("(--[a-z]+)"', (ROOT / "scripts" / "bench.py").read_text())
    known = {*by_spelling(), "--json", "--jsonl", *bench}
    text = re.sub(r"pip (install|wheel|download) .*|docker .*", "", page.read_text())
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9.-]*[a-z0-9](?![\w*-])", text))
    assert named - known == set()


def test_the_readme_names_no_endpoint_that_is_not_there():
    table = (ROOT / "README.md").read_text().split("## What it speaks")[1].split("## ")[0]
    named = set(re.findall(r"`(/[\w/]+)`", table))
    assert len(named) > 15
    assert named - {route.path for route in ROUTES} == set()


def test_the_page_of_endpoints_names_each_that_there_is_and_no_other():
    table = (ROOT / "docs" / "apis.md").read_text().split("# Endpoints")[1].split("## ")[0]
    named = set(re.findall(r"`(/[\w/-]+)`", table))
    there = {route.path for route in ROUTES if not route.path.endswith(("/control", "}")) and route.path != "/"}
    assert named == there
