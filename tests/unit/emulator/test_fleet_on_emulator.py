# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Many restarts side by side over an emulator on a socket: each once, safe where threads race, proven."""

from __future__ import annotations

import re
import tempfile
import threading
from collections import Counter
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.cli_hints import RUN_AGAIN
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import SYSTEM_CLOCK
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    NotAllRestarted,
    TaskFailed,
    WaitTimeout,
    attached_facts,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import records
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.shared_reads import MOST_AGE
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.side_by_side import Crew
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import cap_gate, down_servers, many_restarts, run
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.fleet_outcome import FleetMember
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.many_restarts import restart_many
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import OwnNotes
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.caps import Caps
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.progress import MOST_TASKS_IN_DETAIL
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.served_emulator import serving
from ocp_emulator.base.compatibility import Switches
from ocp_emulator.fleet.generate_fleet import generated_fleet

CLUSTERS = 12
# Longer than a look of another thread.
TOGETHER = 2.0


@pytest.fixture(autouse=True)
def _own_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def fleet():
    """Twelve clusters of three zones with a server each."""
    with serving(settings={"fleet": generated_fleet(CLUSTERS, 3, 1), "step_ms": 20}) as served:
        yield served


@contextmanager
def connected(served, password="ocp-demo-1"):
    client = HttpClient(f"http://127.0.0.1:{served.port}", basic_auth("admin", password), verify=True, timeout=10)
    yield OcpApi(client)
    client.close()


def member(served, cluster, server, **changes):
    change = datetime.fromisoformat(served.data("GET", "/emulator/clock")["time"])
    options = {"cluster": str(cluster), "server": str(server), "freeze_server": False, "force": False}
    policy = PollPolicy(60, 1)
    request = RestartRequest(False, True, policy, change, safety=Safety(), **changes)
    return FleetMember(f"cluster{cluster}", str(server), Selector(Server, options), request)


def restart(served, members, threads=16, password="ocp-demo-1"):
    connect = partial(connected, served, password)
    with connect() as api:
        return restart_many(api, Crew(connect, threads), members, 10.0)


def restarted(served):
    """How often each server was restarted."""
    contents = served.data("GET", "/emulator/restarts")["contents"]
    return {each["id"]: each["restarts"] for each in contents if each["objectType"] == "OB_SERVER"}


def test_restarts_that_would_not_end_in_time_are_postponed_and_no_failure(fleet):
    passed = datetime.fromisoformat("2026-01-01T00:00:00+08:00")
    found = restart(fleet, [member(fleet, 1, 1, finish_before=passed), member(fleet, 2, 4, finish_before=passed)])
    assert [(each["action"], each["failed"]) for each in found["servers"]] == [("postponed", False)] * 2
    assert restarted(fleet) == {}


def test_servers_whose_tasks_were_not_awaited_to_the_end_are_not_restarted(fleet, monkeypatch):
    def break_off(*_args, **_options):
        raise WaitTimeout("They go on.", tasks=[])

    monkeypatch.setattr(many_restarts, "wait_for_tasks", break_off)
    with pytest.raises(WaitTimeout) as raised:
        restart(fleet, [member(fleet, 1, 1), member(fleet, 2, 4)])
    servers = raised.value.facts["servers"]
    assert [(each["action"], each["failed"], each["verified"]) for each in servers] == [("submitted", True, None)] * 2
    assert all(f"the wait for task {each['task_id']} ended before it" in each["msg"] for each in servers)


def statuses(served):
    return Counter(seen["status"] for seen in served.data("GET", "/emulator/requests?size=2000")["contents"])


def test_each_server_of_many_clusters_is_restarted_once_and_proven(fleet):
    servers = range(1, 3 * CLUSTERS, 3)
    members = [member(fleet, cluster, server) for cluster, server in enumerate(servers, 1)]
    first, again = restart(fleet, members), restart(fleet, members)
    assert [(each["server"], each["action"], each["verified"]) for each in first["servers"]] == [
        (str(server), "submitted", True) for server in servers
    ]
    assert {each["action"] for each in again["servers"]} == {"skipped"}
    assert restarted(fleet) == dict.fromkeys(servers, 1)
    assert (first["changed"], again["changed"], len(first["task_ids"])) == (True, False, CLUSTERS)
    assert all(each["start_before"] < each["start_after"] and each["duration"] > 0 for each in first["servers"])
    shown = [(each["start_before"], each["start_after"], each["duration"]) for each in again["servers"]]
    assert shown == [(each["start_after"], each["start_after"], None) for each in first["servers"]]


def test_servers_whose_start_is_never_shown_are_left_alone_by_their_tasks_and_not_verified(fleet, monkeypatch):
    monkeypatch.setitem(records._SERVER, "startTime", lambda _value: None)
    members = [member(fleet, cluster, 3 * cluster - 2) for cluster in (1, 2)]
    first, again = restart(fleet, members), restart(fleet, members)
    for found, action in ((first, "submitted"), (again, "skipped")):
        assert [(one["action"], one["verified"], one["failed"]) for one in found["servers"]] == [
            (action, None, False)
        ] * 2
        assert all("not verified, since the service shows no start of" in one["reason"] for one in found["servers"])
        # Another look would show the same.
        assert found["elapsed"] < many_restarts.PROOF_PAUSE
    assert restarted(fleet) == {1: 1, 4: 1}


def test_last_look_at_a_server_says_what_is_shown_not_what_it_would_do(fleet, monkeypatch):
    """If it does not prove the restart, its reason is that of the failure."""
    monkeypatch.setattr(many_restarts, "is_shown", lambda *_given: False)
    looks = []

    def restart_target(api, selector, request, *more):
        looks.extend([request.foretells] * request.check_mode)
        return run.restart_target(api, selector, request, *more)

    monkeypatch.setattr(many_restarts, "restart_target", restart_target)
    [found] = restart(fleet, [member(fleet, 1, 1)])["servers"]
    assert (found["verified"], looks) == (True, [False])


@pytest.fixture
def asked(monkeypatch):
    """The paths of restarts that are asked for; each waits before it notes its request for another one to be there."""
    meeting, paths, begin, post = threading.Barrier(2), [], MemoryJournal.begin, HttpClient.post

    def meet(journal, row, allows=None):
        with suppress(threading.BrokenBarrierError):
            meeting.wait(TOGETHER)
        return begin(journal, row, allows)

    def ask(client, path, *arguments):
        paths.append(path)
        return post(client, path, *arguments)

    monkeypatch.setattr(MemoryJournal, "begin", meet)
    monkeypatch.setattr(HttpClient, "post", ask)
    return paths


def test_interruption_tells_the_ids_of_all_tasks(fleet, monkeypatch):
    def interrupt(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(many_restarts, "wait_for_tasks", interrupt)
    members = [member(fleet, cluster, 3 * cluster) for cluster in range(1, CLUSTERS + 1)]
    with pytest.raises(KeyboardInterrupt) as raised:
        restart(fleet, members)
    facts = attached_facts(raised.value)
    started = {task["id"] for task in fleet.data("GET", "/api/v2/tasks/instances?size=100")["contents"]}
    assert set(facts["task_ids"]) == started
    assert (len(started), facts["changed"]) == (CLUSTERS, True)


def test_check_mode_decides_for_each_and_sends_nothing(fleet):
    members = [member(fleet, cluster, 3 * cluster) for cluster in (1, 2)]
    restart(fleet, members[:1])
    checked = [replace(each, request=replace(each.request, check_mode=True)) for each in members]
    result = restart(fleet, checked)
    assert [each["action"] for each in result["servers"]] == ["skipped", "submitted"]
    assert (result["changed"], result["task_ids"], restarted(fleet)) == (True, [], {3: 1})
    [line] = result["diff"]["after"].splitlines()
    assert line.startswith("server ")
    assert line.endswith(" restarted")


def test_task_that_fails_is_told_by_its_server_and_the_others_are_proven(fleet):
    fault = {"kind": "subtask", "action": "fail", "match": {"subtask": "Wait observer active"}}
    fleet.data("POST", "/emulator/faults", fault)
    members = [member(fleet, cluster, 3 * cluster) for cluster in range(1, CLUSTERS + 1)]
    with pytest.raises(TaskFailed, match=f"1 of {CLUSTERS} servers not restarted as requested") as raised:
        restart(fleet, members)
    servers = raised.value.facts["servers"]
    assert Counter(each["verified"] for each in servers) == {True: CLUSTERS - 1, None: 1}
    [failed] = [each for each in servers if each["failed"]]
    assert failed["msg"] == f"did not restart successfully: task {failed['task_id']} did not succeed."
    assert raised.value.facts["failed_task_ids"] == [failed["task_id"]]
    where = f"Task {failed['task_id']} (Restart OB server {failed['cluster']} {failed['server']}) FAILED at subtask "
    assert where in str(raised.value)
    assert "Wait observer active" in str(raised.value)


def test_what_to_do_is_followed_by_the_same_command_once(fleet):
    fault = {"kind": "subtask", "action": "fail", "match": {"subtask": "Wait observer active"}}
    members = [member(fleet, cluster, 3 * cluster) for cluster in range(1, CLUSTERS + 1)]
    for _server in members:
        fleet.data("POST", "/emulator/faults", fault)
    with pytest.raises(TaskFailed):
        restart(fleet, members)
    with pytest.raises(NotAllRestarted, match="FAILED and holds it") as raised:
        restart(fleet, members)
    said = str(raised.value)
    assert said.count("Roll the task back: ") == CLUSTERS
    assert said.splitlines()[-1] == RUN_AGAIN and said.count(RUN_AGAIN) == 1


def test_wrong_password_is_sent_once(fleet):
    members = [member(fleet, cluster, 3 * cluster) for cluster in range(1, CLUSTERS + 1)]
    with pytest.raises(NotAllRestarted) as raised:
        restart(fleet, members, password="wrong")
    assert statuses(fleet) == {401: 1}
    assert str(raised.value).count("retrying only locks the account") >= CLUSTERS - 1
    assert [each["failed"] for each in raised.value.facts["servers"]] == [True] * CLUSTERS


def most_down(served):
    """How many servers were out of service at the same time at most; a task goes on after its server serves again."""
    absent = served.data("GET", "/emulator/absences")["contents"]
    times = [(datetime.fromisoformat(each["from"]), datetime.fromisoformat(each["to"])) for each in absent]
    return max(sum(start <= began < end for start, end in times) for began, _ended in times)


def test_caps_hold_across_clusters_and_threads_though_all_are_given_at_once(fleet, monkeypatch):
    """Who waits sees by itself that others are back, since the module proves them at the end."""
    monkeypatch.setattr(cap_gate, "TURN_PAUSE", 0.05)
    monkeypatch.setattr(down_servers, "LOOK_AFTER", 0.2)
    servers = range(1, 3 * CLUSTERS, 3)
    caps = Caps({"servers": 2})
    found = restart(fleet, [member(fleet, cluster, server, caps=caps) for cluster, server in enumerate(servers, 1)])
    assert [each["verified"] for each in found["servers"]] == [True] * CLUSTERS
    assert most_down(fleet) <= 2
    assert journal_here().down() == []


def test_servers_that_a_fleet_has_proven_are_not_down_for_the_next_run(fleet):
    restart(fleet, [member(fleet, 1, 1), member(fleet, 2, 4)])
    assert journal_here().down() == []


# What benchmarks have too: the servers within the list of clusters, and a path for one cluster.
WHOLE_RECORDS = Switches(cluster_servers="complete", cluster_detail="served")
IN_ZONE = 4


@pytest.fixture(params=[0])
def wide(request):
    """A cluster of three zones with four servers each; the steps of its restarts take so many milliseconds."""
    settings = {"fleet": generated_fleet(1, 3, IN_ZONE), "step_ms": request.param, "switches": WHOLE_RECORDS}
    with serving(settings=settings) as served:
        yield served


restarts_go_on = pytest.mark.parametrize("wide", [600_000], indirect=True)


def request_all(served, *servers, threads=16, clock=SYSTEM_CLOCK):
    """Request the restarts of these servers of the cluster without waiting for them."""
    members = [member(served, *(one if isinstance(one, tuple) else (1, one))) for one in servers]
    unawaited = [replace(each, request=replace(each.request, wait=False)) for each in members]
    connect = partial(connected, served)
    with connect() as api:
        return restart_many(api, Crew(connect, threads, clock), unawaited, 10.0, clock)


def sent(served):
    """What was asked for so far, in order, without numbers; those of the control API are left out."""
    contents = served.data("GET", "/emulator/requests?size=2000&sort=id,asc")["contents"]
    return [f"{seen['method']} {re.sub('[0-9]+', 'N', seen['path'].removeprefix('/api/v2/'))}" for seen in contents]


@restarts_go_on
def test_threads_that_race_for_one_cluster_are_decided_one_after_the_other(wide, asked):
    """Two servers of two zones, by two names of the cluster: each alone is safe, together no majority is left."""
    with pytest.raises(NotAllRestarted, match="1 of 2 servers not restarted as requested") as raised:
        request_all(wide, 1, ("cluster1", IN_ZONE + 1))
    assert "Tenant sys would lose its majority" in str(raised.value)
    assert len(asked) == 1


@restarts_go_on
def test_without_the_lock_they_would_race(wide, asked, monkeypatch):
    """So the test before finds what it is for."""
    monkeypatch.setattr(MemoryJournal, "lock", lambda *_arguments: nullcontext())
    request_all(wide, 1, ("cluster1", IN_ZONE + 1))
    assert len(asked) == 2


LOOK = ["GET monitor/metric", "GET ob/clusters/N/tenants", "GET tasks/instances", "GET ob/clusters/N"]
POST, POLL = "POST ob/clusters/N/servers/N/restart", "GET tasks/instances/N"


def test_servers_of_one_zone_share_one_look(wide):
    """And what is noted right before each request is what the next one has of the one before."""
    found = restart(wide, [member(wide, 1, server) for server in range(1, IN_ZONE + 1)])
    assert [each["verified"] for each in found["servers"]] == [True] * IN_ZONE
    asked = [request for request in sent(wide) if request != POLL]
    assert asked == ["GET ob/clusters/N", *LOOK, *[POST] * IN_ZONE, "GET ob/clusters/N"]


@restarts_go_on
def test_batch_does_not_pass_the_gate_by_a_look_from_before_its_own_request(wide):
    """Two servers of two zones: the look of the second shows all servers up, and the journal has the first request."""
    with pytest.raises(NotAllRestarted, match="Tenant sys would lose its majority"):
        request_all(wide, 1, IN_ZONE + 1)
    assert sent(wide)[:6] == ["GET ob/clusters/N", *LOOK, POST]
    assert sent(wide).count(POST) == 1


@restarts_go_on
def test_batches_by_two_names_of_a_cluster_share_no_look(wide):
    """Which of them is first is not known; the other one looks with the lock, after the first request."""
    with pytest.raises(NotAllRestarted, match="1 of 2 servers not restarted as requested"):
        request_all(wide, 1, ("cluster1", IN_ZONE + 1))
    requests = sent(wide)
    assert requests.count(POST) == 1
    # It may find its cluster before or after that.
    assert ", ".join(LOOK) in ", ".join(requests[requests.index(POST) :])


@restarts_go_on
def test_without_the_journal_it_would_pass(wide, monkeypatch):
    """So the test before finds what it is for."""
    monkeypatch.setattr(OwnNotes, "own_restarts", lambda *_arguments: [])
    request_all(wide, 1, IN_ZONE + 1)
    assert sent(wide)[:7] == ["GET ob/clusters/N", *LOOK, POST, POST]


@pytest.mark.parametrize(("slow", "requests"), [(1, [*LOOK, POST, POST]), (2, [POST, *LOOK, POST])])
def test_request_is_not_sent_by_a_look_that_is_too_old(slow, requests, wide, monkeypatch):
    """Noting the request of the first or of the second server takes long, so that one is looked at anew."""
    now, noted, begin = [0.0], [], MemoryJournal.begin

    def slowly(journal, row, allows=None):
        noted.append(row.members[0][0].address)
        now[0] += MOST_AGE + 1 if len(noted) == slow else 0
        return begin(journal, row, allows)

    monkeypatch.setattr(MemoryJournal, "begin", slowly)
    request_all(wide, 1, 2, threads=1, clock=replace(SYSTEM_CLOCK, now=lambda: now[0]))
    assert sent(wide) == ["GET ob/clusters/N", *LOOK, *requests]
    assert len(noted) == 3
    outcomes = [each["outcome"] for each in journal_here().entries()["requests"]]
    assert (outcomes.count("REFUSED"), outcomes.count(None)) == (1, 0)


def test_after_a_failure_the_next_server_is_looked_at_anew(wide):
    with pytest.raises(NotAllRestarted, match="matches nothing"):
        request_all(wide, 1, 99, 2)
    assert sent(wide) == ["GET ob/clusters/N", *LOOK, POST] * 2


def test_after_a_search_for_a_task_the_target_is_read_again(wide):
    """The answer to the first request is lost, and the search has read a list of tasks."""
    fault = {"kind": "http", "action": "reset", "when": "after", "match": {"method": "POST"}}
    wide.data("POST", "/emulator/faults", fault)
    found = request_all(wide, 1, 2)
    assert [each["action"] for each in found["servers"]] == ["adopted", "submitted"]
    asked = sent(wide)
    assert asked[asked.index(POST) :] == [POST, "GET tasks/instances", "GET ob/clusters/N", POST]


def person_restarts(served, server):
    served.data("POST", f"/api/v2/ob/clusters/1/servers/{server}/restart", {"freezeServer": True, "force": False})


def after_first_note(monkeypatch, happens, *, later):
    """When the second request is noted, something has happened since the look, ``later`` seconds after that."""
    now, noted, begin = [0.0], [], MemoryJournal.begin

    def noting(journal, row, allows=None):
        noted.append(row)
        if len(noted) == 1:
            happens()
            now[0] += later
        return begin(journal, row, allows)

    monkeypatch.setattr(MemoryJournal, "begin", noting)
    return replace(SYSTEM_CLOCK, now=lambda: now[0])


@restarts_go_on
def test_task_that_a_person_begins_in_a_wave_is_joined_by_who_is_later_than_the_look_counts(wide, monkeypatch):
    clock = after_first_note(monkeypatch, lambda: person_restarts(wide, 2), later=MOST_AGE + 1)
    found = request_all(wide, 1, 2, threads=1, clock=clock)
    assert [each["action"] for each in found["servers"]] == ["submitted", "attached"]
    assert sent(wide).count(POST) == 2


@restarts_go_on
def test_task_that_a_person_begins_in_a_wave_right_before_the_request_is_found_when_that_is_refused(wide, monkeypatch):
    """Nothing is read between the look of the wave and its requests, so the service decides. Both are the same user."""
    clock = after_first_note(monkeypatch, lambda: person_restarts(wide, 2), later=0)
    found = request_all(wide, 1, 2, threads=1, clock=clock)
    assert [each["action"] for each in found["servers"]] == ["submitted", "adopted"]
    assert sent(wide).count(POST) == 3
    running = wide.data("GET", "/api/v2/tasks/instances?status=RUNNING")["contents"]
    assert sorted(each["task_id"] for each in found["servers"]) == sorted(task["id"] for task in running)


@restarts_go_on
def test_server_that_moves_to_another_zone_in_a_wave_is_judged_there_once_the_look_is_old(wide, monkeypatch):
    """The zone of what was requested before is down for it then, and the other zones have to stay."""
    moved, read = [], OcpApi._one_cluster

    def one_cluster(api, number):
        record = read(api, number)
        if moved:
            first, second = record["zones"][:2]
            second["servers"].append({**first["servers"].pop(1), "zoneName": second["name"]})
        return record

    monkeypatch.setattr(OcpApi, "_one_cluster", one_cluster)
    clock = after_first_note(monkeypatch, lambda: moved.append(1), later=MOST_AGE + 1)
    with pytest.raises(NotAllRestarted, match=r"is RESTARTING and ACTIVE .* in zone1"):
        request_all(wide, 1, 2, threads=1, clock=clock)
    assert sent(wide).count(POST) == 1


def test_pause_for_the_request_limit_in_a_wave_makes_the_next_one_read_anew(wide):
    """The first request is refused with 429 by the service, and then both are looked at."""
    wide.plan("error", {"method": "POST"}, status=429, reset=1, times=1)
    request_all(wide, 1, 2)
    asked = sent(wide)
    assert asked[: asked.index(POST) + 1] == ["GET ob/clusters/N", *LOOK, POST]
    assert [request for request in asked[asked.index(POST) + 1 :] if request != POLL][: len(LOOK)] == LOOK


@pytest.fixture
def served_whole():
    settings = {"fleet": generated_fleet(CLUSTERS, 3, 1), "step_ms": 0, "switches": WHOLE_RECORDS}
    with serving(settings=settings) as served:
        yield served


def test_single_servers_of_many_clusters_take_few_requests_each(served_whole):
    """Plan, polls and the shared lists apart: tenants, lag, tasks and the request."""
    members = [member(served_whole, cluster, 3 * cluster) for cluster in range(1, CLUSTERS + 1)]
    restart(served_whole, members)
    assert restarted(served_whole) == dict.fromkeys(range(3, 3 * CLUSTERS + 1, 3), 1)
    counts = Counter(sent(served_whole))
    lists = counts.pop("GET ob/clusters")
    # The list tells the ends of many.
    assert counts.pop(POLL, 0) <= MOST_TASKS_IN_DETAIL
    each = ["GET monitor/metric", "GET ob/clusters/N/tenants", POST]
    assert {request: counts[request] for request in each} == dict.fromkeys(each, CLUSTERS)
    assert counts["GET tasks/instances"] <= CLUSTERS + 2
    # Whether the list shows as much, once for the looks and once for the proof.
    assert counts.pop("GET ob/clusters/N") == 2
    assert set(counts) == {*each, "GET tasks/instances"}
    # To find them, for the look of each or of several at the same moment, and for the proof.
    assert lists <= CLUSTERS + 4
