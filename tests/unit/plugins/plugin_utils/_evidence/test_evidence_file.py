# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The files of the evidence: a name for each run, whole at any time, and no time of the run to speak of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._evidence import evidence_file
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._evidence.evidence_file import EvidenceFile


@pytest.mark.parametrize("wanted", ["change", "change.json", "change.html"])
def test_document_and_page_have_one_name(tmp_path, wanted):
    file = EvidenceFile(str(tmp_path / "new" / wanted))
    file.write("{}", "<p>")
    assert {path.name: path.read_text() for path in (tmp_path / "new").iterdir()} == {
        "change.json": "{}",
        "change.html": "<p>",
    }


def test_name_with_a_dot_stays_whole(tmp_path):
    EvidenceFile(str(tmp_path / "v4.2.json")).write("{}", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v4.2.html", "v4.2.json"]


def test_runs_that_want_the_same_name_get_one_each(tmp_path):
    files = [EvidenceFile(str(tmp_path / "change.json")) for _number in range(20)]
    with ThreadPoolExecutor(20) as crew:
        list(crew.map(EvidenceFile.reserve, files))
    wanted = {"change.json"} | {f"change-{number}.json" for number in range(2, 21)}
    assert {file.document.name for file in files} == wanted


def test_failed_write_leaves_the_last_one_whole(tmp_path, monkeypatch):
    file = EvidenceFile(str(tmp_path / "change"))
    file.write("whole", "page")

    def full(*_paths):
        raise OSError("disk full")

    monkeypatch.setattr(evidence_file.Path, "replace", full)
    with pytest.raises(OSError, match="disk full"):
        file.write("next", "page")
    assert (tmp_path / "change.json").read_text() == "whole"
    assert len(list(tmp_path.iterdir())) == 2


def test_writing_takes_a_small_part_of_the_time(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(evidence_file.time, "monotonic", lambda: now[0])
    file = EvidenceFile(str(tmp_path / "change"))
    assert file.is_due
    replace = evidence_file._replace
    monkeypatch.setattr(evidence_file, "_replace", lambda *text: (now.__setitem__(0, now[0] + 1), replace(*text)))
    file.write("{}", "")
    now[0] += 39
    assert not file.is_due
    now[0] += 1
    assert file.is_due
