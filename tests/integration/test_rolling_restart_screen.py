# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How much a rolling restart prints: a run, one with nothing to do, one that stops; and what its lines say."""

from __future__ import annotations

import json
import re
import shlex

import pytest
import yaml
from rolling import QUICK, message, plan_lines, posts

NINE = ("--clusters", "1", "--zones", "3", "--servers-per-zone", "3", *QUICK)
AGENTS_OF_THREE = {"change": "memory", "hosts": [1, 2, 3], "batch": 2}
CAUSE = "cannot allocate memory"
LINE = re.compile(r"^  (\d) of 9, (\S+) \(zone\d\) restarted in \d+\.\d s, (\d) left(, about \d+ \w+)?$", re.MULTILINE)
# How many are done, whose agents have restarted, and how many are left.
AGENTS_LINE = re.compile(r"^  (\d) of 9, (.+) restarted in \d+\.\d s, (\d) left(?:(, about) \d+ s)?$", re.MULTILINE)


def lines(outcome):
    return outcome.output.splitlines()


def zones(cluster, servers):
    """Three zones, each with so many servers."""
    return [
        {"name": f"zone{zone}", "servers": [{"ip": f"10.{cluster}.{zone}.{last}"} for last in range(1, servers + 1)]}
        for zone in (1, 2, 3)
    ]


@pytest.fixture
def fleet(ansible, connect, start_emulator, tmp_path):
    """Nine servers in two clusters, which are the hosts; returns what runs the playbook with these variables."""
    ansible.environment |= {"ANSIBLE_LOCALHOST_WARNING": "true", "ANSIBLE_INVENTORY_UNPARSED_WARNING": "true"}
    clusters = [{"name": "shop", "zones": zones(1, 1)}, {"name": "big", "zones": zones(2, 2)}]
    (tmp_path / "fleet.yml").write_text(yaml.safe_dump({"clusters": clusters}))
    (tmp_path / "fleet.ocp.yml").write_text(yaml.safe_dump({"plugin": "oceanbase.ocp.ocp", "hosts": "clusters"}))
    emulator = start_emulator("--fleet", str(tmp_path / "fleet.yml"), *QUICK)
    connect(emulator)

    def run(*arguments, **given):
        variables = {f"rolling_restart_{name}": value for name, value in given.items()}
        variables |= {"rolling_restart_folder": str(tmp_path), "rolling_restart_gate_timeout": 60}
        words = ["-i", str(tmp_path / "fleet.ocp.yml"), *arguments, "-e", json.dumps(variables)]
        return ansible.playbook("oceanbase.ocp.rolling_restart", arguments=shlex.join(words))

    run.emulator = emulator
    return run


@pytest.mark.smoke
@pytest.mark.parametrize("batch", ["1", pytest.param("auto", marks=pytest.mark.nightly)])
def test_nine_servers_take_forty_lines_and_a_run_with_nothing_to_do_fifteen(roll, ansible, start_emulator, batch):
    # With the warnings that a user without an inventory has.
    ansible.environment |= {"ANSIBLE_LOCALHOST_WARNING": "true", "ANSIBLE_INVENTORY_UNPARSED_WARNING": "true"}
    emulator = start_emulator(*NINE)
    first = roll(emulator, ["cluster1"], batch=batch, gate_timeout=60)
    assert first.rc == 0, first.output
    assert len(posts(emulator)) == 9
    assert len(lines(first)) <= 40, first.output
    found = LINE.findall(first.output)
    assert [(done, left) for done, _name, left, _time in found] == [(str(n), str(9 - n)) for n in range(1, 10)]
    assert [bool(time) for *_others, time in found] == [True] * 8 + [False]
    again = roll(emulator, ["cluster1"], batch=batch, gate_timeout=60)
    assert again.rc == 0, again.output
    assert len(posts(emulator)) == 9
    assert len(lines(again)) <= 15, again.output
    assert "  0 to restart, 9 left alone" in lines(again)


@pytest.mark.nightly
@pytest.mark.smoke
def test_nine_servers_of_a_fleet_in_waves_take_as_many(ansible, connect, start_emulator):
    ansible.environment |= {"ANSIBLE_LOCALHOST_WARNING": "true", "ANSIBLE_INVENTORY_UNPARSED_WARNING": "true"}
    emulator = start_emulator("--clusters", "3", "--zones", "3", "--servers-per-zone", "1", *QUICK)
    connect(emulator)
    servers = [{"cluster": (last + 2) // 3, "server": f"10.0.0.{last}:2882"} for last in range(1, 10)]
    given = {"fleet_restart_change": "memory", "fleet_restart_servers": servers, "fleet_restart_waves": True}
    first, again = (
        ansible.playbook("oceanbase.ocp.fleet_restart", arguments=f"-e '{json.dumps(given)}'") for _run in range(2)
    )
    assert (first.rc, again.rc) == (0, 0), first.output + again.output
    assert len(posts(emulator)) == 9
    assert len(lines(first)) <= 40, first.output
    shown = re.findall(r"^  (\d) of 9, \S+ \S+ restarted in \d\.\d s, (\d) left", first.output, re.MULTILINE)
    assert shown == [(str(number), str(9 - number)) for number in range(1, 10)]
    assert len(lines(again)) <= 15, again.output
    assert "  0 to restart, 9 left alone" in lines(again)


@pytest.mark.smoke
def test_nine_servers_of_clusters_as_hosts_take_as_many(fleet, tmp_path):
    first = fleet(change="memory")
    assert first.rc == 0, first.output
    assert len(posts(fleet.emulator)) == 9
    assert len(lines(first)) <= 40, first.output
    servers = "servers: 9 restarted, 0 left alone, 0 failed"
    assert f"  2 clusters: 2 ok, 0 failed, 0 stopped or not begun; {servers}" in lines(first)
    again = fleet(change="memory")
    assert again.rc == 0, again.output
    assert len(posts(fleet.emulator)) == 9
    assert len(lines(again)) <= 15, again.output
    assert "  2 clusters with 9 servers: 0 to restart, 9 left alone" in lines(again)
    assert [path.suffix for path in tmp_path.glob("rolling-restart-*")] == [".json"]


def test_blocked_cluster_is_the_one_that_fails_with_the_cause_and_the_way_out(fleet):
    fleet.emulator.put("/emulator/servers/1", {"available": False})
    stopped = fleet(change="memory")
    assert (stopped.rc, posts(fleet.emulator)) == (2, [])
    others = "With -e rolling_restart_max_failures=1 the other clusters can restart meanwhile."
    assert message(stopped).startswith(f"Nothing was restarted. {others} Cluster shop (id 1) is not healthy: ")
    said, recap = stopped.output.split("PLAY RECAP")
    assert re.findall(r"^fatal: \[(\S+)\]", said, re.MULTILINE) == ["shop"]
    assert re.findall(r"^(\S+) .* failed=[1-9]", recap, re.MULTILINE) == ["shop"]
    assert len([line for line in lines(stopped) if line.startswith("[ERROR]")]) <= 1
    assert "1 cluster with 3 servers blocked" in stopped.output


@pytest.mark.nightly
def test_cluster_that_fails_beside_others_is_told_without_the_heading_of_its_commands(fleet):
    fault = {"match": {"taskId": 1001, "subtask": "Start observer process"}, "action": "fail", "message": CAUSE}
    fleet.emulator.post("/emulator/faults", {"kind": "subtask", **fault})
    assert fleet(change="first", canary_clusters=["shop"]).rc == 2
    again = fleet(change="second", max_failures=1)
    [line] = [line for line in lines(again) if line.startswith("  1 of 2 clusters, 1 failed")]
    assert "(shop failed: Cluster shop (id 1) is not healthy: task 1001 " in line
    assert line.endswith(".)")
    assert ", about 0 s" not in line


@pytest.mark.nightly
def test_what_is_left_for_the_next_run_is_counted_and_says_why(fleet):
    left = fleet(change="memory", stop_after="2020-01-01T00:00:00Z")
    assert (left.rc, posts(fleet.emulator)) == (0, [])
    [row] = [line for line in lines(left) if line.startswith("  shop  ")]
    assert "; left for the next run, since it would not be done before 2020-01-01" in row
    assert [line for line in lines(left) if line.endswith(" 0 left alone, 9 left for the next run, 0 failed")]


@pytest.mark.nightly
def test_option_without_the_prefix_is_told_before_anything_is_sent(ansible, connect, start_emulator):
    connect(start_emulator("--clusters", "1", "--zones", "3", "--servers-per-zone", "1", *QUICK))
    runs = {
        "rolling_restart": {"rolling_restart_change": "memory-1", "rolling_restart_clusters": ["cluster1"]},
        "fleet_restart": {
            "fleet_restart_change": "memory-2",
            "fleet_restart_servers": [{"cluster": "cluster1", "server": "10.0.0.1:2882"}],
        },
    }
    for playbook, given in runs.items():
        variables = json.dumps({**given, "safety": "none"})
        outcome = ansible.playbook(f"oceanbase.ocp.{playbook}", arguments=f"-e '{variables}'")
        assert outcome.rc == 0, outcome.output
        warning = f"[WARNING]: safety: is ignored by oceanbase.ocp.{playbook}; its variable is {playbook}_safety."
        assert outcome.output.count(warning) == 1
        assert outcome.output.index(warning) < outcome.output.index("submitted, task ")


@pytest.mark.nightly
def test_agents_of_nine_hosts_take_as_many(ansible, connect, start_emulator):
    ansible.environment |= {"ANSIBLE_LOCALHOST_WARNING": "true", "ANSIBLE_INVENTORY_UNPARSED_WARNING": "true"}
    emulator = start_emulator("--clusters", "3", "--zones", "3", "--servers-per-zone", "1", *QUICK)
    connect(emulator)
    given = {"change": "memory", "hosts": list(range(1, 10)), "batch": 3}
    variables = json.dumps({f"agent_rolling_restart_{name}": value for name, value in given.items()})
    first, again = (
        ansible.playbook("oceanbase.ocp.agent_rolling_restart", arguments=f"-e '{variables}'") for _run in range(2)
    )
    assert (first.rc, again.rc) == (0, 0), first.output + again.output
    assert len(lines(first)) <= 40, first.output
    assert [line for line in lines(first) if line.startswith("changed: ")] == [
        f"changed: [localhost] => (item={batch} of 3: {3 * batch - 2}, {3 * batch - 1}, {3 * batch})"
        for batch in (1, 2, 3)
    ]
    assert AGENTS_LINE.findall(first.output) == [
        ("3", "10.0.0.1, 10.0.0.2, 10.0.0.3", "6", ", about"),
        ("6", "10.0.0.4, 10.0.0.5, 10.0.0.6", "3", ", about"),
        ("9", "10.0.0.7, 10.0.0.8, 10.0.0.9", "0", ""),
    ]
    assert len(lines(again)) <= 15, again.output


@pytest.mark.nightly
def test_check_mode_of_agents_says_would(ansible, connect, start_emulator):
    connect(start_emulator("--clusters", "1", "--zones", "3", "--servers-per-zone", "1", *QUICK))
    variables = json.dumps({f"agent_rolling_restart_{name}": value for name, value in AGENTS_OF_THREE.items()})
    outcome = ansible.playbook("oceanbase.ocp.agent_rolling_restart", arguments=f"--check -e '{variables}'")
    assert outcome.rc == 0, outcome.output
    assert [line for line in lines(outcome) if line.startswith("  ")] == [
        "  2 of 3, would restart 10.0.0.1, 10.0.0.2, 1 left: change memory is new for 10.0.0.1, 10.0.0.2",
        "  3 of 3, would restart 10.0.0.3, 0 left: change memory is new for 10.0.0.3",
    ]


def test_run_that_stops_says_why_once(roll, start_emulator):
    emulator = start_emulator(*NINE)
    emulator.post(
        "/emulator/faults",
        {"kind": "subtask", "match": {"subtask": "Start observer process"}, "action": "fail", "message": CAUSE},
    )
    stopped = roll(emulator, ["cluster1"])
    assert stopped.rc == 2
    assert CAUSE in message(stopped)
    # Ansible adds the result, as JSON in one line.
    [said] = [line for line in lines(stopped) if CAUSE in line and not line.startswith("fatal: ")]
    assert said.strip().endswith(f"failed: {CAUSE}")
    # Nothing of how the role tells it.
    assert not re.search(r"assertion|evaluated_to|is_told_later", stopped.output)
    assert [line for line in lines(stopped) if line.startswith("  1 of 9, 10.0.0.4:2882 (zone2) FAILED, 8 left")]


def test_run_between_task_files_that_stops_says_why_once(roll, start_emulator, tmp_path):
    """The restart itself fails no task: its failure is the last one, and in the line of its server."""
    emulator = start_emulator(*NINE)
    fault = {"match": {"taskId": 1002, "subtask": "Start observer process"}, "action": "fail", "message": CAUSE}
    emulator.post("/emulator/faults", {"kind": "subtask", **fault})
    for name in ("before", "after"):
        (tmp_path / f"{name}.yml").write_text(json.dumps([{"ansible.builtin.debug": {"msg": name}}]))
    files = {f"{name}_node": str(tmp_path / f"{name}.yml") for name in ("before", "after")}
    stopped = roll(emulator, ["cluster1"], servers=["4", "5", "6"], **files)
    assert stopped.rc == 2
    [said] = [line for line in lines(stopped) if CAUSE in line and not line.startswith("fatal: ")]
    assert said.strip().endswith(f"failed: {CAUSE}")
    assert re.search(r"item=2 of 3, 10.0.0.5:2882 FAILED in \d+\.\d s, 1 left\)", stopped.output)
    assert stopped.failed == {"Stop here", "Make sure that nothing failed"}
    # What Ansible prints of the first server, with ten lines of its task files.
    begin, end = (stopped.output.index(f"{place} of 3: 10.0.0") for place in (1, 2))
    assert stopped.output[begin:end].count("\n") <= 50, stopped.output


@pytest.mark.nightly
def test_restarts_between_task_files_have_the_same_words(roll, start_emulator, tmp_path):
    emulator = start_emulator(*NINE)
    (tmp_path / "after.yml").write_text(json.dumps([{"ansible.builtin.debug": {"msg": "undrained"}}]))
    outcome = roll(emulator, ["cluster1"], servers=["4", "5"], after_node=str(tmp_path / "after.yml"))
    assert outcome.rc == 0, outcome.output
    found = re.findall(r"item=(\d of 2, \S+ restarted) in \d+\.\d s, (\d left), about \d+ s", outcome.output)
    assert found == [("1 of 2, 10.0.0.4:2882 restarted", "1 left"), ("2 of 2, 10.0.0.5:2882 restarted", "0 left")]


def test_check_mode_says_would(roll, start_emulator):
    emulator = start_emulator(*NINE)
    planned = roll(emulator, ["cluster1"], check=True)
    assert planned.rc == 0, planned.output
    assert posts(emulator) == []
    assert plan_lines(planned)[0] == "would restart 9 servers one by one, 0 left alone"
    # One of a server, of a zone, of the signs, and the headings.
    assert len(lines(planned)) <= 25, planned.output
