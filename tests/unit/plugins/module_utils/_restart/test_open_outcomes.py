# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A process remembers its requests whose outcome is open."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OutcomeUnknown
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.open_outcomes import (
    close_outcome,
    forget_all,
    open_request,
    remember_open,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart import _Restart
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.task_adoption import Sent
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FakeOcp, at, lost
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES, SERVER, request

SENT = Sent(at(0), timedelta(0), 80, frozenset(), None)
TARGET = SERVER.target


def test_open_request_is_known_until_its_outcome_is(service):
    assert open_request(service, TARGET) is None
    remember_open(service, TARGET, SENT)
    assert open_request(service, TARGET) is SENT
    close_outcome(service, TARGET)
    assert open_request(service, TARGET) is None
    close_outcome(service, TARGET)


def test_last_request_stands(service):
    remember_open(service, TARGET, SENT)
    later = replace(SENT, mark=90)
    remember_open(service, TARGET, later)
    assert open_request(service, TARGET) is later


@pytest.mark.parametrize("other", [name for name in RESTART_CASES if name != "server"])
def test_other_targets_have_none(other, service):
    remember_open(service, TARGET, SENT)
    assert open_request(service, RESTART_CASES[other].target) is None


def test_other_services_have_none(service, time_passes):
    remember_open(service, TARGET, SENT)
    assert open_request(FakeOcp(time_passes, url="https://other.test"), TARGET) is None
    assert open_request(FakeOcp(time_passes), TARGET) is SENT


def test_new_process_knows_of_none(service):
    remember_open(service, TARGET, SENT)
    forget_all()
    assert open_request(service, TARGET) is None


def test_request_that_another_thread_leaves_open_meanwhile_is_not_sent_again(service):
    """Both have begun before either has sent: the second one looks once the first has given up."""
    first, second = (_Restart(service, TARGET, request(), service.time.clock) for _thread in range(2))
    service.lose_before = [lost()]
    with pytest.raises(OutcomeUnknown):
        first.run()
    with pytest.raises(OutcomeUnknown, match="this process requested one"):
        second.run()
    assert len(service.posts) == 1
