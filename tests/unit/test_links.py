# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Links of pages and citations in code lead somewhere; make targets and tests that pages name exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
READMES = [page for folder in ("extensions", "roles") for page in (ROOT / folder).glob("*/README.md")]
# Links to pages that are not shipped, and all links of the README, begin with it.
ADDRESS = yaml.safe_load((ROOT / "galaxy.yml").read_text())["repository"] + "/blob/main/"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *READMES])


@cache
def anchors(page: Path) -> set[str]:
    """What a link into the page can name: its headings, as GitHub and the site write them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> list[str]:
    """What a page links to, by links in its text and by those that it defines beside it."""
    inline, defined = r"\]\(([^)\s]+)\)", r"^\[[^\]]+\]: (\S+)$"
    return re.findall(inline, page.read_text()) + re.findall(defined, page.read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_pages_resolve(page):
    astray = []
    for link in links(page):
        path, _hash, anchor = link.removeprefix(ADDRESS).partition("#")
        folder = ROOT if link.startswith(ADDRESS) else page.parent
        target = folder / path if path else page
        if "://" not in path and not (target.exists() and (not anchor or anchor in anchors(target))):
            astray.append(link)
    assert astray == []


def test_documentation_of_plugins_links_only_to_plugins_of_the_collection():
    """The site is built without the inventories of others, so that a link to them leads nowhere."""
    pattern = r"\bM\((?!oceanbase\.ocp\.)[^)]*\)|\bP\((?!oceanbase\.ocp\.)[^)]*\)"
    files = sorted([*(ROOT / "plugins").rglob("*.py"), *(ROOT / "roles").glob("*/meta/*.yml")])
    assert [(path.name, link) for path in files for link in re.findall(pattern, path.read_text())] == []


def test_the_readme_links_by_full_address():
    """Galaxy and Automation Hub show it outside the repository."""
    page = ROOT / "README.md"
    assert [link for link in links(page) if not link.startswith("https://")] == []
    assert len([link for link in links(page) if link.startswith(ADDRESS)]) > 20
    used = set(re.findall(r"\]\[([^\]]+)\]", page.read_text()))
    assert used == set(re.findall(r"^\[([^\]]+)\]: \S+$", page.read_text(), re.MULTILINE))


def test_make_targets_on_pages_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        (page.name, target)
        for page in PAGES
        for words in re.findall(r"(?:^\$ |`)make ((?:[a-z-]+ ?)+)", page.read_text(), re.MULTILINE)
        for target in words.split()
    }
    assert {(page, target) for page, target in named if target not in targets} == set()
    assert len(named) > 20


def test_tests_named_on_pages_exist():
    named = {
        (page.name, test) for page in PAGES for test in re.findall(r"`(?:[\w/]+/)?(test_[\w*]+\.py)`", page.read_text())
    }
    assert [(page, test) for page, test in sorted(named) if not [*(ROOT / "tests").rglob(test)]] == []
    assert len(named) > 10


CODE = [
    path
    for folder in ("extensions", "playbooks", "plugins", "roles", "tests", "tools")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.is_file() and path.suffix in ("", ".py", ".yml", ".j2", ".sql")
]


def citations(text: str) -> list[str]:
    """Names of pages, and numbers of sections, which no page of the project has."""
    return re.findall(r"[\w-]+\.md\b|\b[Ss]ections? \d[\d.]*", text)


def test_code_cites_only_pages_of_the_project():
    there = {page.name for page in PAGES}
    files = [path for path in CODE if path != Path(__file__)]
    cited = {(str(path.relative_to(ROOT)), name) for path in files for name in citations(path.read_text())}
    assert {(path, name) for path, name in cited if name not in there} == set()
    assert len(cited) > 20


def test_a_citation_of_another_page_is_found():
    assert citations("As in other.md, section 4.2, and docs/contract.md.") == ["other.md", "section 4.2", "contract.md"]
