# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The faults that the emulator starts with, in a new database and in one that began with the same, none, or others."""

import pytest
from ocp_emulator.faults.fault_file import read_faults
from ocp_emulator.store.database import StoreError

FAULTS = "/emulator/faults"
TASKS = "/api/v2/tasks/instances"


def statuses(emulated, calls):
    return [emulated.request("GET", TASKS).status_code for _call in range(calls)]


def test_faults_are_planned_once_and_other_faults_are_refused(start, tmp_path):
    (tmp_path / "faults.yml").write_text("[{kind: http, action: error, status: 500, times: 2}]")
    settings = {"database": tmp_path / "state.db", "faults": read_faults(tmp_path / "faults.yml")}
    emulated = start(**settings)
    assert statuses(emulated, 1) == [500]
    emulated.app.state.service.close()
    again = start(**settings)
    assert statuses(again, 2) == [500, 200]
    again.app.state.service.close()
    third = start(database=tmp_path / "state.db")
    assert [fault["hits"] for fault in third.get(FAULTS)["contents"]] == [2]
    third.app.state.service.close()
    (tmp_path / "faults.yml").write_text("[{kind: http, action: reset}]")
    with pytest.raises(StoreError, match="other faults"):
        start(database=tmp_path / "state.db", faults=read_faults(tmp_path / "faults.yml"))
