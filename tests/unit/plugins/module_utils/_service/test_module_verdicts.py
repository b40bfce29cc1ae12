# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which module works by what was found: all is well, then one thing is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.findings import (
    Answer,
    Fact,
    Filter,
    Findings,
    Heed,
    Read,
    Shown,
    Verdict,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.module_verdicts import (
    OTHERS,
    RESTARTS,
    Works,
    module_verdicts,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import clock_ahead
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import MODULES, ROOT, WITHOUT_SERVICE

READS = (
    *("time", "clusters", "version", "cluster_detail", "zones", "servers", "tenants", "parameters", "hosts", "agent"),
    *("agent_plain", "arbitration_services", "arbitration_service", "tasks", "task", "subtask_log", "alarms"),
    *("obproxy_clusters", "obproxy_cluster"),
)
FACTS = ("operating_task", "task_tags", "server_start", "agent_start", "agent_pids", "root_server", "parameters")
OF_DATABASES = {
    *(
        "server_restart",
        "zone_restart",
        "cluster_restart",
        "rolling_restart",
        "cluster_rolling_restart",
        "fleet_restart",
    )
}
OF_AGENTS = {"agent_restart", "agent_rolling_restart"}
OF_ARBITRATION = {"arbitration_service_restart", "arbitration_service_rolling_restart"}
NEED_INSTANT = {
    *(
        "rolling_restart",
        "cluster_rolling_restart",
        "fleet_restart",
        "agent_rolling_restart",
        "arbitration_service_rolling_restart",
    )
}
OF_OBPROXIES = {"obproxy_restart"}
OF_PARAMETERS = {"cluster_parameter_info", "cluster_parameter", "cluster_offline_time"}
EVERY = OF_DATABASES | OF_AGENTS | OF_ARBITRATION | OF_OBPROXIES


def good(**changes) -> Findings:
    record = {"id": 1}
    return Findings(
        clock_ahead(0.0),
        "admin",
        **{
            "reads": {name: Read(name, f"/{name}", Answer.OK) for name in READS},
            "filters": [Filter(name, Heed.WORKS, "") for name in ("sort", "status", "name", "clusterId", "hostId")],
            "clusters": [record],
            "zones": [record],
            "servers": [record],
            "hosts": [record],
            "agent": record,
            "services": [record],
            "obproxy_clusters": [record],
            "tasks": [record],
            **changes,
        },
    )


def judged(found: Findings, **shown: Shown) -> dict[str, tuple[Works, str]]:
    facts = [Fact(name, shown.get(name, Shown.SHOWN), "1 of 3") for name in FACTS]
    return {each.name: (each.works, "; ".join(each.why)) for each in module_verdicts(found, facts)}


def worse(found: Findings, **shown: Shown) -> dict[Works, set[str]]:
    """The modules that do not work as well as if all were well, by how well they do; and no word is lost."""
    usual, now = judged(good()), judged(found, **shown)
    changed: dict[Works, set[str]] = {}
    for name, (works, why) in now.items():
        if (works, why) != usual[name]:
            assert why
            changed.setdefault(works, set()).add(name)
    return changed


def answered(**answers: Answer) -> Findings:
    found = good()
    found.reads |= {name: replace(found.reads[name], answer=answer, why="so") for name, answer in answers.items()}
    return found


def ignoring(name: str) -> Findings:
    found = good()
    found.filters = [replace(each, state=Heed.IGNORED) if each.name == name else each for each in found.filters]
    return found


def test_each_module_and_each_playbook_that_restarts_is_judged():
    no_restarts = {"ocp_check", "ocp_status", "demo", "task_report"}
    playbooks = {path.stem for path in (ROOT / "playbooks").glob("*.yml")} - no_restarts
    # It works as well as cluster_parameter and rolling_restart, of which it is made.
    playbooks -= {"parameter_rollout"}
    assert RESTARTS.keys() | OTHERS.keys() == {*MODULES, *playbooks} - {"ocp_info", *WITHOUT_SERVICE}
    assert RESTARTS.keys() == EVERY


def test_all_is_well():
    found = judged(good())
    less = {name for name, (works, _why) in found.items() if works is Works.LESS}
    assert less == OF_ARBITRATION | OF_OBPROXIES
    assert {works for name, (works, _why) in found.items() if name not in less} == {Works.FULL}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            answered(clusters=Answer.FORBIDDEN),
            {Works.NO: OF_DATABASES | OF_PARAMETERS | {"cluster_wait", "cluster_info"}},
        ),
        (good(clusters=[]), {Works.NO: OF_DATABASES | OF_PARAMETERS | {"cluster_wait", "cluster_info"}}),
        (good(hosts=[]), {Works.NO: OF_AGENTS | {"host_info"}}),
        (answered(agent=Answer.ABSENT), {}),
        (answered(agent_plain=Answer.FAILED), {}),
        (answered(agent=Answer.ABSENT, agent_plain=Answer.ABSENT), {Works.NO: OF_AGENTS}),
        (
            answered(arbitration_services=Answer.ABSENT),
            {Works.ABSENT: OF_ARBITRATION | {"arbitration_service_info"}},
        ),
        (answered(arbitration_services=Answer.FORBIDDEN), {Works.NO: OF_ARBITRATION | {"arbitration_service_info"}}),
        (answered(arbitration_service=Answer.FAILED), {Works.NO: OF_ARBITRATION}),
        (good(services=[]), {Works.ABSENT: OF_ARBITRATION}),
        (answered(obproxy_clusters=Answer.ABSENT), {Works.ABSENT: OF_OBPROXIES | {"obproxy_info"}}),
        (answered(obproxy_clusters=Answer.FORBIDDEN), {Works.NO: OF_OBPROXIES | {"obproxy_info"}}),
        (answered(obproxy_cluster=Answer.FAILED), {Works.NO: OF_OBPROXIES}),
        (good(obproxy_clusters=[]), {Works.ABSENT: OF_OBPROXIES}),
        (answered(parameters=Answer.ABSENT), {Works.ABSENT: OF_PARAMETERS}),
        (answered(parameters=Answer.FORBIDDEN), {Works.NO: OF_PARAMETERS}),
        (answered(parameters=Answer.SKIPPED), {Works.UNKNOWN: OF_PARAMETERS}),
        (answered(task=Answer.FAILED), {Works.LESS: EVERY, Works.NO: {"task", "task_wait", "task_info"}}),
        (answered(tasks=Answer.SKIPPED), {Works.UNKNOWN: EVERY | {"cluster_wait", "task", "task_wait", "task_info"}}),
        (answered(cluster_detail=Answer.ABSENT, time=Answer.ABSENT, version=Answer.FAILED), {}),
        # In the cluster's own record there are some.
        (answered(servers=Answer.FAILED, zones=Answer.FAILED), {}),
        (good(servers=[{"ip": "10.0.0.1"}]), {Works.NO: OF_DATABASES | {"cluster_wait"}}),
        (ignoring("sort"), {Works.LESS: EVERY}),
        (ignoring("status"), {Works.LESS: EVERY}),
        (ignoring("clusterId"), {Works.LESS: OF_DATABASES}),
        (ignoring("hostId"), {}),
        (ignoring("name"), {}),
    ],
)
def test_what_a_read_costs(found, expected):
    changed = worse(found)
    changed = {
        works: names - {"fleet_restart_info", "cluster_rolling_restart_info", "server_info"}
        for works, names in changed.items()
    }
    assert changed == expected


PARTS = {"server_restart", "zone_restart", "fleet_restart", "rolling_restart", "cluster_rolling_restart"} | OF_AGENTS


@pytest.mark.parametrize(
    ("fact", "shown", "names"),
    [
        ("task_tags", Shown.ABSENT, PARTS | OF_OBPROXIES),
        ("task_tags", Shown.PARTLY, PARTS | OF_OBPROXIES),
        ("task_tags", Shown.UNKNOWN, set()),
        ("server_start", Shown.PARTLY, OF_DATABASES | {"fleet_restart_info", "cluster_rolling_restart_info"}),
        ("server_start", Shown.UNKNOWN, set()),
        ("agent_start", Shown.ABSENT, OF_AGENTS),
        ("agent_pids", Shown.ABSENT, OF_AGENTS),
        ("root_server", Shown.ABSENT, {"rolling_restart", "cluster_rolling_restart", "cluster_rolling_restart_info"}),
        ("operating_task", Shown.ABSENT, set()),
        ("parameters", Shown.ABSENT, OF_PARAMETERS),
        ("parameters", Shown.PARTLY, set()),
    ],
)
def test_what_a_fact_costs(fact, shown, names):
    assert worse(good(), **{fact: shown}) == ({Works.LESS: names} if names else {})


def test_without_tags_and_filter_no_restart_is_joined():
    heard = judged(good(), task_tags=Shown.ABSENT)["server_restart"][1]
    unheard = judged(ignoring("hostId"), task_tags=Shown.ABSENT)["server_restart"][1]
    assert ("by its host alone" in heard, "is never joined" in unheard) == (True, True)


@pytest.mark.parametrize(("shown", "more"), [(Shown.SHOWN, False), (Shown.UNKNOWN, True)])
def test_forbidden_tasks(shown, more):
    works, why = judged(answered(tasks=Answer.FORBIDDEN), operating_task=shown)["server_restart"]
    assert (works, "nothing else shows" in why) == (Works.LESS, more)


@pytest.mark.parametrize(
    ("clock", "words"),
    [
        (clock_ahead(301.0), "the clocks are 301 seconds apart"),
        (clock_ahead(-7200.0), "the clocks are 7200 seconds apart"),
        (clock_ahead(0.0, 7200.0), "disagree about the time"),
    ],
)
def test_clock_that_is_not_believed(clock, words):
    found = good()
    found.clock = clock
    changed = worse(found)
    assert changed == {
        Works.NO: NEED_INSTANT | {"fleet_restart_info", "cluster_rolling_restart_info"},
        Works.LESS: EVERY - NEED_INSTANT,
    }
    assert words in judged(found)["server_restart"][1]


def test_clock_that_is_corrected_costs_nothing():
    found = good()
    found.clock = clock_ahead(299.0)
    assert worse(found) == {}


def test_clock_that_is_not_shown_is_said():
    found = good()
    found.clock = ServiceClock()
    assert worse(found) == {Works.LESS: EVERY}


@pytest.mark.parametrize("verdict", [Verdict.NO_OCP, Verdict.UNREACHABLE, Verdict.CREDENTIALS_REFUSED])
def test_nothing_works_where_nothing_could_be_asked(verdict):
    assert {works for works, _why in judged(good(verdict=verdict)).values()} == {Works.NO}
