# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""In .github: workflows run targets of the Makefile alone, check-all at night; templates name what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = {name: parts.split() for name, parts in re.findall(r"^([a-z-]+):([^#\n]*)", MAKEFILE, re.MULTILINE)}
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def commands(workflow: Path) -> list[str]:
    """The commands of all jobs, with every value of their matrix."""
    found = []
    for job in yaml.safe_load(workflow.read_text())["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        for command in (step["run"] for step in job["steps"] if "run" in step):
            name = re.search(r"\$\{\{ matrix\.(\w+) \}\}", command)
            found += [command.replace(name[0], value) for value in matrix[name[1]]] if name else [command]
    return found


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_targets_of_make_alone(workflow):
    ran = [re.fullmatch(r"make ([a-z-]+)(?: [A-Z]+=\S+)*", command) for command in commands(workflow)]
    assert ran
    assert all(ran), commands(workflow)
    assert {match[1] for match in ran} <= TARGETS.keys()


def test_every_part_of_check_all_is_run_at_night():
    nightly = commands(ROOT / ".github/workflows/nightly.yml")
    assert sorted(nightly) == sorted(f"make {part}" for part in TARGETS["check-all"])


TEMPLATES = sorted([*(ROOT / ".github/ISSUE_TEMPLATE").iterdir(), *(ROOT / ".github").glob("PULL_REQUEST*")])


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_names_pages_and_commands_that_are_there(template):
    text = template.read_text()
    pages = re.findall(r"(?:docs/)?[\w-]+\.md", text)
    playbooks = re.findall(r"oceanbase\.ocp\.(\w+)", text)
    variables = re.findall(r"-e (\w+)=", text)
    assert [page for page in pages if not (ROOT / page).is_file()] == []
    assert [name for name in playbooks if not (ROOT / f"playbooks/{name}.yml").is_file()] == []
    for name in variables:
        assert name in (ROOT / f"playbooks/{playbooks[0]}.yml").read_text()
    assert set(re.findall(r"`make ([a-z-]+)`", text)) <= TARGETS.keys()
