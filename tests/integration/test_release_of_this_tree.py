# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The next release of the working tree: what it calls new, what is in it, and what its pages link to."""

from __future__ import annotations

import json
import re
import runpy
import tarfile
from pathlib import Path, PurePosixPath

import pytest
import yaml
from packaging.version import Version
from release_tree import SUMMARY, copied, release, write_fragments
from repository import REPOSITORY

# Nobody but a release needs it, and `make first-steps` builds a tarball.
pytestmark = pytest.mark.nightly

OBJECTS = runpy.run_path(str(REPOSITORY / "tools/release/new_objects.py"))
# What an installed collection needs of the repository, each with all that is below it.
SHIPPED = {
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "LICENSE",
    "LICENSES",
    "README.md",
    "SECURITY.md",
    "changelogs/changelog.yaml",
    "docs",
    "extensions/audit",
    "extensions/eda",
    "extensions/ee",
    "meta",
    "playbooks",
    "plugins",
    "requirements.txt",
    "roles",
}
# What is below it and does not ship.
KEPT_BACK = ("docs/dev/", "docs/docsite/antsibull-docs.cfg", "docs/docsite/conf.py", "docs/docsite/index.md")
WRITTEN_BY_GALAXY = {"FILES.json", "MANIFEST.json"}


def next_version(released, fragments):
    """The version that these fragments ask for after those that are released, the newest last."""
    if not released:
        return "1.0.0"
    major, minor, _patch = max(map(Version, released)).release
    sections = {section for sections in fragments for section in sections}
    if sections & {"breaking_changes", "removed_features"}:
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A copy of the tree with its next release, built."""
    root = copied(tmp_path_factory.mktemp("sources"))
    fragments = [yaml.safe_load(path.read_text()) for path in (root / "changelogs/fragments").glob("*.yml")]
    if not fragments:
        write_fragments(root, summary=SUMMARY)
    released = yaml.safe_load((root / "changelogs/changelog.yaml").read_text())["releases"]
    done = release(root, next_version(released, fragments))
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture(scope="module")
def contents(root):
    """The files of the tarball, by name."""
    [tarball] = root.glob(".build/release/*/oceanbase-ocp-*.tar.gz")
    with tarfile.open(tarball) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive if not member.isdir()}


def test_every_module_plugin_role_and_playbook_is_called_new_once(contents):
    releases = yaml.safe_load(contents["changelogs/changelog.yaml"])["releases"]
    there = OBJECTS["objects"](REPOSITORY)
    assert there.keys() >= {"module", "callback", "filter", "inventory", "lookup", "role", "playbook"}
    assert all(there.values())
    new = [OBJECTS["new_in"](entry) for entry in releases.values()]
    for kind, names in there.items():
        assert sorted(name for each in new for name in each.get(kind, ())) == sorted(names), kind


def test_changelog_page_lists_all_modules_roles_and_playbooks(contents):
    page = contents["CHANGELOG.md"].decode().replace("\\", "")
    for title, kind in {"New Modules": "module", "New Roles": "role", "New Playbooks": "playbook"}.items():
        sections = re.findall(rf"^### {title}\n(.*?)(?=^<a|\Z)", page, re.MULTILINE | re.DOTALL)
        listed = [
            name for text in sections for name in re.findall(r"^\* oceanbase\.ocp\.(\w+) - \S", text, re.MULTILINE)
        ]
        assert sorted(listed) == sorted(OBJECTS["objects"](REPOSITORY)[kind])


def test_tarball_has_what_users_need_and_nothing_else(root, contents):
    tree = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    tree = {name for name in tree if not name.startswith((".build/", ".git/"))}
    wanted = {name for name in tree if {name, *map(str, PurePosixPath(name).parents)} & SHIPPED}
    assert {name.split("/")[0] for name in SHIPPED} <= {name.split("/")[0] for name in wanted}
    wanted = {name for name in wanted if not name.startswith(KEPT_BACK)}
    assert contents.keys() - WRITTEN_BY_GALAXY == wanted
    shipped = "\n".join(contents)
    unwanted = r"^(tests|examples|tools|extensions/(mesh|molecule))/|changelogs/fragments|docs/dev|\.github|__pycache__"
    assert not re.search(unwanted, shipped, re.MULTILINE)


def test_list_of_files_agrees_with_the_tarball(contents):
    listed = json.loads(contents["FILES.json"])["files"]
    assert {entry["name"] for entry in listed if entry["ftype"] == "file"} == contents.keys() - WRITTEN_BY_GALAXY


def test_pages_of_the_tarball_link_to_what_is_in_it(contents):
    """Or to a full address, which works everywhere."""
    there = contents.keys() | {str(folder) for name in contents for folder in PurePosixPath(name).parents}
    pages = [name for name in contents if name.endswith(".md")]
    links = {
        (page, link.partition("#")[0])
        for page in pages
        for link in re.findall(r"\]\(([^)\s]+)\)|^\[[^]]+\]: (\S+)$", contents[page].decode(), re.MULTILINE)
        for link in link
        if link and "://" not in link and not link.startswith(("#", "mailto:"))
    }
    assert [(page, link) for page, link in sorted(links) if normal(page, link) not in there] == []
    assert len(links) > 50


def normal(page, link):
    """The name in the tarball of what a page links to."""
    return str((Path("/") / page).parent.joinpath(link).resolve().relative_to("/"))
