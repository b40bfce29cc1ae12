# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What `make release` refuses, each with one sentence, and that it builds nothing then."""

from __future__ import annotations

import pytest
from release_tree import SUMMARY, release, sources, tag

CHANGELOG = "changelogs/changelog.yaml"
RELEASED = {"release_date": "2026-05-04", "changes": SUMMARY}
FIX = {"bugfixes": ["server_restart - a fix."]}
ADDITION = {"minor_changes": ["server_restart - an addition."]}
BREAK = {"breaking_changes": ["server_restart - a break."]}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A tree whose refusals do not change it."""
    return sources(tmp_path_factory.mktemp("sources"), first=SUMMARY)


def refused(root, version):
    """The one sentence with which the version is refused."""
    done = release(root, version)
    assert (done.returncode, done.stdout) == (1, "")
    assert [*(root / ".build/release").glob("*/*.tar.gz")] == []
    [line] = done.stderr.splitlines()
    return line.removeprefix("release: ")


@pytest.mark.parametrize("version", ["", "1.0", "v1.0.0", "1.0.0+local", "01.0.0", "1.0.0-draft.1"])
def test_invalid_version_is_refused(version, tree):
    said = refused(tree, version)
    assert said == f"VERSION={version} is not a semantic version; use one like 1.0.0 or 1.1.0-rc.1."


@pytest.mark.nightly
def test_a_release_without_changes_is_refused(tmp_path):
    tree = sources(tmp_path)
    assert refused(tree, "1.0.0") == f"1.0.0 has no changelog fragments and is not in {CHANGELOG}."


@pytest.mark.nightly
def test_known_version_with_leftover_fragments_is_refused(tmp_path):
    tree = sources(tmp_path, releases={"1.0.0": RELEASED}, quorum=ADDITION, clocks=FIX)
    tag(tree, "1.0.0")
    assert refused(tree, "1.0.0") == (
        "changelogs/fragments would still have clocks.yml, quorum.yml after 1.0.0; a newer version needs them."
    )


@pytest.mark.nightly
@pytest.mark.parametrize("changed", [False, True], ids=["no tag", "changed since the tag"])
def test_known_version_is_refused_but_at_its_tag(changed, tmp_path):
    tree = sources(tmp_path, releases={"1.0.0": RELEASED})
    if changed:
        tag(tree, "1.0.0")
        (tree / "README.md").write_text("Changed.\n")
    assert refused(tree, "1.0.0") == (
        f"1.0.0 is in {CHANGELOG} already; check its tag out to build it again, or give a newer version."
    )


@pytest.mark.nightly
def test_version_that_is_not_newer_is_refused(tmp_path):
    tree = sources(tmp_path, releases={"1.10.0": RELEASED}, clocks=FIX)
    assert refused(tree, "1.9.1") == f"1.9.1 is not newer than 1.10.0, the newest release in {CHANGELOG}."


@pytest.mark.nightly
def test_breaking_change_in_a_minor_version_is_refused(tmp_path):
    tree = sources(tmp_path, releases={"1.0.0": RELEASED}, clocks=FIX, quorum=BREAK)
    assert refused(tree, "1.1.0") == (
        "changelogs/fragments/quorum.yml has breaking_changes, which needs a major version; 1.1.0 is a minor version."
    )


@pytest.mark.nightly
def test_bugfix_in_a_first_release_is_refused(tmp_path):
    tree = sources(tmp_path, clocks=FIX)
    assert refused(tree, "1.0.0") == (
        "changelogs/fragments/clocks.yml has bugfixes, but nothing was released before 1.0.0; "
        "the first release tells what there is, in major_changes and minor_changes."
    )


@pytest.mark.nightly
def test_something_new_in_a_patch_version_is_refused(tmp_path):
    tree = sources(tmp_path, releases={"1.0.0": RELEASED}, clocks=FIX)
    playbooks = sorted(path.stem for path in (tree / "playbooks").glob("*.yml"))
    said = refused(tree, "1.0.1")
    assert said == f"{', '.join(playbooks)}: new, which needs a minor version; 1.0.1 is a patch version."


@pytest.mark.nightly
def test_module_that_no_release_calls_new_is_refused(tmp_path):
    tree = sources(tmp_path, first=SUMMARY)
    module = tree / "plugins/modules/task_wait.py"
    module.write_text(module.read_text().replace("version_added: 1.0.0", "version_added: 0.9.0"))
    assert refused(tree, "1.0.0") == "no release calls module task_wait new; is version_added 1.0.0?"


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["notes.txt", ".hidden.yml"])
def test_fragment_that_is_not_read_is_refused(name, tmp_path):
    tree = sources(tmp_path, first=SUMMARY)
    (tree / "changelogs/fragments" / name).write_text("minor_changes: [something]\n")
    said = refused(tree, "1.0.0")
    assert said == f"changelogs/fragments would still have {name} after 1.0.0; a newer version needs them."


@pytest.mark.nightly
def test_fragment_that_is_read_and_stays_is_refused(tmp_path):
    tree = sources(tmp_path, first=SUMMARY)
    settings = tree / "changelogs/config.yaml"
    settings.write_text(settings.read_text().replace("keep_fragments: false", "keep_fragments: true"))
    assert refused(tree, "1.0.0").startswith("changelogs/fragments would still have first.yml")
