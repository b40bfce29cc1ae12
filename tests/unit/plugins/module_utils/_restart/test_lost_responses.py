# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A POST without a response: its task is found and adopted, or the outcome is unknown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    OutcomeUnknown,
    PermissionDenied,
    ResponseLost,
    TargetBusy,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import run, send_once
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import forget_process
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.obproxies import ObProxies, ObProxy
from ansible_collections.oceanbase.ocp.tests.unit.support import fake_ocp
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at, lost, refused, unreadable
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    RESTART_CASES,
    SERVER,
    SERVER_41,
    every_restart,
    failure,
    request,
    restart,
)

UNCLEAR = {
    "answer lost": lost,
    "answer unreadable": unreadable,
    **{str(status): lambda status=status: refused(status) for status in (500, 502, 503, 504)},
}
every_way = pytest.mark.parametrize("make_error", UNCLEAR.values(), ids=UNCLEAR)
AGAIN = "\nIf none has started, run the same command again."


def look(case):
    """The commands to look with, and what then."""
    number = case.target.cluster_id
    cluster, of_cluster = ("", "") if number is None else (f"cluster={number} ", f" -e ocp_status_cluster={number}")
    return (
        " With OCP_URL and the credentials in the environment:\n"
        f"  See the newest tasks: ansible localhost -m oceanbase.ocp.task_info -a '{cluster}limit=5 detail=compact'\n"
        f"  See what serves: ansible-playbook oceanbase.ocp.ocp_status{of_cluster}{AGAIN}"
    )


def at_post(service, *jobs):
    """Let other users start tasks during the POST."""
    service.before_post = lambda: [service.begin(name, things) for name, things in jobs]


@every_restart
@every_way
def test_task_of_a_lost_response_is_adopted(make_error, case, service):
    service.lose_after = [make_error()]
    result = restart(service, case, request(wait=True))
    assert (result["changed"], result["action"], result["task_id"]) == (True, "adopted", 1001)
    assert result["task"]["succeeded"] is True
    assert result["verified"] is case.proven
    assert "the answer was lost, and task 1001 (" in result["reason"]
    assert (service.posts, len(service.jobs)) == ([case.post], 1)


@every_restart
@every_way
def test_lost_request_has_an_unknown_outcome(make_error, case, service):
    lost_error = make_error()
    service.lose_before = [lost_error]
    error = failure(service, case, request(wait=True))
    assert error.__class__ is OutcomeUnknown
    start = f"It is not known whether a restart of {case.target.label} is running. {lost_error} For 20 seconds"
    assert str(error).startswith(start)
    assert str(error).endswith(f"the task list did not show a {case.task_words}.{look(case)}")
    assert (error.facts["changed"], error.facts["action"]) == (True, "submitted")
    assert (error.facts["task_id"], error.facts["task"]) == (None, None)
    assert error.facts["url"]
    assert (len(service.posts), service.jobs) == (1, [])


@every_restart
def test_lost_answer_of_a_change_ends_with_the_same_command(case, service):
    """It leaves alone what the lost request may have restarted; without a change, a person looks first."""
    service.lose_before = [lost()]
    error = failure(service, case, request(started_before=at(-1)))
    assert str(error).endswith("\nThen run the same command again.")


@every_restart
def test_search_for_the_task_lasts_as_long_as_the_request_timeout(case, service):
    service.lose_before = [lost()]
    service.timeout = 7
    assert failure(service, case, request()).facts["elapsed"] == 7.0
    assert set(service.time.pauses) == {0.5}


def test_task_that_appears_late_is_adopted(service):
    """The service may still work on the request when the connection breaks."""
    service.lose_before = [lost()]

    def appear():
        if service.now >= 19 and not service.jobs:
            service.begin(fake_ocp.SERVER, SERVER.things(service))

    service.time.after_sleep = appear
    result = restart(service, SERVER, request())
    assert (result["action"], result["task_id"], result["elapsed"]) == ("adopted", 1001, 19.0)


def test_computed_start_that_only_the_clock_of_the_service_moves_answers_no_request(service):
    """Seed 30718735: the clock was set, and the request that something on the way still had was sent once more."""
    case, wanted = RESTART_CASES["agents"], replace(request(), change="memory")
    service.lose_before = [lost()]
    failure(service, case, wanted)
    service.clock_offset += 172_800
    for agent in service.agents_there:
        agent.started += 172_800
    assert "something in between may still deliver the request" in str(failure(service, case, wanted))
    assert len(service.posts) == 1


def without_begin(service):
    """The list shows no begin of a task, as its detail does."""
    listed = service.tasks
    service.tasks = lambda *limit, **query: [{**task, "startTime": None} for task in listed(*limit, **query)]


@every_restart
def test_task_whose_begin_only_its_detail_shows_is_adopted(case, service):
    without_begin(service)
    service.lose_after = [lost()]
    result = restart(service, case, request(wait=True))
    assert (result["action"], result["task_id"], len(service.posts)) == ("adopted", 1001, 1)


def test_adopted_task_is_returned_without_wait(service):
    service.lose_after = [lost()]
    result = restart(service, SERVER, request())
    assert (result["action"], result["elapsed"], service.time.pauses) == ("adopted", 0, [])


@every_restart
def test_several_matching_tasks_are_ambiguous(case, service):
    service.lose_after = [lost()]
    at_post(service, (case.task_name, case.things(service)))
    error = failure(service, case, request())
    assert error.__class__ is OutcomeUnknown
    assert str(error).endswith(f"There is more than one {case.task_words}: 1002, 1001.{look(case)}")
    assert (error.facts["changed"], error.facts["task_id"], len(service.posts)) == (True, None, 1)


@every_restart
@pytest.mark.parametrize("own", [False, True], ids=["not carried out", "carried out"])
def test_tasks_of_other_targets_or_kinds_are_not_adopted(own, case, service):
    """They are above the mark too, but of another target or kind."""
    (service.lose_after if own else service.lose_before).append(lost())
    foreign = [
        ("Take over cluster", service.servers_there),
        ("Stop OB server", service.servers_there[:1]),
        (fake_ocp.SERVER, service.servers_there[2:]),
        (fake_ocp.AGENTS, service.agents_there[2:]),
        (fake_ocp.ZONE, service.servers_there[1:2] if case is RESTART_CASES["zone"] else service.servers_there[:1]),
    ]
    if case is not RESTART_CASES["cluster"]:
        foreign.append((fake_ocp.CLUSTER, service.servers_there))
    at_post(service, *foreign)
    if own:
        result = restart(service, case, request())
        assert (result["action"], result["task_id"]) == ("adopted", 1001 + len(foreign))
    else:
        assert "the task list did not show" in str(failure(service, case, request()))
    assert len(service.posts) == 1


@every_restart
def test_task_that_was_there_before_is_not_adopted(case, service):
    service.begin(case.task_name, case.things(service), ago=600)
    service.lose_before = [lost()]
    assert str(failure(service, case, request())).endswith(f"did not show a {case.task_words}.{look(case)}")
    assert (len(service.posts), len(service.jobs)) == (1, 1)


def test_noted_task_that_the_list_does_not_show_yet_was_there_before(service, monkeypatch):
    """Else an answer that belongs to the request before, as a proxy may give it, would be taken for this one's."""
    service.list_lacks = 5.0
    assert restart(service, SERVER, request())["task_id"] == 1001
    service.passes(1)
    known = []

    def post_restart(api, target, sent, announce):
        known.append((api.tasks(), sent.known))
        return send_once.post_restart(api, target, sent, announce)

    monkeypatch.setattr(run, "post_restart", post_restart)
    neighbour = replace(SERVER_41, id=42, address="10.1.0.2:2882", host_id=52, zone="zone2")
    run.restart_target(service, replace(SERVER, target=neighbour), request(), service.time.clock)
    assert known == [([], {1001})]


def test_agent_task_of_fewer_hosts_is_not_adopted(service):
    service.lose_before = [lost()]
    at_post(service, (fake_ocp.AGENTS, service.agents_there[:1]))
    assert "the task list did not show" in str(failure(service, RESTART_CASES["agents"], request()))


def test_agent_task_of_the_stale_hosts_is_adopted(service):
    service.agents_there[1].started = 0
    service.lose_after = [lost()]
    service.time.time += 60
    result = restart(service, RESTART_CASES["agents"], request(started_before=at(-100)))
    assert (result["action"], service.posts) == ("adopted", [("agents", [51])])


@every_restart
def test_task_without_tags_is_adopted_by_host(case, service):
    """An older service is queried by host. Arbitration services have tags in any version."""
    service.tags = False
    service.lose_after = [lost()]
    at_post(service, (fake_ocp.SERVER, service.servers_there[2:]), (fake_ocp.AGENTS, service.agents_there[2:]))
    result = restart(service, case, request())
    assert (result["action"], result["task_id"]) == ("adopted", 1003)


def test_untagged_task_on_a_shared_host_is_not_adopted(service):
    service.tags = False
    service.servers_there[1].host = 51
    service.lose_before = [lost()]
    at_post(service, (fake_ocp.SERVER, service.servers_there[1:2]))
    crowded = replace(SERVER, target=replace(SERVER.target, alone=False))
    assert failure(service, crowded, request()).__class__ is OutcomeUnknown
    assert len(service.posts) == 1


# The task list


@every_restart
@pytest.mark.parametrize("carried_out", [False, True])
def test_outcome_is_unknown_without_permission_to_read_tasks(carried_out, case, service):
    service.failing["tasks"] = [refused(403)] * 99
    (service.lose_after if carried_out else service.lose_before).append(lost())
    error = failure(service, case, request())
    assert error.__class__ is OutcomeUnknown
    assert "cannot be read, since these credentials lack the permission (TASK_VIEWER)" in str(error)
    assert f"not known whether a restart of {case.target.label} is running already" in str(error.facts["warnings"])
    assert (len(service.posts), service.time.pauses) == (1, [])


@every_restart
def test_response_is_enough_without_permission_to_read_tasks(case, service):
    service.failing["tasks"] = [refused(403)] * 99
    result = restart(service, case, request())
    assert (result["action"], result["task_id"], len(result["warnings"])) == ("submitted", 1001, 1)


@pytest.mark.parametrize("failures", [1, 5, 39])
def test_task_is_adopted_after_temporary_list_errors(failures, service):
    service.lose_after = [lost()]
    service.before_post = lambda: service.failing.update(tasks=[refused(503)] * failures)
    result = restart(service, SERVER, request())
    assert (result["action"], result["task_id"], result["elapsed"]) == ("adopted", 1001, failures / 2)
    assert len(service.posts) == 1


def test_outcome_is_unknown_when_the_task_list_keeps_failing(service):
    service.lose_after = [lost()]
    service.before_post = lambda: service.failing.update(tasks=[refused(503)] * 999)
    error = failure(service, SERVER, request())
    assert error.__class__ is OutcomeUnknown
    assert " (the last poll failed: Refused with 503)." in str(error)
    assert error.facts["elapsed"] == 20.0
    assert (len(service.posts), len(service.jobs)) == (1, 1)


@pytest.mark.parametrize("status", [401, 403])
def test_refused_task_list_is_requested_once(status, service):
    """Repeating rejected credentials locks the account."""
    service.lose_after = [lost()]
    service.before_post = lambda: service.failing.update(tasks=[refused(status)] * 999)
    error = failure(service, SERVER, request())
    assert f"the last poll failed: Refused with {status})" in str(error)
    assert (len(service.failing["tasks"]), service.time.pauses) == (998, [])


def test_forbidden_task_list_does_not_replace_the_error(service):
    service.lose_before = [lost()]
    service.failing["tasks"] = [refused(403)] * 99
    assert not isinstance(failure(service, SERVER, request()), PermissionDenied)


# The next run


@every_restart
@every_way
def test_two_runs_with_the_same_time_restart_exactly_once(make_error, case, service):
    """Two runs make one restart, whether or not the first request was carried out."""
    for lose in (service.lose_before, service.lose_after):
        lose.append(make_error())
        jobs, since = len(service.jobs), at(service.now)
        if lose is service.lose_before:
            failure(service, case, request(started_before=since, wait=True))
        else:
            restart(service, case, request(started_before=since, wait=True))
        forget_process()
        result = restart(service, case, request(started_before=since, wait=True))
        assert result["action"] == ("submitted" if lose is service.lose_before else "skipped")
        assert len(service.jobs) == jobs + 1
        service.time.time += 60


@every_restart
@every_way
def test_process_that_does_not_know_the_outcome_does_not_send_again(make_error, case, service):
    """Something on the way may hold the first request back, and deliver it later."""
    service.lose_before = [make_error()]
    failure(service, case, request())
    error = failure(service, case, request())
    assert (error.__class__, len(service.posts)) == (OutcomeUnknown, 1)
    assert "may still deliver the request" in str(error)


@every_restart
def test_request_that_was_held_back_is_adopted_by_its_process(case, service):
    service.lose_before = [lost()]
    failure(service, case, request())
    service.time.time += 30
    job = service.begin(case.task_name, case.things(service))
    result = restart(service, case, request(wait=True))
    assert (result["action"], result["task_id"], result["changed"]) == ("adopted", job.id, True)
    assert len(service.posts) == 1


@every_restart
def test_failed_adopted_task_is_not_restarted(case, service):
    service.lose_after = [lost()]
    service.end = "REFUSED"
    error = failure(service, case, request(wait=True))
    assert (error.facts["action"], error.facts["task_id"]) == ("adopted", 1001)
    assert (len(service.posts), error.facts["changed"]) == (1, True)


def test_own_restart_that_only_its_id_shows_is_not_repeated(service):
    """The list lacks the task, its record does not tell its target, and the start does not show."""
    service.tags = service.names_operations = False
    service.list_lacks = service.start_shown_late = 10_000.0
    dated = request(wait=True, started_before=at(-300))
    first, second = failure(service, SERVER, dated), failure(service, SERVER, dated)
    assert (first.facts["task_id"], len(service.posts)) == (1001, 1)
    assert "task 1001 (Restart OB server) has restarted it since" in str(second)


def of_change(**more):
    return replace(request(wait=True, **more), change="memory-2026-11-20")


ALONE = {
    "agents": replace(RESTART_CASES["agents"], target=Agents(((51, "10.1.0.1"),))),
    "obproxies": replace(
        RESTART_CASES["obproxies"], target=ObProxies(91, "entry", (ObProxy(81, "10.1.0.1:2883", 51),))
    ),
}
REST = {"agents": ("agents", [52]), "obproxies": ("obproxies", (91, [82]))}


@pytest.mark.parametrize("kind", ALONE)
def test_request_for_fewer_is_not_that_for_all(kind, service):
    """Its answer is lost; the run after that is for more, and restarts what that request was not for."""
    first, both = ALONE[kind], RESTART_CASES[kind]
    service.lose_before = [lost()]
    failure(service, first, of_change())
    service.begin(both.task_name, both.things(service)[:1])
    forget_process()
    service.time.time += 30
    result = restart(service, both, of_change())
    assert (result["action"], service.posts[1:]) == ("submitted", [REST[kind]])
    assert [len(job.things) for job in service.jobs] == [1, 1]


def without_tags(service, case, there):
    """Show tasks as OCP 4.2.2 does: what they are for in the context of the detail alone, and ``there`` for OBProxies.

    The filter by host knows no task of OBProxies.
    """
    service.obproxy_tags = False
    listed, read = service.tasks, service.task

    def tasks(*arguments, **filters):
        found = listed(*arguments, **filters)
        return [one for one in found if "hostId" not in filters or one["name"] != case.task_name]

    def task(number):
        found = read(number)
        is_told = found["name"] == case.task_name and there
        return {**found, "context": {"listMap": {"obproxy_server_ids": there}}} if is_told else found

    service.tasks, service.task = tasks, task
    service.begin("Restart OCP agent", service.agents_there, ago=4000)


@pytest.mark.parametrize(
    ("there", "action", "posts"), [([81, 82], "adopted", 1), ([83], "submitted", 2)], ids=["of these", "of another one"]
)
def test_task_of_obproxies_that_the_filter_by_host_does_not_know_is_read_by_its_id(there, action, posts, service):
    case = RESTART_CASES["obproxies"]
    without_tags(service, case, there)
    service.lose_after = [lost()]
    failure(service, case, of_change())
    forget_process()
    service.passes(400)
    result = restart(service, case, of_change())
    assert (result["action"], len(service.posts)) == (action, posts)


def test_task_that_may_have_been_of_obproxies_is_not_denied_by_a_filter_alone(service):
    case = RESTART_CASES["obproxies"]
    without_tags(service, case, [])
    service.lose_after = [lost()]
    failure(service, case, of_change())
    forget_process()
    service.passes(400)
    error = failure(service, case, of_change())
    assert "does not show what task 1002" in str(error)
    assert len(service.posts) == 1


@pytest.mark.parametrize("kind", ["server", "agents"])
def test_adopted_task_without_a_new_start_is_a_failure(kind, service):
    """It says SUCCESSFUL, and nothing of the target has started since the name of the change was first used."""
    case = RESTART_CASES[kind]
    service.restarts_really = False
    service.lose_before = [lost()]
    failure(service, case, of_change())
    job = service.begin(case.task_name, case.things(service))
    forget_process()
    error = failure(service, case, of_change())
    assert (error.facts["action"], error.facts["task_id"]) == ("adopted", job.id)
    assert "shows no new start" in str(error)


@pytest.mark.parametrize("name", ["Prepare tenant", fake_ocp.ARBITRATION])
def test_id_that_was_given_a_second_time_does_not_undo_what_is_noted(name, service):
    """A service that was restored from a backup begins with older ids again."""
    case = RESTART_CASES["arbitration service"]
    assert restart(service, case, of_change())["task_id"] == 1001
    service.time.time += 300
    service.jobs.clear()
    others = [replace(thing, id=thing.id + 1) for thing in case.things(service)]
    service.begin(name, others if name == fake_ocp.ARBITRATION else [])
    service.time.time += 60
    result = restart(service, case, of_change())
    assert (result["action"], len(service.posts)) == ("skipped", 1)


@pytest.mark.parametrize("kind", ["server", "arbitration service"])
def test_old_task_is_not_of_a_change_that_began_where_tasks_could_not_be_read(kind, service):
    """The journal does not know which tasks the target had, so the begin of a task decides."""
    case = RESTART_CASES[kind]
    service.begin(case.task_name, case.things(service))
    for thing in case.things(service):
        thing.started = -3600.0 if thing.started is not None else None
    service.time.time += 20 * 86400
    service.failing["tasks"] = [refused(403)] * 99
    service.lose_before = [ResponseLost("Lost.", url="", may_have_run=False)]
    failure(service, case, of_change())
    service.failing.clear()
    service.lose_before.clear()
    result = restart(service, case, of_change())
    assert (result["action"], len(service.jobs)) == ("submitted", 2)


def test_old_task_does_not_answer_a_request_of_a_user_who_could_not_read_tasks(service):
    """The journal does not know which tasks were there before the request, so none counts as new."""
    service.user = "admin"
    old = service.begin(fake_ocp.SERVER, SERVER.things(service), creator="admin")
    service.time.time += 20 * 86400
    service.failing["tasks"] = [refused(403)] * 99
    service.lose_before = [lost()]
    failure(service, SERVER, of_change())
    service.failing.clear()
    forget_process()
    service.time.time += 30
    result = restart(service, SERVER, of_change())
    assert (result["action"], len(service.jobs)) == ("submitted", 2)
    assert result["task_id"] != old.id


def test_old_request_does_not_take_what_somebody_restarts_days_later(service):
    """A run without a change restarts, whatever has restarted the target before."""
    service.lose_before = [lost()]
    failure(service, SERVER, request(wait=True))
    forget_process()
    service.time.time += 2 * 86400
    service.begin(fake_ocp.SERVER, SERVER.things(service))
    service.time.time += 86400
    result = restart(service, SERVER, request(wait=True))
    assert (result["action"], len(service.jobs)) == ("submitted", 2)


@every_restart
def test_own_task_that_failed_is_not_adopted_without_a_wait_as_if_it_had_not(case, service):
    service.lose_before = [lost()]
    failure(service, case, replace(of_change(), wait=False))
    forget_process()
    service.begin(case.task_name, case.things(service), end="FAILED")
    service.time.time += 60
    error = failure(service, case, replace(of_change(), wait=False))
    assert "FAILED" in str(error)


@pytest.mark.parametrize("in_flight", ["fail", "queue"])
def test_running_task_of_another_name_is_not_the_one_of_this_name(in_flight, service):
    """It began before this name was used. What it starts after that counts, as a restart by anybody does."""
    service.lose_before = [lost()]
    failure(service, SERVER, of_change())
    forget_process()
    service.begin(fake_ocp.SERVER, SERVER.things(service), seconds=50.0)
    second = replace(request(in_flight), change="second")
    if in_flight == "fail":
        assert isinstance(failure(service, SERVER, second), TargetBusy)
    else:
        assert restart(service, SERVER, second)["action"] == "skipped"
    assert len(service.posts) == 1
