# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors

from __future__ import annotations

import json
import stat

import pytest
from slices import Slice, cut, cut_problems, inventory_of, write_folder

LISTED = {
    "_meta": {"hostvars": {host: {"ocp_cluster_id": number} for number, host in enumerate(("a", "b", "c"), start=1)}},
    "all": {"children": ["ungrouped", "ocp_clusters"]},
    "ocp_clusters": {"children": ["ocp_clusters_status_RUNNING"], "hosts": ["a", "b", "c"]},
    "ocp_clusters_status_RUNNING": {"hosts": ["a", "b"]},
    "ocp_clusters_status_STOPPED": {"hosts": ["c"]},
}


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_each_host_is_in_exactly_one_slice(count):
    hosts = [f"cluster{number:02}" for number in range(12)]
    slices = cut(reversed(hosts), count)
    assert cut_problems(slices, hosts) == []
    assert len(slices) == count
    assert max(map(len, slices)) - min(map(len, slices)) <= 1
    # The order of the inventory does not matter.
    assert slices == cut(hosts, count)


def test_slices_are_those_of_awx():
    assert cut(["d", "b", "a", "c", "e"], 2) == [["a", "c", "e"], ["b", "d"]]


@pytest.mark.parametrize(
    ("slices", "problem"),
    [
        ([["a", "b"], ["b", "c"]], "b is in 2 slices"),
        ([["a"], ["b"]], "c is in no slice"),
        ([["a", "b"], ["c", "d"]], "d is in a slice, and not in the inventory"),
    ],
)
def test_slices_that_overlap_or_miss_a_host_are_found(slices, problem):
    assert cut_problems(slices, ["a", "b", "c"]) == [problem]


def test_inventory_of_a_slice_has_its_hosts_alone():
    found = inventory_of(LISTED, ["a", "c"])["all"]
    assert found["hosts"] == {"a": {"ocp_cluster_id": 1}, "c": {"ocp_cluster_id": 3}}
    assert {group: set(facts["hosts"]) for group, facts in found["children"].items()} == {
        "ocp_clusters": {"a", "c"},
        "ocp_clusters_status_RUNNING": {"a"},
        "ocp_clusters_status_STOPPED": {"c"},
    }


def test_password_is_in_the_environment_of_a_private_folder_alone(tmp_path):
    part = Slice(["a"], "slice1", "a-secret")
    write_folder(tmp_path / "slice", part, "http://127.0.0.1:1", LISTED, {"change": "2026-05-04T03:00:00Z"})
    files = [path for path in (tmp_path / "slice").rglob("*") if path.is_file()]
    assert [path.name for path in files if "a-secret" in path.read_text()] == ["envvars"]
    assert stat.S_IMODE((tmp_path / "slice").stat().st_mode) == 0o700
    assert json.loads((tmp_path / "slice/env/extravars").read_text()) == {"change": "2026-05-04T03:00:00Z"}
    assert "a-secret" not in repr(part)
