# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the options of signs of trouble ask for together."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.restart_options import watch

LIMIT = {"name": "sql_rt", "most": 30.0, "rise": None, "samples": 5, "seconds": 120}


@pytest.mark.parametrize(
    ("stop_on", "limits", "checked"),
    [
        (None, [], None),
        (None, [LIMIT], {"metrics"}),
        (["lag"], [LIMIT], {"lag"}),
        (["lag", "metrics"], [LIMIT], {"lag", "metrics"}),
        (["lag", "metrics"], [], {"lag"}),
        (["metrics"], [], None),
    ],
)
def test_limits_of_metrics_are_checked_alone_or_if_stop_on_has_them(stop_on, limits, checked):
    found = watch({"stop_on": stop_on, "max_lag": 5, "metric_limits": limits})
    assert (None if found is None else {sign.value for sign in found.checked}) == checked
