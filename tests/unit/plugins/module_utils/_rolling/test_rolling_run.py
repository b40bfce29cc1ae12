# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A rolling restart in one call: its lines, what stops it, and what it tells of that."""

from __future__ import annotations

import re

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.cli_hints import Hints
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    JournalError,
    NotAllRestarted,
    OptionError,
    TargetError,
    attached_facts,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling import cluster_run
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.cluster_run import ClusterRun
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import RollingRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_run import Ahead, RollingRun, roll_clusters
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.run_record import RunRecord
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.sign_rules import Sign, Watch
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER, at

CHANGE = at(-600)
NAMES = ["10.1.0.1:2882", "10.1.0.2:2882", "10.1.0.3:2882"]


@pytest.fixture
def roll(service):
    def run(
        clusters=("orders",),
        *,
        canary=0,
        soak=0.0,
        max_servers=None,
        check_mode=False,
        steps=False,
        change=None,
        watch=None,
        record=None,
        ahead=None,
        among_hosts=False,
    ):
        run.lines, run.notes = [], []
        policy = PollPolicy(7200, 10, run.show, announce=run.show, steps=steps, note=run.notes.append)
        since = CHANGE if change is None else None
        restart = RestartRequest(
            check_mode,
            True,
            policy,
            since,
            change=change,
            safety=Safety(healthy=True),
            safety_timeout=60,
            hints=Hints({"max_servers": "rolling_restart_max_servers"}),
        )
        plan = RollingRequest(
            [*clusters], None, None, 1, Strategy.SERVER, since, canary=canary, change=change, watch=watch
        )
        wanted = RollingRun(ClusterRun(plan, restart, True, None, soak, record), 0, max_servers, ahead, among_hosts)
        return roll_clusters(service, wanted, service.time.clock)

    run.show = lambda line, _failed: run.lines.append(line.strip())
    return run


def restarted(service):
    return [sent[1] for _call, sent in service.posts]


def test_each_restart_has_two_lines_and_the_plan_one_for_each_zone(service, roll):
    found = roll()
    assert restarted(service) == [41, 42, 43]
    assert (found["changed"], found["planned"], found["failures"], found["untouched"]) == (True, 3, [], [])
    assert [(one["cluster"], one["name"], one["outcome"]) for one in found["results"]] == [
        ("orders", name, "submitted") for name in NAMES
    ]
    assert [len(batch["servers"]) for batch in found["plan"]["batches"]] == [1, 1, 1]
    assert roll.lines[0] == "3 to restart, 0 left alone"
    assert [line.partition(":")[0] for line in roll.lines[1:4]] == ["orders zone1", "orders zone2", "orders zone3"]
    own = [line for line in roll.lines if re.match(r"\d of 3, ", line)]
    assert own[1].startswith("2 of 3, 10.1.0.2:2882 (zone2) restarted in ")
    assert own[1].rpartition(", about ")[0].endswith(", 1 left")
    assert own[2].endswith(", 0 left")
    assert roll.lines[-1] == "3 servers: 3 restarted, 0 left alone, 0 failed, 0 not touched"
    assert len(roll.lines) == 1 + 3 + 2 * 3 + 1


def test_each_line_names_the_cluster_where_other_hosts_show_lines_too(roll):
    """With a host for each cluster several calls show theirs in turn."""
    roll(among_hosts=True)
    assert [line for line in roll.lines if "orders" not in line] == []
    assert [line for line in roll.lines if line.count("orders") > 1] == []
    assert roll.lines[0] == "orders: 3 to restart, 0 left alone"
    assert [line for line in roll.lines if re.match(r"orders: \d of 3, ", line)][2].endswith(", 0 left")
    assert roll.lines[-1].startswith("orders: 3 servers: 3 restarted, ")


def test_run_with_nothing_to_do_has_one_line(service, roll):
    roll()
    service.posts.clear()
    again = roll()
    assert (service.posts, again["changed"], again["left_alone"], roll.lines) == (
        [],
        False,
        3,
        ["0 to restart, 3 left alone"],
    )
    roll(steps=True)
    assert len([line for line in roll.lines if line.startswith("left alone: 10.1.0.")]) == 3


def test_what_began_and_what_ended_is_noted(roll):
    roll()
    assert [next(iter(note)) for note in roll.notes] == ["plan", *["asked", "began", "ended"] * 3]
    asked, began, ended = (note[key] for note, key in zip(roll.notes[1:], ("asked", "began", "ended"), strict=False))
    assert (asked["task_id"], asked["members"], began["members"]) == (None, [NAMES[0]], [NAMES[0]])
    assert (began["task_id"], ended["name"]) == (1001, NAMES[0])


def test_failure_is_told_with_its_batch_and_what_is_left(service, roll):
    service.end = "FAILED"
    with pytest.raises(NotAllRestarted) as raised:
        roll()
    assert restarted(service) == [41]
    first, second, *_more, last = str(raised.value).splitlines()
    assert first.startswith(f"0 of 3 servers restarted, 1 failed ({NAMES[0]}), 2 not touched: {NAMES[1]}, ")
    assert second.startswith(
        f"The rolling restart of orders stopped at batch 1 of 3 (zone1: {NAMES[0]}). The restart of"
    )
    assert "un the same command again." in last
    facts = raised.value.facts
    assert (facts["failed_task_ids"], facts["untouched"], facts["changed"]) == ([1001], NAMES[1:], True)
    assert [task["id"] for task in facts["tasks"]] == [1001]
    assert [(one["cluster"], one["batch"]) for one in facts["failures"]] == [("orders", 1)]
    assert roll.lines[-2].startswith(f"1 of 3, {NAMES[0]} (zone1) FAILED, 2 left")


def test_ill_cluster_is_in_the_plan_and_blocks_it(service, roll):
    service.servers_there[1].status = "STOPPED"
    with pytest.raises(
        NotAllRestarted, match=r"The rolling restart of orders was not begun\. Cluster orders \(id 31\) is not he"
    ):
        roll()
    assert service.posts == []
    assert roll.lines[0] == "blocked: 1 of 1 cluster, 3 servers; 0 to restart, 0 left alone"


def test_check_mode_of_a_blocked_cluster_changes_nothing_and_says_would(service, roll):
    service.servers_there[1].status = "STOPPED"
    with pytest.raises(NotAllRestarted) as raised:
        roll(check_mode=True)
    assert str(raised.value).startswith(
        "This would restart 0 of 3 servers.\nThe rolling restart of orders would not begin. Cluster orders (id 31) is"
    )
    assert raised.value.facts["changed"] is False
    # The commands are in the failure alone.
    assert not [line for line in roll.lines if "ansible localhost" in line]


def test_plan_names_the_failed_task_that_blocks_it_and_the_failure_tells_what_to_do(service, roll):
    service.end = "FAILED"
    with pytest.raises(NotAllRestarted):
        roll()
    with pytest.raises(NotAllRestarted) as raised:
        roll()
    blocked = [line for line in roll.lines if line.startswith("blocked: orders: ")]
    assert len(blocked) == 1
    assert blocked[0].endswith(f"and still holds server {NAMES[0]}.")
    lines = str(raised.value).splitlines()
    assert "  Show why: ansible-playbook oceanbase.ocp.task_report -e task_report_id=1001" in lines
    assert [line for line in lines if line.startswith("  Retry what failed: ")]


def test_too_many_servers_are_refused(service, roll):
    with pytest.raises(OptionError, match=r"^rolling_restart_max_servers: 3 servers to restart, and 2 is the m"):
        roll(max_servers=2)
    assert service.posts == []


def test_unknown_cluster_is_an_error(roll):
    with pytest.raises(TargetError, match="ordres"):
        roll(["ordres"])


def test_cluster_of_the_last_canary_is_watched_once(service, roll):
    roll(canary=1, soak=30)
    assert restarted(service) == [41, 42, 43]
    [watch] = [line for line in roll.lines if line.startswith("watched for 30 s, until ")]
    assert roll.lines.index(watch) < next(n for n, line in enumerate(roll.lines) if "task 1002" in line)


def test_time_left_has_the_watch_that_is_still_to_come(roll):
    roll(canary=1, soak=300)
    first, second, _last = (line for line in roll.lines if re.match(r"\d of 3, ", line))
    assert first.endswith("2 left, about 5 min")
    # Without the watch that is over.
    seconds = int(second.removesuffix(" s").rpartition("about ")[2])
    assert seconds < 60


def test_counts_in_the_end_are_those_at_the_begin(service, roll):
    service.servers_there[0].started = -300.0
    roll()
    assert roll.lines[0] == "2 to restart, 1 left alone"
    assert roll.lines[-1] == "3 servers: 2 restarted, 1 left alone, 0 failed, 0 not touched"


def test_look_ahead_of_a_run_over_many_clusters_restarts_nothing(service, roll, tmp_path):
    run = {"record": RunRecord(str(tmp_path / "run.record"), "", 1, 5, 0), "ahead": Ahead(5, ["orders"])}
    found = roll(**run)
    assert (service.posts, found["planned"], found["run"]["canaries"]) == ([], 3, ["orders"])
    assert roll.lines == ["canaries: orders", "1 cluster with 3 servers: 3 to restart in 1 cluster, 0 left alone"]
    assert list(tmp_path.iterdir()) == []
    service.servers_there[1].status = "STOPPED"
    with pytest.raises(NotAllRestarted) as raised:
        roll(**run)
    assert [failure["cluster"] for failure in raised.value.facts["failures"]] == ["orders"]


def test_look_ahead_with_nothing_to_do_is_the_whole_run(service, roll, tmp_path):
    roll()
    service.posts.clear()
    ahead = {"record": RunRecord(str(tmp_path / "run.record"), "", 1, 5, 0), "ahead": Ahead(5, [])}
    found = roll(**ahead)
    assert (service.posts, found["planned"], found["left_alone"]) == ([], 0, 3)
    assert roll.lines == ["1 cluster with 3 servers: 0 to restart, 3 left alone"]


def test_interruption_has_the_result_so_far(service, roll):
    def interrupt():
        if len(service.posts) == 2:
            raise KeyboardInterrupt

    service.after_restart = interrupt
    with pytest.raises(KeyboardInterrupt) as raised:
        roll()
    assert [one["name"] for one in attached_facts(raised.value)["results"]] == NAMES[:1]


def test_what_a_person_restarts_after_the_run_has_begun_counts_for_its_name(service, roll):
    """The run is killed at its first server, a person restarts the second one, and the same name goes on."""

    def interrupt():
        raise KeyboardInterrupt

    service.after_restart = interrupt
    with pytest.raises(KeyboardInterrupt):
        roll(change="memory-2")
    service.after_restart = lambda: None
    service.begin(SERVER, [thing for thing in service.servers_there if thing.id == 42])
    service.passes(120)
    found = roll(change="memory-2")
    assert restarted(service) == [41, 43]
    assert (found["planned"], found["left_alone"]) == (1, 2)


def test_name_that_cannot_be_noted_restarts_nothing(service, roll, monkeypatch):
    def full(*_args):
        raise JournalError("The journal cannot be written to: the disk is full.")

    monkeypatch.setattr(cluster_run, "note_first_use", full)
    with pytest.raises(NotAllRestarted, match=r"The rolling restart of orders stopped\. The journal cannot be written"):
        roll(change="memory-2")
    assert service.posts == []


def test_check_mode_says_what_it_would_do(service, roll):
    found = roll(check_mode=True)
    assert (service.posts, found["changed"], found["untouched"]) == ([], True, NAMES)
    assert roll.lines[0] == "would restart 3 servers one by one, 0 left alone"
    assert roll.lines[1].startswith("orders zone1: 1 server (")
    assert roll.lines[2].startswith(f"{NAMES[0]} started at ")
    assert len(roll.lines) == 1 + 2 * 3


def test_check_mode_says_what_it_would_wait_for_and_what_would_stop_it(service, roll):
    service.begin(SERVER, [service.servers_there[0]], seconds=30)
    roll(check_mode=True, watch=Watch(frozenset({Sign.LAG, Sign.MERGE}), 7.0))
    assert roll.lines[-2:] == [
        "would first wait for task 1001 (Restart OB server), running on orders already",
        "stops on: lag, merge (max_lag=7)",
    ]


@pytest.mark.parametrize("check_mode", [False, True])
def test_rollback_that_it_waits_for_is_called_one(service, roll, check_mode):
    service.begin(SERVER, [service.servers_there[0]], seconds=30, rolling_back=True)
    roll(check_mode=check_mode)
    words = "rollback of task 1001 (Restart OB server), running on"
    assert [line for line in roll.lines if words in line], roll.lines


def test_server_that_is_refused_in_doubt_is_not_touched_and_not_failed(service, roll):
    """Somebody else's restart of it ran when the name was first used, and its start may be from before."""
    service.restarts_really = False
    service.begin(SERVER, [service.servers_there[0]])
    service.passes(2)
    with pytest.raises(NotAllRestarted) as raised:
        roll(change="memory-2")
    first, second, *_middle, once_more, last = str(raised.value).splitlines()
    assert first.startswith("0 of 3 servers restarted, 0 failed, 3 not touched: 10.1.0.1:2882, ")
    assert "task 1001 (Restart OB server) may have restarted it" in second
    assert once_more.startswith("  Restart 10.1.0.1:2882 once more: ansible localhost -m oceanbase.ocp.server_restart ")
    assert last == "Then run the same command again."
    assert raised.value.facts["results"] == []
    assert "FAILED" not in "\n".join(roll.lines)
    assert roll.lines[-1] == "3 servers: 0 restarted, 0 left alone, 0 failed, 3 not touched"


def test_start_of_a_stopped_server_that_is_proposed_while_planning_counts_for_the_name(service, roll):
    service.servers_there[1].status, service.servers_there[1].inner_status = "STOPPED", "INACTIVE"
    with pytest.raises(NotAllRestarted) as raised:
        roll(change="memory-2")
    assert "freeze_server=false change=memory-2 wait=true detail=compact'" in str(raised.value)


def test_restart_by_somebody_else_is_remembered_by_a_run_that_stops_half_way(service, roll):
    """Only its task proves it, which OCP may have forgotten by the next run."""
    service.begin(SERVER, [service.servers_there[1]], ago=590.0)
    service.end = "FAILED"
    roll(check_mode=True)
    assert journal_here().entries()["requests"] == []
    with pytest.raises(NotAllRestarted):
        roll()
    assert [row["witnessed"] for row in journal_here().entries()["requests"]] == [True, False]
