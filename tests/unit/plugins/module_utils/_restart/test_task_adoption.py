# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which task is ours: by its id, kind, target, begin and creator."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.task_adoption import Sent, is_answer, own_tasks
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import TaskOnTarget
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import AGENTS, CLUSTER, SERVER, ZONE, at
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import raw_task

ALL, NOTHING = None, frozenset[str]()
ORDERS = Cluster(31, "orders")
SERVER_41 = Server(41, "10.1.0.1:2882", ORDERS, 51, "zone1", True, True, False)
ADDRESS = frozenset({"10.1.0.1:2882"})
# Sent at second 100 by admin, with tasks up to 80 before.
SENT = Sent(at(100), timedelta(0), 80, ADDRESS, "admin")


def record(*, number=81, began: float | None = 100.0, creator="admin", name=SERVER, **fields):
    times = {} if began is None else {"startTime": at(began).isoformat()}
    return raw_task(number, creator=creator, name=name, **times, **fields)


def adopted(restarts=ALL, sent=SENT, target=SERVER_41, **fields):
    return bool(own_tasks(target, [TaskOnTarget(record(**fields), restarts)], sent))


@pytest.mark.parametrize(
    ("fields", "ours"),
    [
        pytest.param({}, True, id="the task of the request"),
        pytest.param({"number": 1_000_000}, True, id="an id above the mark"),
        pytest.param({"number": 80}, False, id="the id of the mark"),
        pytest.param({"number": 79}, False, id="an id below the mark"),
        pytest.param({"name": SERVER.lower()}, True, id="of this kind, in lower case"),
        pytest.param({"name": ZONE}, False, id="of another kind"),
        pytest.param({"name": CLUSTER}, False, id="of a larger kind"),
        pytest.param({"name": None}, False, id="of no kind"),
        pytest.param({"restarts": ADDRESS}, True, id="of this target, by its members"),
        pytest.param({"restarts": NOTHING}, False, id="where the service does not tell which target a task is of"),
        pytest.param({"began": 200.0}, True, id="begun later"),
        pytest.param({"began": 94.1}, True, id="begun before, by the resolution shown and 5 s"),
        pytest.param({"began": 93.9}, False, id="begun before, by more"),
        pytest.param({"began": None}, False, id="without a begin"),
        pytest.param({"creator": None}, True, id="where the creator is not known"),
        pytest.param({"creator": "Admin"}, True, id="its creator is us, in upper case"),
        pytest.param({"creator": "root"}, False, id="its creator is somebody else"),
        pytest.param({"status": "SUCCESSFUL"}, True, id="ended already"),
    ],
)
def test_task_is_ours_by_id_kind_target_begin_and_creator(fields, ours):
    assert adopted(**fields) is ours


def test_begin_is_the_creation_where_no_start_is_shown():
    assert adopted(began=None, createTime=at(100).isoformat())
    assert not adopted(began=None, createTime=at(93).isoformat())


@pytest.mark.parametrize(("began", "ours"), [(74.1, True), (73.9, False)])
def test_what_is_uncertain_about_the_clock_is_allowed_for(began, ours):
    assert adopted(sent=replace(SENT, uncertain=timedelta(seconds=20)), began=began) is ours


def test_without_a_mark_no_task_is_ours():
    assert not adopted(sent=replace(SENT, mark=None))


@pytest.mark.parametrize("creator", ["admin", "root", None])
def test_every_creator_may_be_us_where_our_user_is_not_known(creator):
    assert adopted(sent=replace(SENT, user=None), creator=creator)


@pytest.mark.parametrize(
    ("user", "creator", "ours"),
    [("admin", "admin", True), ("admin", None, False), (None, "admin", False), ("admin", "root", False)],
)
def test_task_after_a_refusal_is_ours_only_if_the_service_says_so(user, creator, ours):
    """Somebody else may have been faster, which is why it was refused."""
    assert adopted(sent=replace(SENT, refused=True, user=user), creator=creator) is ours


@pytest.mark.parametrize(
    ("restarts", "ours"),
    [("ab", True), ("a", False), ("abc", False), ("c", False)],
    ids=["its", "few", "more", "other"],
)
def test_agent_task_is_ours_if_it_restarts_just_the_hosts_that_were_sent(restarts, ours):
    agents = Agents(((51, "a"), (52, "b"), (53, "c")))
    sent = replace(SENT, members=frozenset("ab"))
    assert adopted(frozenset(restarts), sent, agents, name=AGENTS) is ours


def test_other_work_is_not_ours_where_the_target_shows_no_members():
    assert not adopted(NOTHING, replace(SENT, members=NOTHING))
    assert adopted(ALL, replace(SENT, members=NOTHING))


def test_all_tasks_that_may_be_ours_are_named():
    listed = [TaskOnTarget(record(number=number), ALL) for number in (83, 82, 80)]
    assert [task.id for task in own_tasks(SERVER_41, listed, SENT)] == [83, 82]


# The answer to the request


@pytest.mark.parametrize(
    ("fields", "is_ours"),
    [
        pytest.param({}, True, id="a task above the mark, of the kind"),
        pytest.param({"number": 80}, False, id="the id of the mark"),
        pytest.param({"number": 1}, False, id="an old id"),
        pytest.param({"name": CLUSTER}, False, id="another kind"),
        pytest.param({"name": "Neustart"}, True, id="a name that is not known"),
        pytest.param({"name": None}, True, id="no name"),
        pytest.param({"clusterId": 31}, True, id="its cluster"),
        pytest.param({"clusterId": 32}, False, id="another cluster"),
        pytest.param({"cluster": {"id": 32}}, False, id="another cluster, as an object"),
        pytest.param({"creator": "root"}, True, id="the creator does not matter"),
        pytest.param({"began": 0.0}, True, id="the begin does not matter"),
    ],
)
def test_answer_is_checked_by_id_kind_and_cluster(fields, is_ours):
    assert is_answer(record(**fields), SERVER_41, 80) is is_ours


def test_answer_is_believed_without_permission_to_read_tasks():
    assert is_answer(record(number=1), SERVER_41, None)


def test_answer_for_what_is_of_no_cluster_may_show_one():
    assert is_answer(record(name=AGENTS, clusterId=32), Agents(((51, "a"),)), 80)


def test_request_knows_its_task_by_the_creator():
    task = Task.from_api(record())
    assert SENT.may_have_started(task)
    assert SENT.has_started(task)
    assert not SENT.has_started(replace(task, creator=None))


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
        "another name of us",
        "our own, by an odd clock",
        "unknown creator",
        "unknown begin",
    ],
)
def test_answer_is_of_another_request_where_begin_and_creator_tell_it(fields, is_denied):
    assert SENT.is_denied_by(Task.from_api(record(**fields))) is is_denied
