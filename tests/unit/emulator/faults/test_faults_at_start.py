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


def test_faults_of_all_kinds_work_from_a_file_and_go_on_with_the_database(start, tmp_path):
    (tmp_path / "faults.yml").write_text(
        """
        - {kind: answer, action: lag, seconds: 3, match: {path: "/api/v2/tasks/*"}, times: null}
        - {kind: answer, action: clock, time: 2000-01-01T00:00:00Z, times: 2}
        - {kind: answer, action: moved_start, seconds: -1, match: {record: server, id: 1}, times: null}
        - {kind: proxy, action: hold, seconds: 20, match: {method: POST, path: "*/restart"}, call: 2}
        - {kind: busy, action: accept, times: 3}
        """
    )
    settings = {"database": tmp_path / "state.db", "faults": read_faults(tmp_path / "faults.yml")}
    emulated = start(**settings)
    old = emulated.server(1)["startTime"]
    emulated.restart_server(1)
    assert emulated.get(TASKS)["contents"] == []
    emulated.app.state.service.close()
    again = start(**settings)
    assert again.request("POST", "/api/v2/ob/clusters/1/restart").status_code == 504
    again.restart_server(1)
    again.pass_time(100)
    assert again.server(1)["startTime"] < old
    assert [task["status"] for task in again.get(TASKS)["contents"]] == ["SUCCESSFUL"] * 3
    assert again.restarts()["OB_SERVER", 1] == 3
    assert [fault["hits"] for fault in again.get(FAULTS)["contents"]][1:] == [2, 1, 1, 2]
