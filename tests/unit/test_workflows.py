# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""In .github: workflows run only targets of make, with pinned actions; what runs when; templates name what is there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
CHECK_ALL = re.search(r"^CHECK_ALL := (.*)$", MAKEFILE, re.MULTILINE)[1].split()
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
CI, NIGHTLY, RELEASE = (GITHUB / f"workflows/{name}.yml" for name in ("ci", "nightly", "release"))
PINNED = r"(actions/[\w-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)"


def jobs(workflow: Path) -> dict[str, dict]:
    return yaml.safe_load(workflow.read_text())["jobs"]


def commands(workflow: Path) -> list[str]:
    """The commands of all jobs, with every value of their matrix."""
    found = []
    for job in jobs(workflow).values():
        matrix = job.get("strategy", {}).get("matrix", {})
        for command in (step["run"] for step in job.get("steps", ()) if "run" in step):
            name = re.search(r"\$\{\{ matrix\.(\w+) \}\}", command)
            found += [command.replace(name[0], value) for value in matrix[name[1]]] if name else [command]
    return found


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_targets_of_make_alone(workflow):
    ran = [re.fullmatch(r"make ([a-z-]+)(?: [A-Z]+=\S+)*", command) for command in commands(workflow)]
    assert ran
    assert all(ran), commands(workflow)
    assert {match[1] for match in ran} <= TARGETS


def test_every_part_of_check_all_is_a_target_and_is_run_at_night():
    assert set(CHECK_ALL) <= TARGETS
    assert sorted(commands(NIGHTLY)) == sorted(f"make {part}" for part in CHECK_ALL)


def test_each_change_runs_on_every_supported_ansible_core():
    supported = runpy.run_path(str(ROOT / "tools/matrix"))["SUPPORTED"]
    assert [words for words in commands(CI) if "matrix" in words] == [f"make matrix CORE={core}" for core in supported]
    [installed] = [
        step["with"]["python-version"] for step in jobs(CI)["core"]["steps"] if "python" in str(step.get("with"))
    ]
    assert {python for pythons in supported.values() for python in pythons} == set(installed.split())
    assert "make test" in commands(CI)


def test_a_release_is_built_after_all_tests_of_its_commit():
    """A workflow that is called by its path is that of the same commit, and checks out the same commit."""
    called = {name: job["uses"] for name, job in jobs(RELEASE).items() if "uses" in job}
    assert sorted(called.values()) == ["./.github/workflows/ci.yml", "./.github/workflows/nightly.yml"]
    assert set(jobs(RELEASE)["build"]["needs"]) == called.keys()
    for workflow in (CI, NIGHTLY):
        # YAML reads an unquoted on as true.
        assert "workflow_call" in yaml.safe_load(workflow.read_text())["on"]
        assert not any("ref" in step.get("with", {}) for job in jobs(workflow).values() for step in job["steps"])


def test_actions_are_pinned_to_one_commit_each():
    used = [line for path in WORKFLOWS for line in re.findall(r"uses: (.*)", path.read_text()) if line[:2] != "./"]
    pins = {re.fullmatch(PINNED, line) for line in used}
    assert None not in pins, used
    by_action = {}
    for match in pins:
        by_action.setdefault(match[1], set()).add(match[2])
    assert by_action
    assert [action for action, commits in by_action.items() if len(commits) > 1] == []


def test_dependabot_watches_actions_and_every_list_of_requirements():
    updates = {
        update["package-ecosystem"]: update
        for update in yaml.safe_load((GITHUB / "dependabot.yml").read_text())["updates"]
    }
    assert updates.keys() == {"github-actions", "pip"}
    lists = [
        path
        for folder in ("", "roles/*/files", "tests/*")
        for path in ROOT.glob(f"{folder}/requirements.txt".lstrip("/"))
    ]
    assert {"/" + str(path.parent.relative_to(ROOT)).removeprefix(".") for path in lists} == set(
        updates["pip"]["directories"]
    )


def test_everything_has_an_owner():
    lines = [line for line in (GITHUB / "CODEOWNERS").read_text().splitlines() if line[:1] != "#"]
    organisation = yaml.safe_load((ROOT / "galaxy.yml").read_text())["repository"].split("/")[-2]
    assert re.fullmatch(rf"\* @{organisation}/[\w-]+", lines[0])


TEMPLATES = sorted([*(GITHUB / "ISSUE_TEMPLATE").iterdir(), *GITHUB.glob("PULL_REQUEST*")])


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
    assert set(re.findall(r"`make ([a-z-]+)`", text)) <= TARGETS
