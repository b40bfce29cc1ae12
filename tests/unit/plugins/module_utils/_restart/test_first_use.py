# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""When the name of a change is first used: at the first look, also where that run is killed while it waits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotVerified
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_process, journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import refused
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES, failure, request, restart

NAMED = {name: case for name, case in RESTART_CASES.items() if name in ("server", "arbitration service")}
ASKED = replace(request(wait=True), change="memory-2026-11-20")


class Killed(BaseException):
    """The run was killed."""


def by_somebody_else(service, case):
    if case is NAMED["server"]:
        service.restart_server(31, 41, freeze_server=True, force=False)
    else:
        service.restart_arbitration_service(61)


def is_killed_after(service, lists):
    left = iter(range(lists))

    def look():
        if next(left, None) is None:
            raise Killed

    service.after_list = look


@pytest.fixture
def killed(service):
    """A run that waits for a task which only its target names, and is killed; later all is shown."""

    def run(case, asked=ASKED):
        service.list_lacks, service.failing["task"] = 9e9, [refused(404)] * 50
        by_somebody_else(service, case)
        is_killed_after(service, 9)
        with pytest.raises(Killed):
            restart(service, case, asked)
        another_process()
        service.after_list = lambda: None
        service.list_lacks, service.failing = 0.0, {}
        service.passes(100)

    return run


@pytest.mark.parametrize("case", NAMED.values(), ids=NAMED)
def test_restart_that_ran_at_the_first_use_is_no_proof_though_nothing_showed_it_then(case, killed, service):
    killed(case)
    assert failure(service, case, ASKED).__class__ is NotVerified


@pytest.mark.parametrize("case", NAMED.values(), ids=NAMED)
def test_restart_since_a_run_that_was_killed_while_it_waited_for_a_task_to_show_counts(case, killed, service):
    """The target names a task that no answer shows yet; the run has used the name, but has decided nothing."""
    killed(case)
    by_somebody_else(service, case)
    service.passes(200)
    if case is NAMED["server"]:
        # The start that shows may be that of the task which ran at the first use.
        assert failure(service, case, ASKED).__class__ is NotVerified
    else:
        assert restart(service, case, ASKED)["action"] == "skipped"
    assert len(service.posts) == 2


@pytest.mark.parametrize("case", NAMED.values(), ids=NAMED)
def test_check_mode_uses_no_name_while_it_waits(case, killed):
    killed(case, replace(ASKED, check_mode=True))
    assert journal_here().entries()["changes"] == []
