# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The page of an evidence document: its times are in one zone."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from ansible_collections.oceanbase.ocp.plugins.plugin_utils._evidence import evidence_page

ZONE = timezone(timedelta(hours=8))


def test_time_at_which_values_were_set_is_in_the_zone_of_the_starts():
    found = evidence_page._with_times_in(ZONE, {"parameters": [{"set_at": "2026-11-29T00:32:25+00:00"}]})
    [parameter] = found["parameters"]
    assert datetime.fromisoformat(parameter["set_at"]).utcoffset() == timedelta(hours=8)
