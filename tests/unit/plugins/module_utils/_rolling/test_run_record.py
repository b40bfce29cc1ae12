# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The record of a run: what its lines say, when it stops, and what a killed process leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import SYSTEM_CLOCK
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.run_record import (
    ENDED,
    FAILED,
    STOPPED,
    RunRecord,
    duration_words,
)


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "run.record"
    path.touch()
    return RunRecord(str(path), "a", 300, 20, 0)


def entries(record):
    with Path(record.path).open() as file:
        return [json.loads(line.split(" ", 2)[2]) for line in file if line.endswith("}\n")]


def test_each_end_says_how_far_it_is_what_failed_and_what_is_left(record):
    record = replace(record, most=1)
    assert record.note(ENDED, 900, {}).words == "1 of 300 clusters, about 3 h 44 min left"
    for _more in range(34):
        record.note(ENDED, 900, {})
    assert record.note(FAILED, 2, {}).words == "36 of 300 clusters, 1 failed, about 3 h 18 min left"
    # What was stopped has not ended, but is not left to do in this run either.
    assert record.note(STOPPED, 1, {}).words == "36 of 300 clusters, 1 failed, about 3 h 17 min left"


def test_time_left_is_told_by_successes_and_while_the_run_goes_on(record):
    record = replace(record, most=1)
    assert record.note(FAILED, 0.1, {}).words == "1 of 300 clusters, 1 failed"
    assert record.note(ENDED, 900, {}).words == "2 of 300 clusters, 1 failed, about 3 h 44 min left"
    assert record.note(FAILED, 900, {}).words == "3 of 300 clusters, 2 failed"


def test_last_ones_are_not_shared_by_all_forks(record):
    last = replace(record, clusters=3)
    last.note(ENDED, 600, {})
    assert last.note(ENDED, 600, {}).words == "2 of 3 clusters, about 10 min left"
    assert last.note(ENDED, 600, {}).words == "3 of 3 clusters"


def test_newest_ones_tell_how_long_the_rest_takes(record):
    for _quick in range(60):
        record.note(ENDED, 1, {})
    for _slow in range(50):
        found = record.note(ENDED, 600, {})
    assert found.words == "110 of 300 clusters, about 1 h 35 min left"


def test_entry_has_what_became_of_the_cluster(record):
    record.note(ENDED, 3, {"results": [{"name": "10.0.0.1:2882"}]})
    replace(record, host="b").note(FAILED, 4, {"message": "two\nlines"})
    assert entries(record) == [
        {"host": "a", "results": [{"name": "10.0.0.1:2882"}]},
        {"host": "b", "message": "two\nlines"},
    ]


@pytest.mark.parametrize(("most", "stops"), [(None, False), (0, True), (1, False)])
def test_run_stops_when_more_failed_than_may(record, most, stops):
    limited = replace(record, most=most)
    assert limited.objection() == ""
    record.note(FAILED, 4, {})
    assert limited.objection() == ("1 of 300 clusters of this run failed, and max_failures=0" if stops else "")


def test_half_a_line_of_a_killed_process_spoils_no_other(record):
    record.note(ENDED, 3, {"n": 1})
    with Path(record.path).open("a") as file:
        file.write('ended 7.0 {"n"')
    record.note(ENDED, 3, {"n": 2})
    assert [entry["n"] for entry in entries(record)] == [1, 2]


def test_record_that_is_not_there_is_refused(tmp_path):
    record = RunRecord(str(tmp_path), "a", 1, 1, 0)
    for use in (record.objection, lambda: record.note(ENDED, 1, {})):
        with pytest.raises(OptionError, match=r"^run: the record .* cannot be used: Is a directory\.$"):
            use()


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (89, "89 s"), (100, "2 min"), (3569, "59 min"), (3600, "1 h 0 min")]
)
def test_durations_in_words(seconds, words):
    assert duration_words(seconds) == words


def test_first_server_that_takes_long_foretells_the_others_of_its_cluster(record):
    time = [1000.0]
    fleet = replace(record, clusters=2, forks=2, clock=replace(SYSTEM_CLOCK, wall=lambda: time[0]))
    replace(fleet, host="slow").note_under_way(3, 0.0)
    time[0] += 15
    assert fleet.note(ENDED, 15, {}).words == "1 of 2 clusters, about 30 s left"


def test_time_left_is_not_told_while_nothing_tells_it(record):
    """A cluster failed at once, as when it is blocked, and the first server of another one has just begun."""
    time = [1000.0]
    fleet = replace(record, clusters=2, forks=2, most=1, clock=replace(SYSTEM_CLOCK, wall=lambda: time[0]))
    replace(fleet, host="other").note_under_way(3, 0.0)
    time[0] += 0.1
    assert fleet.note(FAILED, 0.1, {}).words == "1 of 2 clusters, 1 failed"


def test_time_left_is_at_least_that_of_the_slowest_cluster_in_progress(record):
    time = [1000.0]
    fleet = replace(record, clusters=4, forks=4, clock=replace(SYSTEM_CLOCK, wall=lambda: time[0]))
    big = replace(fleet, host="big")
    big.note_under_way(30, 0.0)
    for host in ("b", "c"):
        replace(fleet, host=host).note_under_way(1, 0.0)
    time[0] += 60
    big.note_under_way(29, 60.0)
    # The mean of the clusters that have ended says 60 seconds for each.
    assert fleet.note(ENDED, 60, {}).words == "1 of 4 clusters, about 29 min left"
    time[0] += 120
    # Its server takes longer than those before.
    assert replace(fleet, host="b").note(ENDED, 180, {}).words == "2 of 4 clusters, about 28 min left"
    big.note(FAILED, 180, {})
    assert replace(fleet, host="c").note(ENDED, 180, {}).words == "4 of 4 clusters, 1 failed"


def test_time_left_counts_the_servers_of_clusters_that_have_not_begun(record):
    """The next cluster may be larger than all before."""
    fleet = replace(record, clusters=2, forks=1, servers=11)
    fleet.note_under_way(2, 0.0)
    assert fleet.note(ENDED, 6, {"planned": 2}).words == "1 of 2 clusters, about 27 s left"


def test_pace_of_a_cluster_in_progress_tells_of_those_that_have_not_begun(record):
    time = [1000.0]
    fleet = replace(record, clusters=3, forks=2, servers=23, clock=replace(SYSTEM_CLOCK, wall=lambda: time[0]))
    big = replace(fleet, host="big")
    big.note_under_way(10, 0.0)
    time[0] += 5
    big.note_under_way(9, 5.0)
    # A cluster with nothing to do tells no pace; 9 and 13 servers of 5 seconds are left for two forks.
    assert fleet.note(ENDED, 1, {"planned": 0}).words == "1 of 3 clusters, about 55 s left"


def test_record_in_a_folder_that_is_not_there_is_refused(record, tmp_path):
    record.check()
    with pytest.raises(OptionError, match=r"^run: the record .* cannot be used: .*/no is not a folder to write to\.$"):
        replace(record, path=str(tmp_path / "no/run.record")).check()
