# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Replicas follow every change, and the journal stays short. What they show: faults/test_answer_faults.py."""

FAULTS = "/emulator/faults"
SERVICE = "/api/v2/arbitration/services/1"
ILL = [{"cluster": "orders", "tenant": "shop", "logStreams": [1001]}]


def lag(emulated, seconds):
    fault = {"kind": "answer", "action": "lag", "seconds": seconds, "times": None}
    return emulated.data("POST", FAULTS, json=fault)["id"]


def journal(emulated):
    """The number of changes that are kept; None without a journal."""
    db = emulated.app.state.service.store.db
    tables = {row["name"] for row in db.execute("SELECT name FROM temp.sqlite_master")}
    return db.execute("SELECT count(*) FROM journal").fetchone()[0] if tables else None


def test_replica_follows_rows_that_are_deleted(emulated):
    lag(emulated, 10)
    shown = []
    for degraded in (ILL, []):
        emulated.request("PUT", "/emulator/arbitration-services/1", json={"degraded": degraded})
        for seconds in (9.999, 0.001):
            emulated.pass_time(seconds)
            shown.append(any(cluster["tenants"] for cluster in emulated.get(SERVICE)["clusters"]))
    assert shown == [False, True, True, False]


def test_journal_keeps_only_what_a_replica_has_not_seen(emulated):
    assert journal(emulated) is None
    slow, fast = lag(emulated, 60), lag(emulated, 1)
    emulated.restart_cluster(2)
    emulated.pass_time(30)
    emulated.get(SERVICE)
    kept = journal(emulated)
    assert kept > 100
    emulated.request("DELETE", f"{FAULTS}/{slow}")
    emulated.get(SERVICE)
    assert journal(emulated) < 5
    emulated.request("DELETE", f"{FAULTS}/{fast}")
    emulated.get(SERVICE)
    assert journal(emulated) is None
