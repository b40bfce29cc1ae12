# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A restart until values of parameters are in effect: who is left alone, who is restarted once, what fails."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    NotVerified,
    OptionError,
    TargetBusy,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.evidence import PROOF_TIMEOUT
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import forget_process
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.tests.unit.support import fake_ocp
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import StaticParameter, Thing, at, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    ORDERS,
    SERVER,
    RestartCase,
    failure,
    request,
    restart,
)

WANTED = {"stack_size": "5M"}
FIRST = "10.1.0.1:2882"
TWO = RestartCase(
    Zone(71, "zone1", ORDERS, ((41, FIRST), (44, "10.1.0.4:2882")), (51, 54), True),
    ("zone", (31, "zone1")),
    fake_ocp.ZONE,
    lambda s: [thing for thing in s.servers_there if thing.zone == "zone1"],
)


def asked(in_flight="attach", started_before=None, **more):
    return request(in_flight, started_before, until_effective=WANTED, **{"wait": True, "seconds": 600, **more})


@pytest.fixture
def changed(service):
    """A service where stack_size was set ten minutes ago, and no server has started since."""
    service.parameters["stack_size"] = StaticParameter("4M", "5M")
    return service


def take_effect(service, *numbers):
    """These servers have started since it was set."""
    for thing in service.servers_there:
        if thing.id in numbers:
            thing.started = -500.0


def reads_since_the_last_look(service):
    """What was read between the parameters and the request."""
    last = len(service.calls) - 1 - service.calls[::-1].index("cluster_parameters")
    return service.calls[last:]


# Who needs the restart


def test_server_with_the_old_value_is_restarted_once_and_left_alone_afterwards(changed):
    take_effect(changed, 42)
    result = restart(changed, SERVER, asked())
    assert (result["changed"], result["action"], result["verified"]) == (True, "submitted", True)
    assert result["reason"] == f"{FIRST} shows stack_size=4M instead of 5M"
    assert result["effective"] == {"stack_size": {"value": "5M", "effective": True, "servers": {FIRST: "5M"}}}
    again = restart(changed, SERVER, asked())
    assert (again["changed"], again["action"], again["verified"]) == (False, "skipped", True)
    assert again["reason"] == f"{FIRST} shows stack_size=5M"
    assert again["effective"] == result["effective"]
    assert len(changed.posts) == 1


def test_the_same_value_in_another_unit_is_in_effect(changed):
    changed.parameters["stack_size"].new = "5120K"
    take_effect(changed, 41)
    assert restart(changed, SERVER, asked())["action"] == "skipped"


def test_each_of_several_values_has_to_be_shown(changed):
    changed.parameters["memory_limit"] = StaticParameter("8G", "16G", set_at=-400.0)
    take_effect(changed, 41)
    options = request(wait=True, until_effective={**WANTED, "memory_limit": "16G"})
    result = restart(changed, SERVER, options)
    assert result["reason"] == f"{FIRST} shows memory_limit=8G instead of 16G"
    assert {name: each["value"] for name, each in result["effective"].items()} == {
        "stack_size": "5M",
        "memory_limit": "16G",
    }


def test_value_alone_is_proven_by_no_task(changed):
    """Nobody knows whether the restart was before the value was set."""
    changed.restart_server(31, 41, freeze_server=True, force=False)
    changed.passes(PROOF_TIMEOUT + 60)
    assert restart(changed, SERVER, asked())["action"] == "skipped"
    assert journal_here().entries()["requests"] == []


@pytest.mark.parametrize(("effective", "action"), [((41,), "submitted"), ((44,), "submitted"), ((41, 44), "skipped")])
def test_zone_is_left_alone_only_if_all_its_servers_show_the_value(effective, action, changed):
    changed.servers_there.append(Thing(44, 54, "zone1"))
    changed.parameters["stack_size"].servers = (41, 42, 43, 44)
    take_effect(changed, *effective)
    result = restart(changed, TWO, asked())
    assert result["action"] == action
    assert ("(1 of 2)" in result["reason"]) is (action == "submitted")
    assert result["effective"]["stack_size"]["servers"] == {FIRST: "5M", "10.1.0.4:2882": "5M"}


def test_server_that_does_not_serve_and_of_which_no_value_is_shown_is_restarted(changed):
    changed.parameters["stack_size"].servers = (42, 43)
    changed.servers_there[0].status = "STOPPED"
    assert failure(changed, SERVER, asked()).facts["action"] == "submitted"


def test_value_and_start_both_have_to_ask_for_a_restart(changed):
    take_effect(changed, 42)
    change = at(-600)
    assert restart(changed, SERVER, asked(started_before=change))["action"] == "submitted"
    changed.passes(PROOF_TIMEOUT)
    left = restart(changed, SERVER, asked(started_before=change))
    assert (left["action"], left["verified"]) == ("skipped", True)
    assert f"not before {change.isoformat()} and {FIRST} shows stack_size=5M" in left["reason"]
    # It shows the value, and has not started since a later change.
    later = restart(changed, SERVER, asked(started_before=at(changed.now)))
    assert (later["action"], later["verified"], later["reason"]) == ("skipped", True, f"{FIRST} shows stack_size=5M")


# Whether a value is believed


def test_value_that_all_servers_show_does_not_count_where_nothing_tells_old_from_new(changed):
    changed.parameters["stack_size"].at_once = True
    error = failure(changed, SERVER, asked())
    assert error.__class__ is OptionError
    assert str(error) == (
        f"until_effective: Did not restart {SERVER.target.label}: {FIRST} shows stack_size=5M, but this service is not "
        "known to show the old value of stack_size until a server has restarted. Give "
        "started_before, the instant of the change, or a change with a name, so that the start decides too."
    )
    assert (error.facts["changed"], changed.posts) == (False, [])
    # With it nobody is skipped by the value.
    assert restart(changed, SERVER, asked(started_before=at(-600)))["action"] == "submitted"
    assert restart(changed, SERVER, asked(started_before=at(-600)))["action"] == "skipped"


def test_service_that_has_shown_two_values_once_is_believed_later(changed):
    take_effect(changed, 42)
    restart(changed, SERVER, asked())
    take_effect(changed, 43)
    assert restart(changed, SERVER, asked())["action"] == "skipped"


def test_value_of_a_dynamic_parameter_is_believed(changed):
    changed.parameters["stack_size"].metadata = {"needRestart": False}
    take_effect(changed, 41, 42, 43)
    assert restart(changed, SERVER, asked())["action"] == "skipped"


# What the service does not show


def test_without_values_of_servers_nothing_is_sent_and_started_before_is_asked_for(changed):
    changed.parameters["stack_size"].servers = ()
    error = failure(changed, SERVER, asked())
    assert str(error) == (
        "until_effective: the service does not show the value of stack_size on each server of cluster orders, so it is "
        "not known which of them need the restart. Give started_before, the instant of the change."
    )
    assert error.__class__ is OptionError
    assert (changed.posts, error.facts["changed"]) == ([], False)


@pytest.mark.parametrize("hidden", [(), None], ids=["no values", "no such path"])
def test_with_started_before_the_start_alone_decides_then_and_it_is_said(hidden, changed):
    if hidden is None:
        changed.failing["cluster_parameters"] = [refused(404)] * 99
    else:
        changed.parameters["stack_size"].servers = hidden
    result = restart(changed, SERVER, asked(started_before=at(-600)))
    assert (result["action"], result["verified"]) == ("submitted", True)
    assert result["effective"] == {"stack_size": {"value": None, "effective": None, "servers": {}}}
    assert "started_before alone decides" in " ".join(result["warnings"])
    assert restart(changed, SERVER, asked(started_before=at(-600)))["action"] == "skipped"


def test_value_that_is_not_shown_of_this_server_is_no_proof(changed):
    changed.parameters["stack_size"].servers = (42, 43)
    take_effect(changed, 42)
    error = failure(changed, SERVER, asked())
    assert f"{FIRST} shows no stack_size. Give started_before" in str(error)
    assert changed.posts == []
    assert restart(changed, SERVER, asked(started_before=at(-600)))["action"] == "submitted"


def test_unknown_name_is_refused(changed):
    del changed.parameters["stack_size"]
    error = failure(changed, SERVER, asked())
    assert "until_effective: cluster orders has no parameter stack_size" in str(error)
    assert changed.posts == []


def test_nothing_is_decided_where_the_values_cannot_be_read_now(changed):
    changed.failing["cluster_parameters"] = [refused(500)] * 99
    assert "Did not restart server" in str(failure(changed, SERVER, asked()))
    assert changed.posts == []


def test_values_belong_to_the_look_that_decides(changed):
    """They are read before the tasks and the server, so that no start is missed, and anew after a pause."""
    changed.failing["server"] = [refused(429)]
    changed.failing["server"][0].retry_after = 3.0
    take_effect(changed, 42)

    def somebody_restarts_it():
        if len(changed.posts) == 1:
            take_effect(changed, 41)

    changed.before_post = somebody_restarts_it
    result = restart(changed, SERVER, asked())
    assert (result["action"], len(changed.posts)) == ("skipped", 1)
    assert reads_since_the_last_look(changed) == ["cluster_parameters", "tasks", "cluster", "servers"]


# After the restart


@pytest.mark.parametrize("late", [0.0, 30.0, PROOF_TIMEOUT - 10])
def test_value_that_shows_late_is_waited_for(late, changed):
    changed.parameters["stack_size"].shown_late = late
    result = restart(changed, SERVER, asked())
    assert (result["effective"]["stack_size"]["effective"], result["verified"]) == (True, True)
    assert len(changed.posts) == 1


def test_restart_without_effect_fails_with_both_values_and_keeps_what_is_known(changed):
    changed.parameters["stack_size"].never = True
    error = failure(changed, SERVER, asked())
    assert error.__class__ is NotVerified
    assert f"ended SUCCESSFUL (task 1001), but {FIRST} shows stack_size=4M instead of 5M. " in str(error)
    facts = error.facts
    assert (facts["changed"], facts["verified"], facts["task_id"]) == (True, False, 1001)
    assert facts["task"]["succeeded"] is True
    assert facts["effective"] == {"stack_size": {"value": "4M", "effective": False, "servers": {FIRST: "4M"}}}
    assert len(changed.posts) == 1


def test_failed_restart_is_run_again_after_a_retry_which_has_brought_the_values(changed):
    changed.end = "FAILED"
    assert str(failure(changed, SERVER, asked())).endswith("\nThen run the same command again.")


def test_value_that_cannot_be_read_afterwards_is_not_verified(changed):
    changed.after_restart = lambda: changed.failing.update(cluster_parameters=[refused(500)] * 999)
    result = restart(changed, SERVER, asked())
    assert (result["changed"], result["verified"]) == (True, None)
    assert "; not verified to be in effect, since reading it failed: " in result["reason"]


def test_value_that_is_hidden_afterwards_is_not_verified(changed):
    changed.after_restart = lambda: setattr(changed.parameters["stack_size"], "servers", (42, 43))
    result = restart(changed, SERVER, asked())
    assert result["verified"] is None
    assert f"not verified to be in effect, since {FIRST} shows no stack_size" in result["reason"]


def test_start_that_contradicts_the_task_is_reported_first(changed):
    changed.restarts_really = False
    error = failure(changed, SERVER, asked())
    assert "shows no new start" in str(error)
    assert (error.facts["verified"], error.facts["effective"]["stack_size"]["effective"]) == (False, False)


# At most once


def test_running_restart_is_joined_and_judged_by_the_value(changed):
    changed.begin(fake_ocp.SERVER, changed.servers_there[:1], seconds=30.0)
    result = restart(changed, SERVER, asked())
    assert (result["action"], result["changed"], changed.posts) == ("attached", False, [])
    assert result["effective"]["stack_size"]["effective"] is True


def test_running_restart_is_waited_for_with_queue_and_then_none_is_needed(changed):
    take_effect(changed, 42)
    changed.begin(fake_ocp.SERVER, changed.servers_there[:1], seconds=30.0)
    result = restart(changed, SERVER, asked("queue"))
    assert (result["action"], changed.posts) == ("skipped", [])


def test_running_restart_of_a_server_in_effect_has_to_end_first_with_queue(changed):
    take_effect(changed, 41, 42)
    changed.begin(fake_ocp.SERVER, changed.servers_there[:1], seconds=30.0)
    result = restart(changed, SERVER, asked("queue"))
    assert (result["action"], result["verified"], changed.posts) == ("skipped", True, [])
    assert changed.now >= 30


def test_running_restart_is_refused_with_fail(changed):
    changed.begin(fake_ocp.SERVER, changed.servers_there[:1], seconds=30.0)
    assert failure(changed, SERVER, asked("fail")).__class__ is TargetBusy


@pytest.mark.parametrize("wait", [True, False], ids=["wait", "no wait"])
@pytest.mark.parametrize("killed_after", [11.0, 60.0, 150.0])
@pytest.mark.parametrize("start_late", [0.0, 40.0])
def test_second_run_waits_for_a_value_that_shows_late(start_late, killed_after, wait, changed):
    """The first run was killed while it waited for the start or the value."""
    take_effect(changed, 42)
    changed.parameters["stack_size"].shown_late = 170.0
    changed.start_shown_late = start_late
    changed.begin(fake_ocp.SERVER, changed.servers_there[:1])
    changed.passes(killed_after)
    result = restart(changed, SERVER, asked(wait=wait))
    assert (result["action"], changed.posts) == ("skipped", [])
    assert result["effective"]["stack_size"]["effective"] is True
    assert changed.now < 10 + PROOF_TIMEOUT


def test_value_that_never_shows_is_restarted_for_once_it_cannot_be_late_any_more(changed):
    """The service that breaks it: it shows the old value for longer than PROOF_TIMEOUT after the start."""
    take_effect(changed, 42)
    changed.parameters["stack_size"].shown_late = 400.0
    changed.begin(fake_ocp.SERVER, changed.servers_there[:1])
    changed.passes(20.0)
    failure(changed, SERVER, asked())
    assert len(changed.posts) == 1
    assert changed.jobs[1].started_at >= PROOF_TIMEOUT


@pytest.mark.parametrize("spelling", ["5M", "5m", "5120K"])
@pytest.mark.parametrize("waits", [True, False], ids=["a run that failed", "a run of which nobody saw the end"])
def test_server_is_not_restarted_again_for_values_that_its_restart_has_not_brought(waits, spelling, changed):
    changed.parameters["stack_size"].never = True
    take_effect(changed, 42)
    if waits:
        failure(changed, SERVER, asked())
    else:
        restart(changed, SERVER, asked(wait=False))
    changed.passes(PROOF_TIMEOUT * 10)
    forget_process()
    error = failure(changed, SERVER, replace(asked(), until_effective={"stack_size": spelling}))
    assert (error.__class__, error.facts["changed"], len(changed.posts)) == (NotVerified, False, 1)
    assert (error.facts["verified"], error.facts["effective"]["stack_size"]["effective"]) == (False, False)
    assert f"after this controller requested a restart for these values, but {FIRST} shows stack_size=4M" in str(error)
    assert "give a later started_before" in str(error)
    # For other values, and with the way out, it is restarted.
    other = request(wait=False, until_effective={"stack_size": "6M"})
    assert restart(changed, SERVER, other)["action"] == "submitted"
    changed.passes(PROOF_TIMEOUT * 10)
    assert restart(changed, SERVER, asked(started_before=at(changed.now), wait=False))["action"] == "submitted"


def test_value_that_a_server_which_does_not_serve_no_longer_shows_is_not_disproved(changed):
    changed.parameters["stack_size"].never = True
    take_effect(changed, 42)
    restart(changed, SERVER, asked(wait=False))
    changed.passes(PROOF_TIMEOUT * 10)
    changed.parameters["stack_size"].servers = (42, 43)
    changed.servers_there[0].status = "STOPPED"
    error = failure(changed, SERVER, asked())
    assert f"after this controller requested a restart for these values, but {FIRST} shows no stack_size" in str(error)
    assert (error.facts["verified"], error.facts["effective"]["stack_size"]["effective"]) == (None, None)
    assert len(changed.posts) == 1


def test_try_is_forgotten_once_the_values_are_in_effect(changed):
    take_effect(changed, 42)
    restart(changed, SERVER, asked())
    # Somebody sets the old value again, and restarts it.
    changed.parameters["stack_size"].never = True
    changed.passes(PROOF_TIMEOUT * 10)
    changed.begin(fake_ocp.SERVER, changed.servers_there[:1])
    changed.passes(PROOF_TIMEOUT * 10)
    assert restart(changed, SERVER, asked(wait=False))["action"] == "submitted"


def test_refused_request_is_no_try(changed):
    changed.parameters["stack_size"].never = True
    take_effect(changed, 42)
    changed.lose_before = [refused(403)]
    failure(changed, SERVER, asked())
    changed.begin(fake_ocp.SERVER, changed.servers_there[:1])
    changed.passes(PROOF_TIMEOUT * 10)
    assert restart(changed, SERVER, asked(wait=False))["action"] == "submitted"


def test_two_values_that_are_one_on_its_way_prove_nothing(changed):
    """All servers show the new value at once, some a few seconds later."""
    changed.parameters["stack_size"].at_once = True
    on_its_way = changed.cluster_parameters

    def spread(cluster_id):
        shown = on_its_way(cluster_id)
        if changed.now < 5:
            shown[-1]["currentValue"]["obParameters"][1]["value"] = "4M"
        return shown

    changed.cluster_parameters = spread
    assert failure(changed, SERVER, asked()).__class__ is OptionError
    assert changed.posts == []


@pytest.mark.parametrize("ago", [100.0, 500.0])
def test_server_that_has_started_since_and_lacks_the_value_is_not_restarted_again(ago, changed):
    changed.parameters["stack_size"].never = True
    changed.servers_there[0].started = -ago
    error = failure(changed, SERVER, asked(started_before=at(-600)))
    assert error.__class__ is NotVerified
    assert f"not before {at(-600).isoformat()}, but {FIRST} shows stack_size=4M instead of 5M." in str(error)
    assert "If it was set after that start, give a later started_before" in str(error)
    assert (changed.posts, error.facts["changed"]) == ([], False)
    assert (error.facts["verified"], error.facts["effective"]["stack_size"]["effective"]) == (False, False)


def test_start_by_somebody_that_lacks_the_value_is_disproved_after_a_refusal_too(changed):
    changed.parameters["stack_size"].never = True
    changed.before_post = lambda: take_effect(changed, 41)
    changed.lose_before = [refused(400)]
    error = failure(changed, SERVER, asked(started_before=at(-600)))
    assert (error.__class__, len(changed.posts)) == (NotVerified, 1)
    assert f"not before {at(-600).isoformat()}, but {FIRST} shows stack_size=4M instead of 5M" in str(error)
    assert (error.facts["verified"], error.facts["effective"]["stack_size"]["effective"]) == (False, False)


def test_zone_with_a_server_that_has_started_since_and_lacks_the_value_is_not_restarted(changed):
    changed.servers_there.append(Thing(44, 54, "zone1"))
    changed.parameters["stack_size"] = StaticParameter("4M", "5M", servers=(41, 42, 43, 44), never=True)
    take_effect(changed, 44)
    error = failure(changed, TWO, asked(started_before=at(-600)))
    assert (error.__class__, changed.posts) == (NotVerified, [])
    assert (error.facts["verified"], error.facts["effective"]["stack_size"]["effective"]) == (False, False)


def test_waiting_for_late_values_ends_though_the_clock_of_the_service_is_behind(changed):
    """A start that is just before the furthest that is believed seems new for minutes more."""
    take_effect(changed, 42)
    changed.parameters["stack_size"].never = True
    changed.servers_there[0].started = 55.0
    failure(changed, SERVER, asked())
    assert len(changed.posts) == 1
    assert changed.jobs[0].started_at <= PROOF_TIMEOUT + 5


@pytest.mark.parametrize("offset", [-7200.0, 7200.0])
def test_clock_of_the_controller_decides_nothing(offset, changed):
    changed.clock_offset = offset
    changed.parameters["stack_size"].set_at += offset
    for thing in changed.servers_there:
        thing.started += offset
    changed.servers_there[1].started = offset - 300.0
    assert restart(changed, SERVER, asked())["action"] == "submitted"
    assert restart(changed, SERVER, asked())["action"] == "skipped"
    assert len(changed.posts) == 1


# Check mode and diff


def test_check_mode_decides_the_same_and_shows_the_values_of_before_and_after(changed):
    take_effect(changed, 42)
    result = restart(changed, SERVER, asked(check_mode=True))
    assert (result["changed"], result["action"], changed.posts) == (True, "submitted", [])
    assert result["effective"]["stack_size"]["effective"] is False
    assert (result["diff"]["before"], result["diff"]["after"]) == (
        f"{FIRST} RUNNING started 2026-05-04T02:00:00+08:00 stack_size=4M\n",
        f"{FIRST} restarted stack_size=5M\n",
    )
    done = restart(changed, SERVER, asked())
    assert done["diff"]["before"].endswith("stack_size=4M\n")
    assert done["diff"]["after"] == f"{FIRST} RUNNING started 2026-05-04T03:00:15+08:00 stack_size=5M\n"
    check = restart(changed, SERVER, asked(check_mode=True))
    assert (check["changed"], check["action"]) == (False, "skipped")


def test_check_mode_does_not_wait_for_late_values(changed):
    take_effect(changed, 42)
    changed.parameters["stack_size"].shown_late = 100.0
    changed.begin(fake_ocp.SERVER, changed.servers_there[:1])
    changed.passes(20.0)
    result = restart(changed, SERVER, asked(check_mode=True))
    assert changed.time.pauses == []
    assert (result["verified"], changed.posts) == (None, [])
    assert "and may show its values late; 10.1.0.1:2882 shows stack_size=4M instead of 5M" in result["reason"]


def test_server_that_dies_while_its_values_are_awaited_is_not_proven(changed):
    """It has shown its start, and that it serves, before."""
    changed.parameters["stack_size"].shown_late = 60.0

    def die():
        if changed.posts and changed.now > 40:
            changed.servers_there[0].status = "UNAVAILABLE"

    changed.time.after_sleep = die
    error = failure(changed, SERVER, asked())
    assert (error.__class__, error.facts["verified"]) == (NotVerified, False)
    assert "10.1.0.1:2882 is UNAVAILABLE" in str(error)


def test_server_that_cannot_be_read_after_its_values_were_awaited_is_not_verified(changed, monkeypatch):
    changed.parameters["stack_size"].shown_late = 60.0
    read = changed.servers

    def servers(cluster_id):
        if changed.posts and changed.now > 60:
            raise refused(403)
        return read(cluster_id)

    monkeypatch.setattr(changed, "servers", servers)
    result = restart(changed, SERVER, asked())
    assert result["verified"] is None
    assert "reading it afterwards failed" in result["reason"]
