# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A cluster that has another name in the next run: the name of a change, and the journal, still know it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NameTaken
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import Thing
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES, request, restart

NAMED = replace(request(wait=True), change="memory-2026-11-20")
STOCK = Cluster(31, "stock")


def renamed(service, kind):
    """The same target, as it is found after its cluster got another name."""
    service.cluster_name = "stock"
    case = RESTART_CASES[kind]
    return replace(case, target=STOCK if kind == "cluster" else replace(case.target, cluster=STOCK))


@pytest.mark.parametrize("kind", ["server", "zone", "cluster"])
def test_one_name_restarts_it_once(kind, service):
    assert restart(service, RESTART_CASES[kind], NAMED)["action"] == "submitted"
    again = restart(service, renamed(service, kind), NAMED)
    assert (again["action"], again["changed"], again["verified"]) == ("skipped", False, True)
    assert len(service.posts) == 1


@pytest.mark.parametrize("kind", ["zone", "cluster"])
def test_server_that_has_joined_since_needs_no_restart(kind, service):
    """So the others are not restarted again with it."""
    restart(service, RESTART_CASES[kind], NAMED)
    service.passes(60)
    first = service.servers_there[0]
    service.servers_there.append(Thing(49, 59, first.zone, started=service.now))
    assert restart(service, renamed(service, kind), NAMED)["action"] == "skipped"
    assert len(service.posts) == 1


def test_name_still_asks_for_the_same(service):
    restart(service, RESTART_CASES["server"], NAMED)
    other = replace(NAMED, until_effective={"memory_limit": "8G"})
    for check_mode in (False, True):
        with pytest.raises(NameTaken):
            restart(service, renamed(service, "server"), replace(other, check_mode=check_mode))


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_name_is_cleared_by_the_new_name_of_the_cluster(kind, service):
    restart(service, RESTART_CASES[kind], NAMED)
    case = renamed(service, kind)
    restart(service, case, NAMED)
    journal = journal_here()
    assert {each["cluster"] for each in journal.entries()["changes"]} == {"stock 31"}
    journal.clear(change=NAMED.change, cluster="stock 31")
    assert all(each["settled"] for each in journal.entries()["requests"])
    assert restart(service, case, NAMED)["action"] == "submitted"
    assert len(service.posts) == 2
