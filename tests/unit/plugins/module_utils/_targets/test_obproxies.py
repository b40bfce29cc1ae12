# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""OBProxies: how they are found and observed, and which tasks the service ties to them, whatever these are called."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import TargetError
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.obproxies import ObProxies, ObProxy
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import response

FIRST, SECOND = ObProxy(81, "10.1.0.1:2883", 51), ObProxy(82, "10.1.0.2:2883", 52)
BOTH = ObProxies(91, "entry", (FIRST, SECOND))
RECORDS = [
    {"id": 81, "ip": "10.1.0.1", "sqlPort": 2883, "hostId": 51, "status": "RUNNING", "operateStatus": "NORMAL"},
    {"id": 82, "ip": "10.1.0.2", "sqlPort": 2883, "hostId": 52, "status": "RUNNING", "operateStatus": "NORMAL"},
]
ENTRY = {"id": 91, "name": "entry", "obproxies": RECORDS}
OTHER = {"id": 92, "name": "91", "obproxies": []}
NOTHING = frozenset[str]()
# Ids of hosts begin at 1.
NO_HOST = 0


def task(number, *tags, name="Offline obproxy", **fields):
    return {"id": number, "name": name, "status": "RUNNING", **({"tags": list(tags)} if tags else {}), **fields}


def touching(api, found, *, by_host=None, **query):
    """What touches both, of the tasks ``found``; ``by_host`` are those on each host, if that is asked for."""
    api.expect("tasks", **query, gives=found)
    for host, there in (by_host or {}).items():
        api.expect("tasks", hostId=host, **query, gives=there)
    return [(entry.record["id"], entry.restarts) for entry in BOTH.tasks(api.double, **query)]


# Found and observed


@pytest.mark.parametrize("cluster", ["91", "entry"])
@pytest.mark.parametrize("names", [["81", "82"], ["10.1.0.1:2883", "82", "81"]])
def test_ids_and_addresses_find_obproxies_once(names, cluster, api):
    api.expect("obproxy_clusters", gives=[OTHER, ENTRY])
    found = ObProxies.find(api.double, cluster, names)
    assert (found, found.first_observation) == (
        BOTH,
        BOTH.observe(api.expect("obproxy_cluster", 91, gives=ENTRY).double),
    )


def test_list_without_obproxies_is_completed_by_the_detail(api):
    api.expect("obproxy_clusters", gives=[{"id": 91, "name": "entry"}]).expect("obproxy_cluster", 91, gives=ENTRY)
    assert ObProxies.find(api.double, "entry", ["81"]) == replace(BOTH, proxies=(FIRST,))


@pytest.mark.parametrize(
    ("cluster", "name", "message"),
    [
        ("exit", "81", "obproxy_cluster: exit matches nothing; to choose from: 91, entry."),
        (
            "entry",
            "83",
            "obproxies: 83 matches nothing in OBProxy cluster entry (id 91); to choose from: 10.1.0.1:2883",
        ),
        ("entry", "10.1.0.1", "The port is missing: give 10.1.0.1:2883."),
    ],
)
def test_unknown_name_is_refused_with_choices(cluster, name, message, api):
    api.expect("obproxy_clusters", gives=[OTHER, ENTRY])
    with pytest.raises(TargetError) as raised:
        ObProxies.find(api.double, cluster, [name])
    assert message.split(";")[0] in str(raised.value)
    assert message.rpartition(": ")[2].rstrip(".") in str(raised.value)


def test_observation_has_each_status_and_the_one_that_all_share(api):
    down = {**RECORDS[1], "status": "UNAVAILABLE"}
    api.expect("obproxy_cluster", 91, gives={**ENTRY, "obproxies": [RECORDS[0], down]})
    members = (
        Member("10.1.0.1:2883", "RUNNING", serves=True),
        Member("10.1.0.2:2883", "UNAVAILABLE", serves=False),
    )
    assert BOTH.observe(api.double) == Observation(None, members)


def test_work_on_an_obproxy_is_in_flight(api):
    api.expect("obproxy_cluster", 91, gives={**ENTRY, "obproxies": [{**RECORDS[0], "operateStatus": "OPERATING"}]})
    observed = BOTH.observe(api.double)
    assert (observed.is_in_flight, observed.members[0].status, observed.members[0].serves) == (True, "OPERATING", False)
    # The second is gone.
    assert (observed.members[1].status, observed.members[1].serves) == (None, None)


def test_labels_and_results_name_all_of_them():
    one = replace(BOTH, proxies=(FIRST,))
    assert one.label == "OBProxy 10.1.0.1:2883 (id 81) of OBProxy cluster entry (id 91)"
    assert BOTH.label == "2 OBProxies (10.1.0.1:2883, 10.1.0.2:2883) of OBProxy cluster entry (id 91)"
    assert BOTH.result() == {
        "kind": "obproxies",
        "obproxy_cluster_id": 91,
        "obproxy_cluster_name": "entry",
        "obproxies": [{"id": 81, "name": "10.1.0.1:2883"}, {"id": 82, "name": "10.1.0.2:2883"}],
    }
    assert BOTH.unchanged_facts(frozenset({FIRST.address})) == {
        "skipped_obproxies": [{"id": 82, "name": "10.1.0.2:2883"}]
    }
    assert BOTH.unchanged_facts(None) == {"skipped_obproxies": None}


def test_only_members_that_need_it_are_restarted(api):
    api.expect("restart_obproxies", 91, [82], gives=response({}))
    BOTH.restart(api.double, frozenset({SECOND.address}))


# Which tasks are on them


@pytest.mark.parametrize("name", ["Offline obproxy", "Restart obproxy", "重启 OBProxy", None])
def test_task_that_names_obproxies_is_tied_to_these_whatever_its_name_is(name, api):
    tagged = task(93, {"obproxyId": 81}, {"obproxyId": 82}, name=name)
    in_context = task(92, name=name, context={"listMap": {"obproxy_server_ids": [82, 99]}})
    of_others = task(91, {"obproxyId": 83}, name=name)
    assert touching(api, [tagged, in_context, of_others]) == [
        (93, {FIRST.address, SECOND.address}),
        (92, {SECOND.address}),
    ]


def test_task_of_a_known_other_kind_is_none_of_theirs(api):
    known = [
        task(93, {"obproxyId": 81}, name="Restart OCP agent"),
        task(92, name="restart ob server"),
        task(91, {"serverId": 41}),
        task(90, {"zoneName": "zone1"}),
        task(89, {"arbitrationServiceId": 61}),
        task(88, cluster={"id": 31, "name": "orders"}),
    ]
    assert touching(api, known) == []


def test_untied_task_on_a_host_of_theirs_may_be_theirs(api):
    """The filter need not know the host of another one, which is denied until its own record is read."""
    on_first, elsewhere, on_another = task(93), task(92), task(91, hostId=57)
    by_host = {51: [on_first], 52: [], NO_HOST: []}
    for host, gives in by_host.items():
        api.expect("tasks", hostId=host, gives=gives)
    found = BOTH.touching(api.double, [on_first, elsewhere, on_another])
    assert [(entry.record["id"], entry.restarts, entry.is_denied) for entry in found] == [
        (93, NOTHING, False),
        (92, NOTHING, True),
    ]


def test_task_that_the_filter_by_host_alone_finds_counts(api):
    """The list may be behind. A restart of a server of that host is none of theirs."""
    tied, untied, of_server = task(95, {"obproxyId": 82}), task(94), task(96, name="Restart OB server")
    for host, gives in {51: [of_server, untied], 52: [tied], NO_HOST: []}.items():
        api.expect("tasks", hostId=host, gives=gives)
    found = BOTH.touching(api.double, [task(93)])
    assert [(entry.record["id"], entry.restarts, entry.is_denied) for entry in found] == [
        (94, NOTHING, False),
        (95, {SECOND.address}, False),
        (93, NOTHING, True),
    ]


def test_untied_task_may_be_theirs_where_the_filter_by_host_is_ignored(api):
    found = [task(93), task(92)]
    by_host = {51: found, 52: found, NO_HOST: found}
    assert touching(api, found, by_host=by_host) == [(93, NOTHING), (92, NOTHING)]


def test_untied_task_may_be_theirs_where_no_host_is_shown(api):
    hidden = replace(BOTH, proxies=(replace(FIRST, host_id=None), SECOND))
    api.expect("tasks", limit=30, gives=[task(93)])
    assert [entry.restarts for entry in hidden.tasks(api.double, limit=30)] == [NOTHING]


def test_tasks_that_have_ended_are_asked_for_by_host(api):
    """A whole service may have too many."""
    first, shared = task(91, {"obproxyId": 81}), task(92, {"obproxyId": 82})
    api.expect("tasks", hostId=51, status="SUCCESSFUL", gives=[shared, first])
    api.expect("tasks", hostId=52, status="SUCCESSFUL", gives=[shared])
    assert [entry.record["id"] for entry in BOTH.tasks(api.double, status="SUCCESSFUL")] == [92, 91]
