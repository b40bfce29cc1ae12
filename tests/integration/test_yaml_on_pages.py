# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which YAML blocks on pages are playbooks, for --syntax-check, and which test reads all other blocks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml
from documentation_blocks import blocks
from repository import REPOSITORY

# The tests that run what is no playbook, such as a file of variables, or that needs the files around it.
RUN_BY = {
    "docs/awx.md": "test_awx.py",
    "docs/emulator.md": "test_emulator_tasks.py",
    "docs/emulator-reference.md": "test_documentation.py",
    "docs/approved-plan.md": "test_approved_plan.py",
    "docs/fleet.md": "test_fleet.py",
    "docs/inventory.md": "test_inventory.py",
    "docs/rolling-restart.md": "test_documentation.py",
    "docs/safety-reference.md": "test_inspections.py",
}
PAGES = [
    str(page.relative_to(REPOSITORY))
    for pattern in ("*.md", "docs/**/*.md", "roles/*/*.md")
    for page in sorted(REPOSITORY.glob(pattern))
]


def is_playbook(block: str) -> bool:
    """Whether it is a list of plays, which a rulebook with its hosts and rules is not."""
    content = yaml.load(block, yaml.CSafeLoader)
    return isinstance(content, list) and all("hosts" in play and "rules" not in play for play in content)


PLAYBOOKS = {
    (page, number): block for page in PAGES for number, block in enumerate(blocks(page, "yaml")) if is_playbook(block)
}


def test_playbooks_on_pages_pass_the_syntax_check(commands, tmp_path):
    files = []
    for (page, number), block in PLAYBOOKS.items():
        file = tmp_path / f"{page.replace('/', '-')}-{number}.yml"
        file.write_text(block)
        files.append(file)
    assert len(files) > 10
    run = subprocess.run(
        [commands / "ansible-playbook", "--syntax-check", *files], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "yaml")])
def test_other_yaml_blocks_are_run_by_a_test(page):
    others = [number for number, _block in enumerate(blocks(page, "yaml")) if (page, number) not in PLAYBOOKS]
    assert not others or page in RUN_BY, f"blocks {others} are no playbooks, and no test is named that runs them"
    assert not others or page in (Path(__file__).parent / RUN_BY[page]).read_text()
