# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The diff of a restart."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.diff import restart_diff
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation

BOTH = frozenset("ab")


def shown(*members: Member) -> Observation:
    return Observation("RUNNING", members)


A, A_ANEW = (Member("a", "RUNNING", start_time=f"2026-05-04T03:0{n}:00+08:00") for n in (2, 5))
B, B_ANEW = (Member("b", "AVAILABLE", pids={"proxy": n, "agentd": n + 1}) for n in (7, 17))
C = Member("c", "RUNNING")


@pytest.mark.parametrize(
    ("before", "after", "restarted", "texts"),
    [
        pytest.param(
            shown(A),
            shown(A_ANEW),
            {"a"},
            ("a RUNNING started 2026-05-04T03:02:00+08:00\n", "a RUNNING started 2026-05-04T03:05:00+08:00\n"),
            id="start time",
        ),
        pytest.param(
            shown(B),
            shown(B_ANEW),
            {"b"},
            ("b AVAILABLE pids agentd 8, proxy 7\n", "b AVAILABLE pids agentd 18, proxy 17\n"),
            id="pids, by their names",
        ),
        pytest.param(shown(C), shown(C), {"c"}, ("c RUNNING\n", "c RUNNING\n"), id="neither"),
        pytest.param(
            shown(A),
            None,
            {"a"},
            ("a RUNNING started 2026-05-04T03:02:00+08:00\n", "a restarted\n"),
            id="not known yet",
        ),
        pytest.param(shown(C), None, {"c"}, ("c RUNNING\n", "c restarted\n"), id="not known yet, and nothing shown"),
        pytest.param(
            shown(B, C),
            None,
            {"c"},
            ("b AVAILABLE pids agentd 8, proxy 7\nc RUNNING\n", "b AVAILABLE pids agentd 8, proxy 7\nc restarted\n"),
            id="only one of them",
        ),
        pytest.param(shown(C), shown(Member("c", None)), {"c"}, ("c RUNNING\n", "c None\n"), id="no status"),
        pytest.param(shown(C), shown(), {"c"}, ("c RUNNING\n", ""), id="gone"),
        pytest.param(shown(), None, set(), ("", ""), id="nobody"),
    ],
)
def test_diff_shows_each_member_before_and_after(before, after, restarted, texts):
    assert restart_diff("cluster orders (id 31)", before, after, frozenset(restarted)) == {
        "before_header": "cluster orders (id 31)",
        "after_header": "cluster orders (id 31)",
        "before": texts[0],
        "after": texts[1],
    }
