# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A full disk: reads are answered, writes are refused by the emulator and not by an OCP, one line is logged."""

TASKS = "/api/v2/tasks/instances"


def fill(emulated):
    """No page more for the database."""
    db = emulated.app.state.service.store.db
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages}")
    return db


def test_reads_are_answered_and_writes_refused_until_there_is_room(start, tmp_path, caplog):
    caplog.set_level("ERROR", logger="ocp_emulator")
    emulated = start(database=tmp_path / "state.db")
    emulated.restart_server(1)
    db = fill(emulated)
    for number in range(2, 7):
        answer = emulated.request("POST", f"/api/v2/ob/clusters/1/servers/{number}/restart?freezeServer=true")
        if answer.status_code != 200:
            break
    assert (answer.status_code, answer.headers["Content-Type"]) == (507, "text/plain; charset=utf-8")
    assert answer.text == "The emulator's disk is full: it answers reads only.\n"
    known = emulated.get(TASKS)["page"]["totalElements"]
    # The next steps cannot be written.
    emulated.pass_time(600)
    assert emulated.get(TASKS)["page"]["totalElements"] == known
    assert len([record for record in caplog.records if "cannot be written" in record.message]) == 1
    assert "unexpected" not in caplog.text
    db.execute("PRAGMA max_page_count = 1000000")
    assert emulated.task(1001)["status"] == "SUCCESSFUL"
    emulated.restart_cluster(2)
