# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Copies of the repository in which releases are tried, and `make release` in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from repository import REPOSITORY

SUMMARY = {"release_summary": "A release, for a test."}


def sources(folder: Path, *, releases: dict[str, dict] | None = None, **fragments: dict) -> Path:
    """The sources as a repository of their own, with these releases and fragments, each named by its file."""
    root = copied(folder)
    shutil.rmtree(root / "changelogs/fragments", ignore_errors=True)
    changelog = {"ancestor": None, "releases": releases or {}}
    (root / "changelogs/changelog.yaml").write_text(yaml.safe_dump(changelog))
    write_fragments(root, **fragments)
    return root


def copied(folder: Path) -> Path:
    """The sources as a repository of their own, without a commit."""
    subprocess.run([REPOSITORY / "tools/copy-collection", folder], cwd=REPOSITORY, check=True)
    root = folder / "ansible_collections/oceanbase/ocp"
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    return root


def write_fragments(root: Path, **fragments: dict) -> None:
    """Write a fragment for each of these file names, without their suffix."""
    folder = root / "changelogs/fragments"
    folder.mkdir(exist_ok=True)
    for name, sections in fragments.items():
        (folder / f"{name}.yml").write_text(yaml.safe_dump(sections))


def tag(root: Path, version: str) -> None:
    """Commit everything and tag it."""
    me = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.com")
    for words in (["add", "--all"], ["commit", "--quiet", "--message", version], ["tag", version]):
        subprocess.run(["git", *me, *words], cwd=root, check=True)


def release(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "tools/release", *arguments],
        cwd=root,
        env={**os.environ, "HOME": str(root.parent), "ANSIBLE_HOME": str(root.parent / "home"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
