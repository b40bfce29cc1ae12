# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Verification after a successful task: whether everything has restarted."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ModuleCrashed, NotVerified, ResponseLost
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.evidence import PROOF_TIMEOUT
from ansible_collections.oceanbase.ocp.tests.unit.support import fake_ocp
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    RESTART_CASES,
    SERVER,
    every_restart,
    failure,
    request,
    restart,
)

CLUSTER, AGENTS, ZONE = RESTART_CASES["cluster"], RESTART_CASES["agents"], RESTART_CASES["zone"]
SHOWN = [RESTART_CASES[name] for name in RESTART_CASES if RESTART_CASES[name].proven]
every_shown_restart = pytest.mark.parametrize("case", SHOWN, ids=[case.post[0] for case in SHOWN])
NOT_SHOWN = "not verified, since the service shows no start time or process of it"


@every_shown_restart
def test_target_that_did_not_restart_fails_verification(case, service):
    service.restarts_really = False
    error = failure(service, case, request(wait=True))
    assert error.__class__ is NotVerified
    names = [member["name"] for member in error.facts["after"]["members"]]
    assert f"ended SUCCESSFUL, but OCP shows no new start of {', '.join(names)}" in str(error)
    assert "task 1001" in str(error)
    assert (error.facts["changed"], error.facts["verified"], error.facts["task_id"]) == (True, False, 1001)
    assert error.facts["task"]["succeeded"] is True
    assert error.facts["warnings"] == []
    # At first twice a second, then more and more seldom.
    assert (min(service.time.pauses), max(service.time.pauses)) == (0.5, 5.0)
    assert 0 <= error.facts["elapsed"] - 10 - PROOF_TIMEOUT <= 1
    assert len(service.posts) == 1


@every_shown_restart
@pytest.mark.parametrize("change", [None, "memory"])
def test_restart_that_is_not_proven_proposes_a_look_and_for_a_change_the_way_out(change, case, service):
    """Without a change the same command restarts again what has restarted."""
    service.restarts_really = False
    first, *steps = str(failure(service, case, replace(request(wait=True), change=change))).splitlines()
    assert "It serves now. Look at task 1001 and at the process itself." in first
    look, *ways, last = steps
    assert look == "  See what it did: ansible-playbook oceanbase.ocp.task_report -e task_report_id=1001"
    if change is None:
        assert (ways, last) == ([], "If none has started, run the same command again.")
        return
    assert "restart it once more without the change" in first
    assert all(re.match(r"  Restart \S+ once more: ansible localhost -m oceanbase", way) for way in ways)
    assert (bool(ways), last) == (True, "Then run the same command again.")


def test_message_says_that_a_server_which_did_not_restart_is_down(service):
    """As after a step that was skipped: the start of before does not mean that the process of before serves."""
    service.restarts_really = False
    server = service.servers_there[0]
    service.after_restart = lambda: setattr(server, "status", "STOPPED")
    error = failure(service, RESTART_CASES["server"], request(wait=True))
    assert "but OCP shows no new start of 10.1.0.1:2882, and 10.1.0.1:2882 is STOPPED" in str(error)


@every_shown_restart
@pytest.mark.parametrize("status", [404, 408, 413, 425, 429, 499])
def test_refused_read_does_not_end_the_proof(status, case, service):
    read = "host_agent" if case is AGENTS else "servers"
    service.after_restart = lambda: service.failing.update({read: [refused(status)] * 2})
    assert restart(service, case, request(wait=True))["verified"] is True
    assert service.failing[read] == []


def test_one_server_that_did_not_restart_fails_verification(service):
    forgotten = service.servers_there[1]
    service.before_post = lambda: None
    job_things = [thing for thing in service.servers_there if thing is not forgotten]
    real = service.begin
    service.begin = lambda name, _things, **more: real(name, job_things, **more)
    error = failure(service, CLUSTER, request(wait=True))
    assert "but OCP shows no new start of 10.1.0.2:2882" in str(error)


@pytest.mark.parametrize(("started", "verified"), [(-1800.0, False), (30.0, True)])
def test_server_that_moves_into_the_zone_meanwhile_is_judged_by_its_own_start(started, verified, service):
    """The task may not have restarted it."""
    newcomer = service.servers_there[1]
    newcomer.started = started
    zone = service.servers_there[0].zone
    service.after_restart = lambda: setattr(newcomer, "zone", zone)
    if verified:
        assert restart(service, ZONE, request(wait=True))["verified"] is True
    else:
        assert "no new start of 10.1.0.2:2882" in str(failure(service, ZONE, request(wait=True)))


def test_members_are_compared_by_name_not_by_position(service):
    service.restarts_really = False
    service.servers_there[1].started = -1800.0
    service.before_post = service.servers_there.reverse
    assert "no new start of 10.1.0.1:2882, 10.1.0.2:2882, 10.1.0.3:2882." in str(
        failure(service, CLUSTER, request(wait=True))
    )


@every_shown_restart
@pytest.mark.parametrize("late", [0.5, 29.5])
def test_late_proof_is_accepted(late, case, service):
    service.restarts_really = False
    ended: list[float] = []

    def show():
        if service.now >= 10 and not ended:
            ended.append(service.now)
        if ended and service.now >= ended[0] + late:
            for thing in case.things(service):
                thing.pid, thing.started = thing.pid + 1, 5.0

    service.time.after_sleep = show
    result = restart(service, case, request(wait=True))
    assert result["verified"] is True
    assert result["after"] != result["before"]


def test_slow_reads_do_not_extend_the_verification(service):
    """Each read takes 9 s; none begins after 180 s."""
    service.restarts_really = False
    service.slow["servers"] = 9.0
    error = failure(service, SERVER, request(wait=True))
    assert error.facts["elapsed"] <= 9 + 10 + PROOF_TIMEOUT + 9


@pytest.mark.parametrize("missing", ["before", "after"])
@pytest.mark.parametrize("case", [SERVER, CLUSTER], ids=["server", "cluster"])
def test_start_time_is_needed_only_after_the_restart(missing, case, service):
    def hide():
        for thing in service.servers_there:
            thing.started = None

    if missing == "before":
        hide()
        service.restarts_really = True
    else:
        service.restarts_really = False
        service.before_post = hide
    result = restart(service, case, request(wait=True))
    # A start after the begin of the task is proof, even without an earlier start.
    assert result["verified"] is (True if missing == "before" else None)
    assert (NOT_SHOWN in result["reason"]) is (missing == "after")


def test_cluster_that_shows_a_server_less_afterwards_is_unverified(service):
    service.before_post = lambda: service.__setattr__("servers_there", service.servers_there[1:])
    result = restart(service, CLUSTER, request(wait=True))
    assert result["verified"] is None
    assert NOT_SHOWN in result["reason"]


def test_cluster_without_servers_is_unverified(service):
    service.servers_there = []
    result = restart(service, CLUSTER, request(wait=True))
    assert (result["verified"], result["before"]["members"]) == (None, [])
    assert NOT_SHOWN in result["reason"]


def test_arbitration_restart_cannot_be_verified(service):
    result = restart(service, RESTART_CASES["arbitration service"], request(wait=True))
    assert (result["verified"], NOT_SHOWN in result["reason"]) == (None, True)


@every_restart
@pytest.mark.parametrize(
    "make_error",
    [lambda: refused(403), lambda: refused(502), lambda: ResponseLost("The answer was lost.", url=URL)],
    ids=["403", "502", "lost"],
)
@pytest.mark.parametrize("reads", [0, 2], ids=["at once", "later"])
def test_unreadable_proof_is_not_a_failure(reads, make_error, case, service):
    reads_of = {"server": "servers", "cluster": "cluster", "zone": "cluster", "agents": "host_agent"}
    read = {**reads_of, "obproxies": "obproxy_cluster"}.get(case.post[0], "arbitration_service")
    service.restarts_really = case.proven is None
    members = len(case.things(service)) if case is AGENTS else 1
    error = make_error()
    observe = service._called

    def fail_after(name):
        if service.jobs and service.jobs[0].applied and name == read:
            seen.append(name)
            if len(seen) > reads * members:
                raise error
        observe(name)

    seen: list[str] = []
    service._called = fail_after
    result = restart(service, case, request(wait=True))
    assert result["changed"] is True
    assert result["verified"] is None
    if case.proven or not reads:
        assert str(error) in result["reason"]
        assert (result["after"] is not None) is bool(reads)


@every_shown_restart
def test_one_lost_read_does_not_end_the_proof(case, service):
    observe = service._called
    lost = []

    def lose_one(name):
        if service.jobs and service.jobs[0].applied and not lost and name in ("servers", "cluster", "host_agent"):
            lost.append(name)
            raise ResponseLost("The answer was lost.", url=URL)
        observe(name)

    service._called = lose_one
    assert restart(service, case, request(wait=True))["verified"] is True
    assert len(lost) == 1


@every_restart
def test_crash_while_sending_does_not_claim_that_nothing_was_sent(case, service, monkeypatch):
    def crash(*_arguments):
        raise RuntimeError("A bug.")

    monkeypatch.setattr(type(case.target), "restart", crash)
    error = failure(service, case, request())
    assert error.__class__ is ModuleCrashed
    assert (error.facts["changed"], error.facts["action"]) == (True, "submitted")


# A joined task


@pytest.mark.parametrize("case", [SERVER, CLUSTER], ids=["server", "cluster"])
@pytest.mark.parametrize("started_at", [3, 9], ids=["before its restart", "after its restart"])
def test_joined_task_is_verified(started_at, case, service):
    """It may have restarted the target before the first observation; the start time proves it."""
    service.begin(case.task_name, case.things(service), seconds=10)
    service.time.time += started_at
    if started_at == 9:
        for thing in case.things(service):
            thing.started = 5.0
    result = restart(service, case, request(wait=True))
    assert (result["action"], result["verified"]) == ("attached", True)


def test_joined_task_without_a_restart_fails_verification(service):
    service.restarts_really = False
    service.begin(fake_ocp.SERVER, SERVER.things(service))
    error = failure(service, SERVER, request(wait=True))
    assert error.__class__ is NotVerified
    assert (error.facts["action"], error.facts["verified"], error.facts["changed"]) == ("attached", False, False)


def test_later_failed_task_that_holds_the_target_ends_the_proof_and_is_shown(service):
    """What somebody else began after our restart leaves the server ill until a person acts: nobody waits for that."""
    [server] = SERVER.things(service)
    ended = []

    def begin_another():
        if not ended:
            ended.append(service.now)
            service.begin(fake_ocp.SERVER, [server], seconds=0, end="FAILED")
            server.status = "RESTARTING"

    service.after_restart = begin_another
    error = failure(service, SERVER, request(wait=True))
    assert (error.__class__, error.facts["task_id"], error.facts["verified"]) == (NotVerified, 1001, False)
    assert "and task 1002 (Restart OB server) FAILED and holds it." in str(error)
    assert error.facts["failed_task_ids"] == [1002]
    assert service.now - ended[0] < PROOF_TIMEOUT / 10


@pytest.mark.parametrize("case", [SERVER, ZONE, CLUSTER], ids=["server", "zone", "cluster"])
def test_server_that_serves_but_names_a_failed_task_is_not_verified(case, service):
    """The next run says that it is held."""
    [server, *_others] = case.things(service)
    begun = []

    def upgrade():
        if not begun:
            begun.append(service.now)
            service.begin("Upgrade OB server", [server], seconds=0, end="FAILED")

    service.after_restart = upgrade
    error = failure(service, case, request(wait=True))
    assert (error.__class__, error.facts["verified"]) == (NotVerified, False)
    assert "ended SUCCESSFUL, but task 1002 (Upgrade OB server) FAILED and holds it.\n" in str(error)
    assert error.facts["failed_task_ids"] == [1002]


def test_only_stale_members_are_verified(service):
    service.agents_there[1].started = 0.0
    service.time.time += 60
    result = restart(service, AGENTS, request(started_before=at(-100), wait=True))
    assert result["verified"] is True
    assert result["skipped_hosts"] == [{"id": 52, "name": "10.1.0.2"}]
    before, after = ([member["pids"] for member in result[when]["members"]] for when in ("before", "after"))
    assert (before[0] != after[0], before[1] == after[1]) == (True, True)


def test_diff_shows_before_and_after(service):
    diff = restart(service, SERVER, request(wait=True))["diff"]
    assert diff["before"] == "10.1.0.1:2882 RUNNING started 2026-05-04T02:00:00+08:00\n"
    assert diff["after"] == "10.1.0.1:2882 RUNNING started 2026-05-04T03:00:05+08:00\n"


@pytest.mark.parametrize(("others", "verified"), [((), True), ((-600.0,), None)])
def test_start_after_the_begin_of_a_joined_task_proves_nothing_if_its_clock_may_be_behind(others, verified, service):
    """The server has started five minutes ago; the task shows that it began ten minutes ago."""
    service.servers_there[0].started = -300.0
    service.begin(SERVER.task_name, SERVER.things(service), ago=600, seconds=610)
    service.restarts_really, service.other_offsets = False, others
    result = restart(service, SERVER, request(wait=True))
    assert (result["action"], result["verified"]) == ("attached", verified)
