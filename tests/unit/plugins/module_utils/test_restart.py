# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One restart from the first read to the proof, with every call it makes in its order."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._errors import (
    AnswerLost,
    AnswerUnreadable,
    AuthenticationFailed,
    ConnectionFailed,
    NotFound,
    NotVerified,
    OcpError,
    PermissionDenied,
    RequestRefused,
    TaskFailed,
    WaitTimeout,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import Options, perform
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets import Agents, ArbitrationService, Cluster, Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting import Patience
from ansible_collections.oceanbase.ocp.tests.unit.plugins.module_utils._doubles import (
    RESULT_KEYS,
    URL,
    Script,
    answer,
    chain,
    raw_task,
    step,
)

WAITED_KEYS = RESULT_KEYS | {"warnings"}
RETURN_AT_ONCE = Options(check_mode=False, patience=None)
WAIT = Options(check_mode=False, patience=Patience(timeout=60, interval=10))
DRY_RUN = Options(check_mode=True, patience=None)
STARTED = raw_task(81, subtasks=chain(step(1, "Stop it", "READY"), step(2, "Start it")))
DONE = raw_task(81, "SUCCESSFUL", subtasks=chain(step(1, "Stop it", "SUCCESSFUL"), step(2, "Start it", "SUCCESSFUL")))
FAILED = raw_task(81, "FAILED", subtasks=chain(step(1, "Stop it", "FAILED"), step(2, "Start it")))
EARLIER, LATER = "2026-05-04T03:02:01+08:00", "2026-05-04T03:12:01+08:00"
EARLIER_IN_UTC = "2026-05-03T19:02:01.000Z"
BETWEEN = "2026-05-04T03:02:09+08:00"
# One read at once and one after each pause of 0.5 s, until 30 s are over.
PROOF_READS = 61


def servers(*start_times: str | None) -> list[dict[str, Any]]:
    return [
        {"id": 40 + n, "ip": f"10.1.0.{n}", "port": 2882, "status": "RUNNING", "startTime": start_time}
        for n, start_time in enumerate(start_times, 1)
    ]


def agent(**pids: int) -> dict[str, Any]:
    return {"status": "AVAILABLE", "processes": [{"alias": alias, "pid": pid} for alias, pid in pids.items()]}


@dataclass(frozen=True)
class Case:
    """A target, the reads that observe it before and after a real restart, and its POST."""

    target: Any
    before: list[tuple]
    after: list[tuple]
    post: tuple
    flags: dict[str, bool]
    proven: bool | None


CLUSTER = Cluster(31, "orders")
CASES = {
    "server": Case(
        Server(41, "10.1.0.1:2882", CLUSTER, True, False),
        [("servers", 31, servers(EARLIER, EARLIER))],
        [("servers", 31, servers(LATER, EARLIER))],
        ("restart_server", 31, 41),
        {"freeze_server": True, "force": False},
        True,
    ),
    "cluster": Case(
        CLUSTER,
        [("servers", 31, servers(EARLIER, EARLIER)), ("cluster", 31, {"status": "RUNNING"})],
        [("servers", 31, servers(LATER, LATER)), ("cluster", 31, {"status": "RUNNING"})],
        ("restart_cluster", 31),
        {},
        True,
    ),
    "agents": Case(
        Agents(((51, "10.1.0.1"), (52, "10.1.0.2"))),
        [("host_agent", 51, agent(agentd=1, proxy=2)), ("host_agent", 52, agent(agentd=3))],
        [("host_agent", 51, agent(agentd=11, proxy=12)), ("host_agent", 52, agent(agentd=13))],
        ("restart_agents", [51, 52]),
        {},
        True,
    ),
    "arbitration service": Case(
        ArbitrationService(61, "10.1.0.8:2888"),
        [("arbitration_service", 61, {"status": "RUNNING"})],
        [("arbitration_service", 61, {"status": "RUNNING"})],
        ("restart_arbitration_service", 61),
        {},
        None,
    ),
}
WAITED = [name for name in CASES if CASES[name].proven]
every_kind = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
SERVER = CASES["server"]


def expect_reads(api: Script, reads: list[tuple]) -> None:
    for name, number, found in reads:
        api.expect(name, number, gives=found)


def expect_start(api: Script, case: Case, gives: Any = None) -> None:
    expect_reads(api, case.before)
    name, *args = case.post
    api.expect(name, *args, **case.flags, gives=gives or answer(STARTED, "trace-post"))


def failure(api: Script, case: Case, options: Options, time_passes) -> OcpError:
    with pytest.raises(OcpError) as raised:
        perform(api.double, case.target, options, time_passes.clock)
    assert raised.value.facts.keys() >= RESULT_KEYS
    json.dumps(raised.value.facts)
    return raised.value


def refused(kind: type[RequestRefused], status: int) -> RequestRefused:
    return kind(
        f"Refused with {status}.", status=status, reason="", url=URL, trace_id="trace-no", maybe_done=status >= 500
    )


@every_kind
def test_started_and_not_waited_for(case, api, time_passes):
    expect_start(api, case)
    result = perform(api.double, case.target, RETURN_AT_ONCE, time_passes.clock)
    assert result.keys() == RESULT_KEYS
    assert (result["changed"], result["action"], result["task_id"]) == (True, "submitted", 81)
    assert (result["after"], result["verified"], result["elapsed"]) == (None, None, 0)
    assert result["trace_id"] == "trace-post"
    assert result["target"] == case.target.result()
    assert [step["description"] for step in result["task"]["subtasks"]] == ["Stop it", "Start it"]
    assert all(member["name"] for member in result["before"]["members"])


@every_kind
def test_check_mode_only_reads(case, api, time_passes):
    expect_reads(api, case.before)
    result = perform(api.double, case.target, DRY_RUN, time_passes.clock)
    assert result.keys() == RESULT_KEYS
    assert (result["changed"], result["action"]) == (True, "submitted")
    assert {result[key] for key in ("task_id", "task", "after", "verified", "trace_id")} == {None}


@every_kind
def test_check_mode_does_not_wait_either(case, api, time_passes):
    expect_reads(api, case.before)
    perform(api.double, case.target, Options(True, WAIT.patience), time_passes.clock)
    assert time_passes.pauses == []


@every_kind
def test_waited_for_and_proven(case, api, time_passes):
    expect_start(api, case)
    api.expect("task", 81, gives=STARTED).expect("task", 81, gives=STARTED).expect("task", 81, gives=DONE)
    expect_reads(api, case.after)
    result = perform(api.double, case.target, WAIT, time_passes.clock)
    assert result.keys() == WAITED_KEYS
    assert result["task"]["succeeded"] is True
    assert result["verified"] is case.proven
    assert result["warnings"] == []
    assert ("not verified" in result["reason"]) is (case.proven is None)
    assert result["before"].keys() == result["after"].keys() == {"status", "members"}
    assert result["elapsed"] == 1.0


# The proof


def cluster_reads(found: list[dict[str, Any]]) -> list[tuple]:
    return [("servers", 31, found), ("cluster", 31, {"status": "RUNNING"})]


@pytest.mark.parametrize(
    ("before", "after", "unmoved"),
    [
        pytest.param(servers(EARLIER, EARLIER), servers(EARLIER, LATER), ["10.1.0.1:2882"], id="one server"),
        pytest.param(
            servers(EARLIER, EARLIER), servers(EARLIER, EARLIER), ["10.1.0.1:2882", "10.1.0.2:2882"], id="all servers"
        ),
        pytest.param(
            servers(EARLIER, EARLIER),
            servers(None, EARLIER),
            ["10.1.0.2:2882"],
            id="one shows the old start, one shows none",
        ),
        pytest.param(
            servers(EARLIER, EARLIER),
            servers(EARLIER, LATER)[::-1],
            ["10.1.0.1:2882"],
            id="compared by name, not by place",
        ),
        pytest.param(
            servers(EARLIER, BETWEEN),
            servers(EARLIER, BETWEEN)[::-1],
            ["10.1.0.1:2882", "10.1.0.2:2882"],
            id="only the order has changed",
        ),
        pytest.param(servers(EARLIER), servers(EARLIER_IN_UTC), ["10.1.0.1:2882"], id="same instant written otherwise"),
    ],
)
def test_cluster_that_did_not_start_anew(before, after, unmoved, api, time_passes):
    case = replace(CASES["cluster"], before=cluster_reads(before))
    expect_start(api, case)
    api.expect("task", 81, gives=DONE)
    expect_reads(api, cluster_reads(after) * PROOF_READS)
    error = failure(api, case, WAIT, time_passes)
    assert error.__class__ is NotVerified
    assert f"ended SUCCESSFUL, but {', '.join(unmoved)} has not started anew" in str(error)
    assert "task 81" in str(error)
    assert (error.facts["changed"], error.facts["verified"], error.facts["task_id"]) == (True, False, 81)
    assert [member["name"] for member in error.facts["after"]["members"]] == [
        f"{server['ip']}:{server['port']}" for server in after
    ]
    assert error.facts["warnings"] == []
    assert (error.facts["elapsed"], time_passes.pauses) == (30.0, [0.5] * (PROOF_READS - 1))


@pytest.mark.parametrize("name", WAITED)
@pytest.mark.parametrize("late", [1, PROOF_READS - 1], ids=["one read late", "at the last read"])
def test_proof_that_shows_up_late(late, name, api, time_passes):
    case = CASES[name]
    expect_start(api, case)
    api.expect("task", 81, gives=DONE)
    expect_reads(api, case.before * late + case.after)
    result = perform(api.double, case.target, WAIT, time_passes.clock)
    assert (result["verified"], result["elapsed"]) == (True, late / 2)
    assert result["after"] != result["before"]


def test_slow_reads_do_not_stretch_the_proof(api, time_passes):
    """Each read takes 9 s: no further one begins when 30 s are over."""
    expect_start(api, SERVER)
    api.expect("task", 81, gives=DONE)
    expect_reads(api, SERVER.before * 4)
    play = api.double.servers.side_effect

    def slow(cluster_id):
        time_passes.time += 9
        return play(cluster_id)

    api.double.servers.side_effect = slow
    assert failure(api, SERVER, WAIT, time_passes).__class__ is NotVerified


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(servers(EARLIER), servers(), id="no server afterwards"),
        pytest.param(servers(), servers(), id="no server at all"),
        pytest.param(servers(EARLIER, EARLIER), servers(LATER), id="one server less"),
    ],
)
def test_cluster_that_does_not_show_every_start(before, after, api, time_passes):
    case = replace(CASES["cluster"], before=cluster_reads(before))
    expect_start(api, case)
    api.expect("task", 81, gives=DONE)
    expect_reads(api, cluster_reads(after))
    result = perform(api.double, case.target, WAIT, time_passes.clock)
    assert result["verified"] is None
    assert "not verified, since the service shows no start time" in result["reason"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(servers(None), servers(LATER), id="no start time before"),
        pytest.param(servers(EARLIER), servers(None), id="no start time after"),
        pytest.param(servers(EARLIER), servers(), id="gone"),
    ],
)
def test_server_without_a_start_time(before, after, api, time_passes):
    expect_start(api, replace(SERVER, before=[("servers", 31, before)]))
    api.expect("task", 81, gives=DONE).expect("servers", 31, gives=after)
    result = perform(api.double, SERVER.target, WAIT, time_passes.clock)
    assert result["verified"] is None
    assert "not verified, since the service shows no start time" in result["reason"]


@pytest.mark.parametrize(
    ("before", "after", "verified"),
    [
        pytest.param(agent(a=1, b=2), agent(a=3, b=4), True, id="all pids new"),
        pytest.param(agent(a=1, b=2), agent(a=3, b=4, c=5), True, id="all new and one more"),
        pytest.param(agent(a=1, b=2), agent(a=3, b=2), False, id="one kept"),
        pytest.param(agent(a=1), agent(a=1), False, id="all kept"),
        pytest.param(agent(), agent(a=1), None, id="none before"),
        pytest.param(agent(a=1), agent(), None, id="none after"),
        pytest.param(agent(a=1), agent(b=2), None, id="other names"),
        pytest.param(agent(a=1, b=2), agent(b=3, c=1), True, id="the shared one new"),
    ],
)
def test_proof_by_pids(before, after, verified, api, time_passes):
    api.expect("host_agent", 51, gives=before).expect("restart_agents", [51], gives=answer(STARTED))
    api.expect("task", 81, gives=DONE)
    expect_reads(api, [("host_agent", 51, after)] * (PROOF_READS if verified is False else 1))
    target = Agents(((51, "10.1.0.1"),))
    if verified is False:
        with pytest.raises(NotVerified, match=r"10\.1\.0\.1 has not started anew"):
            perform(api.double, target, WAIT, time_passes.clock)
    else:
        assert perform(api.double, target, WAIT, time_passes.clock)["verified"] is verified


@pytest.mark.parametrize(
    "error",
    [refused(PermissionDenied, 403), refused(RequestRefused, 502), AnswerLost("The answer was lost.", url=URL)],
    ids=str,
)
@pytest.mark.parametrize("reads", [0, 2], ids=["at once", "later"])
def test_proof_that_cannot_be_read_is_no_failure(reads, error, api, time_passes):
    expect_start(api, SERVER)
    api.expect("task", 81, gives=DONE)
    expect_reads(api, [*SERVER.before * reads, ("servers", 31, error)])
    result = perform(api.double, SERVER.target, WAIT, time_passes.clock)
    assert result.keys() == WAITED_KEYS
    assert (result["changed"], result["verified"]) == (True, None)
    assert result["after"] == (result["before"] if reads else None)
    assert str(error) in result["reason"]


# The POST fails


# Made anew for each test, since errors take up facts on their way.
NOT_DONE = {
    "401": lambda: refused(AuthenticationFailed, 401),
    "403": lambda: refused(PermissionDenied, 403),
    "404": lambda: refused(NotFound, 404),
    "409": lambda: refused(RequestRefused, 409),
    "429": lambda: refused(RequestRefused, 429),
    "no connection": lambda: ConnectionFailed("Cannot be reached.", url=URL),
}
MAYBE_DONE = {
    "500": lambda: refused(RequestRefused, 500),
    "503": lambda: refused(RequestRefused, 503),
    "answer lost": lambda: AnswerLost("Lost.", url=URL, maybe_done=True),
    "answer unreadable": lambda: AnswerUnreadable("No task.", url=URL, maybe_done=True),
}


@every_kind
@pytest.mark.parametrize("make_error", NOT_DONE.values(), ids=NOT_DONE)
def test_refused(make_error, case, api, time_passes):
    error = make_error()
    words = str(error)
    expect_start(api, case, gives=error)
    raised = failure(api, case, WAIT, time_passes)
    assert raised is error
    assert str(raised) == f"{case.target.label} was not restarted. {words}"
    assert raised.facts["changed"] is False
    assert (raised.facts["task_id"], raised.facts["task"]) == (None, None)
    assert raised.facts["target"] == case.target.result()
    assert raised.facts["before"]["members"]
    assert raised.facts["url"] == URL


@every_kind
@pytest.mark.parametrize("make_error", MAYBE_DONE.values(), ids=MAYBE_DONE)
def test_unknown_outcome(make_error, case, api, time_passes):
    error = make_error()
    words = str(error)
    expect_start(api, case, gives=error)
    raised = failure(api, case, WAIT, time_passes)
    assert raised is error
    assert str(raised) == f"{case.target.label} may be restarting. {words}"
    assert (raised.facts["changed"], raised.facts["action"]) == (True, "submitted")
    assert raised.facts["task_id"] is None
    assert time_passes.pauses == []


@every_kind
@pytest.mark.parametrize("options", [WAIT, DRY_RUN], ids=["for real", "check mode"])
@pytest.mark.parametrize("last", [False, True], ids=["first read", "last read"])
def test_target_that_cannot_be_read_is_not_restarted(last, options, case, api, time_passes):
    error = refused(PermissionDenied, 403)
    *good, (name, number, _found) = case.before if last else case.before[:1]
    expect_reads(api, [*good, (name, number, error)])
    raised = failure(api, case, options, time_passes)
    assert raised is error
    assert str(raised) == f"{case.target.label} was not restarted, since it cannot be read. Refused with 403."
    assert {key: raised.facts[key] for key in RESULT_KEYS} == {
        **dict.fromkeys(RESULT_KEYS),
        "changed": False,
        "target": case.target.result(),
        "trace_id": "trace-no",
        "elapsed": 0,
    }
    assert raised.facts["url"] == URL


@pytest.mark.parametrize(
    "odd",
    [
        {"cluster": "orders"},
        {"subtasks": ["first"]},
        {"subtasks": {"first": 1}},
        {"subtasks": [{"id": 1, "upstreams": 5}]},
        {"tags": ["x"]},
    ],
    ids=json.dumps,
)
def test_started_task_of_an_odd_form_is_not_lost(odd, api, time_passes):
    expect_start(api, SERVER, gives=answer(raw_task(81, **odd)))
    result = perform(api.double, SERVER.target, RETURN_AT_ONCE, time_passes.clock)
    assert (result["task_id"], result["changed"], result["task"]["id"]) == (81, True, 81)


# The wait fails


@every_kind
def test_task_that_failed(case, api, time_passes):
    expect_start(api, case)
    api.expect("task", 81, gives=STARTED).expect("task", 81, gives=FAILED)
    api.expect("subtask_log", 81, 1, gives="cannot stop\n")
    error = failure(api, case, WAIT, time_passes)
    assert error.__class__ is TaskFailed
    assert case.target.label in str(error)
    assert "Task 81 (Restart 81) FAILED at subtask 1 of 2, Stop it (id 1)" in str(error)
    assert "cannot stop" in str(error)
    assert (error.facts["changed"], error.facts["task_id"], error.facts["verified"]) == (True, 81, None)
    assert error.facts["task"]["status"] == "FAILED"
    assert error.facts["target"] == case.target.result()
    assert error.facts["trace_id"] == "trace-post"
    assert "tasks" not in error.facts
    assert error.facts["elapsed"] == 0.5


def test_task_that_was_rolled_back(api, time_passes):
    expect_start(api, SERVER)
    api.expect("task", 81, gives=raw_task(81, "SUCCESSFUL", operation="ROLLBACK"))
    error = failure(api, SERVER, WAIT, time_passes)
    assert "was rolled back" in str(error)
    assert error.facts["task"]["rolled_back"] is True
    assert error.facts["changed"] is True


def test_task_that_is_not_finished_in_time(api, time_passes):
    steps = chain(step(1, "Stop it", "SUCCESSFUL"), step(2, "Start it", "RUNNING"))
    expect_start(api, SERVER)
    for _look in range(3):
        api.expect("task", 81, gives=raw_task(81, subtasks=steps))
    error = failure(api, SERVER, Options(False, Patience(1, 10)), time_passes)
    assert error.__class__ is WaitTimeout
    assert str(error).startswith(f"The restart of {SERVER.target.label} goes on. Task 81 is not finished ")
    assert "Subtask 2 of 2 is running: Start it." in str(error)
    assert "task_ids=81 " in str(error)
    assert error.facts["task"]["progress"]["running"] == ["Start it"]
    assert (error.facts["changed"], error.facts["task_id"], error.facts["elapsed"]) == (True, 81, 1.0)


def test_task_never_seen_again_is_the_one_the_post_returned(api, time_passes):
    expect_start(api, SERVER)
    for _look in range(3):
        api.expect("task", 81, gives=AnswerLost("The answer was lost.", url=URL))
    error = failure(api, SERVER, Options(False, Patience(1, 10)), time_passes)
    assert error.facts["task"]["status"] == "RUNNING"
    assert error.facts["task_id"] == 81
    assert "The answer was lost" in str(error)


@pytest.mark.parametrize(("kind", "status"), [(AuthenticationFailed, 401), (PermissionDenied, 403), (NotFound, 404)])
def test_looking_is_not_allowed(kind, status, api, time_passes):
    expect_start(api, SERVER)
    api.expect("task", 81, gives=refused(kind, status))
    error = failure(api, SERVER, WAIT, time_passes)
    assert error.__class__ is kind
    assert str(error).startswith(f"The restart of {SERVER.target.label}")
    assert "task 81" in str(error)
    assert f"Refused with {status}." in str(error)
    assert (error.facts["changed"], error.facts["task_id"]) == (True, 81)
    assert error.facts["task"]["status"] == "RUNNING"
    assert error.facts["target"] == SERVER.target.result()
    assert error.facts["trace_id"] == "trace-post"  # not the one of the look
    assert time_passes.pauses == []


def test_looks_that_failed_are_a_warning(api, time_passes):
    expect_start(api, SERVER)
    api.expect("task", 81, gives=refused(RequestRefused, 503)).expect("task", 81, gives=DONE)
    expect_reads(api, SERVER.after)
    result = perform(api.double, SERVER.target, WAIT, time_passes.clock)
    assert result["verified"] is True
    [warning] = result["warnings"]
    assert warning.startswith("1 look at the tasks failed")
    assert warning.endswith("Refused with 503.")


def test_looks_that_failed_are_a_warning_of_a_failed_proof_too(api, time_passes):
    expect_start(api, SERVER)
    api.expect("task", 81, gives=refused(RequestRefused, 503)).expect("task", 81, gives=DONE)
    expect_reads(api, SERVER.before * PROOF_READS)
    assert len(failure(api, SERVER, WAIT, time_passes).facts["warnings"]) == 1
