# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Times that a controller has noted by its own clock, by the clocks of the service and by that of another one."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.back import noted_span
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import clock_ahead

NOTED = 1_000_000.0


@pytest.mark.parametrize(
    ("ahead", "offsets", "first", "last"),
    [
        pytest.param((0.0, 1.0), [0.0], 0, 1, id="by this clock"),
        pytest.param((0.0, 1.0), [0.0, 600.0], 0, 601, id="by this clock, and another application server is known now"),
        pytest.param((7200.0, 7201.0), [0.0], 7200, 7201, id="by the clock of another controller"),
        pytest.param((7200.0, 7201.0), [0.0, 600.0], 6600, 7801, id="which knew one of two application servers"),
        pytest.param(None, [30.0], 30, 31, id="how far it was is not noted"),
    ],
)
def test_noted_time_lies_between_what_the_clocks_of_the_service_may_have_shown(ahead, offsets, first, last):
    span = noted_span(NOTED, ahead, clock_ahead(*offsets))
    assert (span.first - NOTED, span.last - NOTED) == pytest.approx((first, last), abs=1.0)
