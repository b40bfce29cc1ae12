# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which task is ours: by the ids that were there, its kind, target, begin and creator."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_request import (
    Sent,
    doubtful_tasks,
    is_answer,
    own_tasks,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import TaskOnTarget
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import AGENTS, CLUSTER, SERVER, ZONE, at
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import raw_task
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import ORDERS, SERVER_41

ALL, NOTHING = None, frozenset[str]()
ADDRESS = frozenset({"10.1.0.1:2882"})
# Sent at second 100 by admin, when these tasks were there.
SENT = Sent(at(100), timedelta(0), frozenset([80, 500]), ADDRESS, "admin")


def record(*, number=81, began: float | None = 100.0, creator="admin", name=SERVER, **fields):
    times = {} if began is None else {"startTime": at(began).isoformat()}
    return raw_task(number, creator=creator, name=name, **times, **fields)


def is_ours(restarts=ALL, sent=SENT, target=SERVER_41, **fields):
    return bool(own_tasks(target, [TaskOnTarget(record(**fields), restarts)], sent))


@pytest.mark.parametrize(
    ("fields", "ours"),
    [
        pytest.param({}, True, id="the task of the request"),
        pytest.param({"number": 499}, True, id="its id is below one that was there"),
        pytest.param({"number": 7}, True, id="its id is below all that were there"),
        pytest.param({"number": 1_000_000}, True, id="its id is above all"),
        pytest.param({"number": 80}, False, id="it was there"),
        pytest.param({"number": 500}, False, id="it was there, and its id is the highest"),
        pytest.param({"name": SERVER.lower()}, True, id="of this kind, in lower case"),
        pytest.param({"name": ZONE}, False, id="of another kind"),
        pytest.param({"name": CLUSTER}, False, id="of a larger kind"),
        pytest.param({"name": None}, True, id="of no kind that is shown"),
        pytest.param({"restarts": ADDRESS}, True, id="of this target, by its members"),
        pytest.param({"restarts": NOTHING}, False, id="where the service does not tell which target a task is of"),
        pytest.param({"began": 200.0}, True, id="begun later"),
        pytest.param({"began": 94.1}, True, id="begun before, by the resolution shown and 5 s"),
        pytest.param({"began": 93.9}, False, id="begun before, by more"),
        pytest.param({"began": 40.0}, False, id="begun a minute before: the list may have lagged so long"),
        pytest.param(
            {"began": 39.9}, True, id="begun more than a minute before, and not listed then: by another clock"
        ),
        pytest.param({"began": 39.9, "creator": None}, False, id="the same, where the creator is not known"),
        pytest.param({"began": 39.9, "creator": "root"}, False, id="the same, and its creator is somebody else"),
        pytest.param({"began": None}, False, id="without a begin"),
        pytest.param({"creator": None}, True, id="where the creator is not known"),
        pytest.param({"creator": "Admin"}, True, id="its creator is us, in upper case"),
        pytest.param({"creator": "root"}, False, id="its creator is somebody else"),
        pytest.param({"status": "SUCCESSFUL"}, True, id="ended already"),
    ],
)
def test_task_is_ours_by_id_kind_target_begin_and_creator(fields, ours):
    assert is_ours(**fields) is ours


def test_task_that_restarts_others_too_is_not_ours():
    """Somebody has restarted the agents of more hosts, at the same moment and by the same user."""
    more = TaskOnTarget(record(), ADDRESS, restarts_others=True)
    assert own_tasks(SERVER_41, [more], SENT) == []


def test_begin_is_the_creation_where_no_start_is_shown():
    assert is_ours(began=None, createTime=at(100).isoformat())
    assert not is_ours(began=None, createTime=at(93).isoformat())


@pytest.mark.parametrize(("began", "ours"), [(74.1, True), (73.9, False)])
def test_what_is_uncertain_about_the_clock_is_allowed_for(began, ours):
    assert is_ours(sent=replace(SENT, uncertain=timedelta(seconds=20)), began=began) is ours


def test_no_task_is_ours_if_those_before_are_not_known():
    assert not is_ours(sent=replace(SENT, known=None))
    assert is_ours(sent=replace(SENT, known=NOTHING))


@pytest.mark.parametrize("creator", ["admin", "root", None])
def test_every_creator_may_be_us_where_our_user_is_not_known(creator):
    assert is_ours(sent=replace(SENT, user=None), creator=creator)


@pytest.mark.parametrize(
    ("user", "creator", "ours"),
    [("admin", "admin", True), ("admin", None, False), (None, "admin", False), ("admin", "root", False)],
)
def test_task_after_a_refusal_is_ours_only_if_the_service_says_so(user, creator, ours):
    """Somebody else may have been faster, which is why it was refused."""
    assert is_ours(sent=replace(SENT, refused=True, user=user), creator=creator) is ours


def test_task_that_the_answer_named_and_that_failed_at_once_is_not_the_one_of_a_repetition():
    after = replace(SENT, refused=True, failed=81)
    assert not is_ours(sent=after)
    assert is_ours(sent=after, number=82)


@pytest.mark.parametrize(
    ("restarts", "ours"),
    [("ab", True), ("a", False), ("abc", False), ("c", False)],
    ids=["its", "few", "more", "other"],
)
def test_agent_task_is_ours_if_it_restarts_just_the_hosts_that_were_sent(restarts, ours):
    agents = Agents(((51, "a"), (52, "b"), (53, "c")))
    sent = replace(SENT, members=frozenset("ab"))
    assert is_ours(frozenset(restarts), sent, agents, name=AGENTS) is ours


def test_other_work_is_not_ours_where_the_target_shows_no_members():
    assert not is_ours(NOTHING, replace(SENT, members=NOTHING))
    assert is_ours(ALL, replace(SENT, members=NOTHING))


def test_all_tasks_that_may_be_ours_are_named():
    listed = [TaskOnTarget(record(number=number), ALL) for number in (83, 500, 82, 80)]
    assert [task.id for task in own_tasks(SERVER_41, listed, SENT)] == [83, 82]


@pytest.mark.parametrize(
    ("restarts", "fields", "is_doubtful"),
    [
        (NOTHING, {}, True),
        (ALL, {}, False),
        (NOTHING, {"name": "Stop OB server"}, False),
        (NOTHING, {"creator": None}, True),
        (NOTHING, {"creator": "somebody"}, False),
        (NOTHING, {"number": 80}, False),
    ],
    ids=[
        "a restart of an unknown target",
        "of the target",
        "other work",
        "of nobody known",
        "of another",
        "it was there",
    ],
)
def test_task_may_be_ours_if_its_target_is_not_shown(restarts, fields, is_doubtful):
    found = doubtful_tasks(SERVER_41, [TaskOnTarget(record(**fields), restarts)], SENT)
    assert bool(found) is is_doubtful


@pytest.mark.parametrize(
    ("fields", "is_doubtful"),
    [
        ({}, True),
        ({"restarts": NOTHING}, True),
        ({"name": ZONE}, False),
        ({"began": 93.9}, False),
        ({"creator": None}, False),
        ({"creator": "root"}, False),
    ],
    ids=[
        "of the target",
        "of an unknown target",
        "of another kind",
        "from before",
        "of nobody known",
        "of somebody else",
    ],
)
def test_task_may_be_ours_or_not_if_tasks_could_not_be_read_before(fields, is_doubtful):
    restarts = fields.pop("restarts", ALL)
    found = doubtful_tasks(SERVER_41, [TaskOnTarget(record(**fields), restarts)], replace(SENT, known=None))
    assert bool(found) is is_doubtful


# The answer to the request


@pytest.mark.parametrize(
    ("fields", "is_possible"),
    [
        pytest.param({}, True, id="of the kind"),
        pytest.param({"name": CLUSTER}, False, id="another kind"),
        pytest.param({"name": "Neustart"}, True, id="a name that is not known"),
        pytest.param({"name": None}, True, id="no name"),
        pytest.param({"clusterId": 31}, True, id="its cluster"),
        pytest.param({"clusterId": 32}, False, id="another cluster"),
        pytest.param({"cluster": {"id": 32}}, False, id="another cluster, as an object"),
        pytest.param({"tags": [{"serverId": 42}]}, False, id="another server"),
        pytest.param({"hostId": 51}, True, id="its host"),
        pytest.param({"hostId": 52}, False, id="another host"),
        pytest.param({"tags": [{"hostId": 51}]}, True, id="its host in a tag"),
        pytest.param({"tags": [{"hostId": 52}]}, False, id="another host in a tag"),
        pytest.param({"tags": [{"hostId": 52}, {"hostId": 51}]}, True, id="its host among others"),
        pytest.param(
            {"tags": [{"serverId": 41, "hostId": 52, "zoneName": "zone2"}]}, True, id="its server, which was moved"
        ),
        pytest.param({"tags": [{"zoneName": "zone2"}]}, False, id="another zone"),
        pytest.param({"context": {"listMap": {"server_ids": [41]}}}, True, id="its server in the context"),
        pytest.param({"context": {"listMap": {"server_ids": [42]}}}, False, id="another server in the context"),
        pytest.param({"context": {"stringMap": {"server_id": 42}}}, False, id="another server as a text there"),
        pytest.param({"context": {"listMap": {"host_ids": [52]}}}, False, id="another host in the context"),
        pytest.param({"context": {"stringMap": {"zone_name": "zone2"}}}, False, id="another zone in the context"),
        pytest.param({"creator": "root"}, True, id="the creator does not matter"),
        pytest.param({"began": 0.0}, True, id="the begin does not matter"),
    ],
)
def test_answer_is_checked_by_kind_and_target(fields, is_possible):
    assert is_answer(record(**fields), SERVER_41) is is_possible


@pytest.mark.parametrize("fields", [{"hostId": 52}, {"tags": [{"hostId": 52}]}, {"tags": [{"zoneName": "zone2"}]}])
def test_answer_may_show_any_host_and_zone_where_those_of_the_server_are_not_known(fields):
    assert is_answer(record(**fields), replace(SERVER_41, host_id=None, zone=None))


@pytest.mark.parametrize(
    ("fields", "is_possible"),
    [
        pytest.param({}, True, id="nothing"),
        pytest.param({"tags": [{"zoneName": "zone1"}]}, True, id="its name"),
        pytest.param({"tags": [{"zoneName": "zone2"}]}, False, id="another zone"),
        pytest.param({"tags": [{"zoneName": "zone1", "serverId": 49, "hostId": 59}]}, True, id="its new server"),
        pytest.param({"tags": [{"hostId": 51}, {"hostId": 54}]}, True, id="its hosts"),
        pytest.param({"tags": [{"hostId": 51}, {"hostId": 59}]}, True, id="a host that was added since"),
        pytest.param({"tags": [{"hostId": 52}, {"hostId": 53}]}, False, id="hosts of other zones"),
        pytest.param({"hostId": 54}, True, id="a host that it shares with another zone"),
        pytest.param({"hostId": 52}, False, id="a host of another zone"),
        pytest.param({"tags": [{"serverId": 44}]}, True, id="a server of it"),
        pytest.param({"tags": [{"serverId": 42}]}, False, id="a server of another zone"),
        pytest.param({"context": {"stringMap": {"zone_name": "zone2"}}}, False, id="another zone in the context"),
        pytest.param({"context": {"listMap": {"server_ids": [42]}}}, False, id="the server of another zone there"),
    ],
)
def test_answer_for_a_zone_is_checked_by_its_hosts_and_servers(fields, is_possible):
    zone = Zone(71, "zone1", ORDERS, ((41, "10.1.0.1:2882"), (44, "10.1.0.4:2882")), (51,), False, (51, 54))
    assert is_answer(record(name=ZONE, **fields), zone) is is_possible
    assert is_answer(record(name=ZONE, hostId=52), replace(zone, every_host=()))


@pytest.mark.parametrize(("hosts", "is_possible"), [([51], True), ([51, 52], False)])
def test_answer_for_agents_is_checked_by_the_hosts_in_its_context(hosts, is_possible):
    answer = record(name=AGENTS, context={"listMap": {"host_ids": hosts}})
    assert is_answer(answer, Agents(((51, "a"),))) is is_possible


def test_answer_for_a_cluster_may_show_any_of_its_hosts():
    assert is_answer(record(name=CLUSTER, clusterId=31, tags=[{"hostId": 59}]), ORDERS)


def test_answer_for_what_is_of_no_cluster_may_show_one():
    assert is_answer(record(name=AGENTS, clusterId=32), Agents(((51, "a"),)))


@pytest.mark.parametrize(
    ("fields", "is_denied"),
    [
        ({"began": 98.9, "creator": "root"}, True),
        ({"began": 99.1, "creator": "root"}, True),
        ({"began": 99.0, "creator": "root"}, False),
        ({"began": 100.1, "creator": "root"}, False),
        ({"began": 50.0, "creator": "Admin"}, False),
        ({"began": 50.0, "creator": None}, False),
        ({"began": None, "creator": "root"}, False),
    ],
    ids=[
        "earlier, of another",
        "by milliseconds",
        "shown in seconds",
        "later",
        "our own, by an odd clock",
        "unknown creator",
        "unknown begin",
    ],
)
def test_answer_is_of_another_request_where_begin_and_creator_tell_it(fields, is_denied):
    assert SENT.is_denied_by(Task.from_api(record(**fields))) is is_denied
