# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A run that is postponed uses the name: a start that OCP shows only later, of a restart before that, is not since."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER, at
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES, request, restart


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("pause", [30, 3600])
def test_late_start_of_an_earlier_restart_is_not_since_the_name_of_a_postponed_run(pause, waits, service):
    case = RESTART_CASES["server"]
    service.start_shown_late = 150.0
    service.begin(SERVER, service.servers_there[:1], ago=60, seconds=10)
    named = replace(request(wait=waits, seconds=600), change="memory")
    first = restart(service, case, replace(named, finish_before=at(service.now) - timedelta(seconds=1)))
    assert (first["action"], service.posts) == ("postponed", [])
    service.passes(pause)
    service.start_shown_late = 0.0
    result = restart(service, case, named)
    assert (result["action"], len(service.posts)) == ("submitted", 1)
