# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Rolling restarts over clusters as hosts: side by side, canaries first, judged in the end, stopped by others."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import time

import pytest
import yaml
from documentation_blocks import blocks
from rolling import PLAYBOOK, QUICK, message, posts, tasks

*_OTHERS, CLUSTERS_AS_HOSTS, ROLE_OVER_CLUSTERS = blocks("docs/inventory.md", "yaml")
FLEET = ("--clusters", "4", "--zones", "3", "--servers-per-zone", "1", *QUICK)
CLUSTERS = ("cluster1", "cluster2", "cluster3", "cluster4")
STOP = "Stop observer process"
MOST_LINES = 12


@pytest.fixture
def roll(ansible, connect, change, tmp_path):
    """Run the playbook over the clusters of an emulator with these variables of the role."""
    fleet = tmp_path / "fleet.ocp.yml"
    fleet.write_text(yaml.safe_dump({"plugin": "oceanbase.ocp.ocp", "hosts": "clusters"}))

    def run(emulator, *arguments, forks=4, **given):
        connect(emulator)
        given = {"started_before": change, "gate_timeout": 2, "folder": str(tmp_path), **given}
        variables = {f"rolling_restart_{name}": value for name, value in given.items()}
        words = ["-i", str(fleet), "-f", str(forks), *arguments, "-e", json.dumps(variables)]
        return ansible.playbook(PLAYBOOK, arguments=shlex.join(words))

    return run


@pytest.fixture
def written(tmp_path):
    """What the newest run has written of the clusters, by name, and the hosts that it did not begin."""

    def read():
        found = json.loads(max(tmp_path.glob("rolling-restart-*.json")).read_text())
        assert not list(tmp_path.glob("*.record"))
        return {each["cluster"]["name"]: each for each in found["clusters"]}, found["not_begun"]

    return read


def fail(emulator, task_id):
    emulator.post(
        "/emulator/faults", {"kind": "subtask", "match": {"taskId": task_id, "subtask": STOP}, "action": "fail"}
    )


def roll_back(emulator, task_id):
    emulator.post(f"/api/v2/tasks/instances/{task_id}/rollback")
    while emulator.get(f"/api/v2/tasks/instances/{task_id}")["status"] == "RUNNING":
        time.sleep(0.02)


def shape(line):
    """A line without its numbers, and without the time that is left."""
    words = re.sub(r"\d+(\.\d+)?", "#", re.sub(r", about [\w ]+( \(|$)", " (", line))
    return " ".join(words.strip(' ",').split())


def shown(outcome):
    """The lines of progress without their indentation."""
    return [line.strip() for line in outcome.output.splitlines() if line.startswith("  ")]


def counts(outcome):
    """The last line of the run, as in ``3 clusters: 3 ok, ...``."""
    return [line for line in shown(outcome) if re.match(r"\d+ clusters?: ", line)][-1]


def group_vars(folder, group, variables):
    """Beside the inventory."""
    (folder / "group_vars").mkdir()
    (folder / f"group_vars/{group}.yml").write_text(yaml.safe_dump(variables))


def cluster_of(server):
    return f"cluster{(server + 2) // 3}"


@pytest.mark.nightly
@pytest.mark.smoke
def test_clusters_restart_side_by_side_and_the_last_failure_leaves_the_summary(roll, start_emulator, written, tmp_path):
    emulator = start_emulator(*FLEET)
    planned = roll(emulator, "--check")
    assert planned.rc == 0, planned.output
    scope = "would restart 12 in 4 clusters, 0 left alone; up to 4 clusters at the same time"
    assert shown(planned)[-1] == f"4 clusters with 12 servers: {scope}"
    assert posts(emulator) == []

    # Two at a time: the canary, then pairs of the others, and the last restart of all fails.
    fail(emulator, 1012)
    report = tmp_path / "failed.html"
    failed = roll(emulator, forks=2, canary_clusters="cluster3", soak=1, max_failures=1, report=str(report))
    assert failed.rc == 2
    assert [cluster_of(server) for server in posts(emulator)[:3]] == ["cluster3"] * 3
    assert len(set(posts(emulator))) == 12
    [bad] = [task for task in tasks(emulator) if task[2] == "FAILED"]
    assert bad[0] == 1012
    assert counts(failed) == (
        "4 clusters: 3 ok, 1 failed, 0 stopped or not begun; servers: 11 restarted, 0 left alone, 1 failed"
    )
    assert [line for line in shown(failed) if "it goes on where it stopped. For details see " in line]
    assert "-a 'task_id=1012 state=retried wait=true detail=compact'" in message(failed)
    # The last error is that of the cluster that failed, and so is the only failure of the recap.
    [name] = [line.split()[0] for line in shown(failed) if " FAILED " in line]
    said, recap = failed.output.split("PLAY RECAP")
    assert re.findall(r"^fatal: \[(\S+)\]", said, re.MULTILINE) == [name]
    assert re.findall(r"^(\S+) .* failed=[1-9]", recap, re.MULTILINE) == [name]
    assert "rescued=1" not in recap
    assert "  1 of 4 clusters, about " in failed.output
    assert "  4 of 4 clusters, 1 failed (cluster" in failed.output
    clusters, not_begun = written()
    assert ([each["outcome"] for each in clusters.values()].count("failed"), not_begun) == (1, [])
    assert STOP in report.read_text()

    [recorded] = [block for block in blocks("docs/rolling-restart.md", "text") if "8 clusters with 24" in block]
    # Before ansible-core 2.19 the message is in the result alone.
    said = [*failed.output.splitlines(), *message(failed).splitlines()]
    assert {shape(line) for line in recorded.splitlines()} - {shape(line) for line in said} == {"..."}
    # Beyond what each run shows once.
    assert len(failed.output.splitlines()) - len(planned.output.splitlines()) <= MOST_LINES * 12

    roll_back(emulator, 1012)
    again = roll(emulator)
    assert again.rc == 0, again.output
    assert len(posts(emulator)) == 13
    assert counts(again).endswith("servers: 1 restarted, 11 left alone, 0 failed")
    assert sum("0 to restart, 3 left alone" in line for line in shown(again)) == 3
    assert not [line for line in shown(again) if ": left alone: 10.0.0." in line]
    assert len(again.output.splitlines()) <= MOST_LINES * 12
    assert {each["outcome"] for each in written()[0].values()} == {"ended"}


@pytest.mark.nightly
def test_failed_canary_and_failures_of_other_runs_stop_all(roll, start_emulator, written):
    emulator = start_emulator(*FLEET)
    refused = roll(emulator, max_servers=11)
    assert refused.rc == 2
    assert "rolling_restart_max_servers: 12 servers to restart, and 11 is the most" in refused.output
    unknown = roll(emulator, canary_clusters=["cluster9"])
    assert "rolling_restart_canary_clusters: cluster9 is not a cluster of this run." in unknown.output
    misspelt = roll(emulator, canary_clusters="cluster1, clutser2")
    assert "rolling_restart_canary_clusters: clutser2 is not a cluster of this run." in misspelt.output
    negative = roll(emulator, canary_clusters=-1)
    assert "rolling_restart_canary_clusters: -1 is out of range; give 0 or more" in negative.output
    not_here = roll(emulator, before_node="/etc/hostname", batch=2)
    refusal = "rolling_restart_before_node, rolling_restart_batch: cannot be used with clusters as hosts."
    assert refusal in not_here.output
    assert posts(emulator) == []

    fail(emulator, 1002)
    canary = roll(emulator, canary_clusters=1, soak=1)
    assert canary.rc == 2
    assert len(posts(emulator)) == 2
    clusters, not_begun = written()
    assert ([each["outcome"] for each in clusters.values()], len(not_begun)) == (["failed"], 3)

    # Another run, over another part of the fleet, sees it in the service alone.
    [name] = clusters
    others = ":".join(other for other in CLUSTERS if other != name)
    stopped = roll(emulator, "--limit", others)
    assert stopped.rc == 2
    assert len(posts(emulator)) == 2
    assert "is held by a FAILED restart, more than rolling_restart_max_failures=0 allows: task 1002" in stopped.output
    assert counts(stopped).startswith("3 clusters: 0 ok, 0 failed, 3 stopped or not begun")

    judged = roll(emulator, "--limit", others, judged_tasks=[1002])
    assert judged.rc == 0, judged.output
    assert len(posts(emulator)) == 11


def test_no_other_cluster_is_begun_before_a_canary_is_restarted_and_watched(roll, start_emulator, written):
    emulator = start_emulator(*FLEET)
    # By number they are the first of the inventory.
    planned = shown(roll(emulator, "--check", canary_clusters=2))
    assert "canaries: cluster1, cluster2" in planned
    left = roll(emulator, canary_clusters="cluster1", stop_after="2020-01-01T00:00:00Z")
    assert (left.rc, posts(emulator)) == (0, [])
    clusters, not_begun = written()
    assert ([*clusters], len(not_begun)) == (["cluster1"], 3)
    assert any(line.startswith("not begun, since canaries are left for the next run: ") for line in shown(left))

    # As after a run that was killed in the watch of its canary.
    [canary] = re.findall(r"^(cluster1\S*) .* ok=", left.output, re.MULTILINE)
    assert roll(emulator, "--limit", canary).rc == 0
    again = roll(emulator, canary_clusters="cluster1", soak=1)
    assert again.rc == 0, again.output
    assert again.output.index("watched for 1 s") < again.output.index("cluster2: 1 of 3")
    assert sorted(posts(emulator)) == list(range(1, 13))


@pytest.mark.nightly
def test_list_of_clusters_is_restarted_as_without_hosts(roll, start_emulator):
    emulator = start_emulator(*FLEET)
    outcome = roll(emulator, clusters=["cluster2"])
    assert outcome.rc == 0, outcome.output
    assert {cluster_of(server) for server in posts(emulator)} == {"cluster2"}
    assert "3 servers: 3 restarted" in outcome.output
    assert "left alone: cluster1" not in outcome.output
    refused = roll(emulator, clusters=["cluster1"], max_servers=2)
    assert refused.rc == 2
    assert "rolling_restart_max_servers: 3 servers to restart, and 2 is the most" in refused.output
    assert len(posts(emulator)) == 3


@pytest.mark.nightly
def test_killed_run_goes_on_and_restarts_nothing_twice(roll, ansible, connect, start_emulator, change, tmp_path):
    emulator = start_emulator(*FLEET[:-1], "0.1")
    connect(emulator)
    ansible.environment |= {"ANSIBLE_INVENTORY": str(tmp_path / "fleet.ocp.yml"), "ANSIBLE_FORKS": "4"}
    given = {"rolling_restart_started_before": change, "rolling_restart_folder": str(tmp_path)}
    process = ansible.start([{"import_playbook": PLAYBOOK, "vars": given}], "killed")
    while len(posts(emulator)) < 6:
        assert process.poll() is None, ansible.output("killed").read_text()
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    ansible.end()
    assert list(tmp_path.glob("rolling-restart-*.record"))
    again = roll(emulator, wait_interval=1, gate_timeout=60)
    assert again.rc == 0, again.output
    assert sorted(posts(emulator)) == list(range(1, 13))


@pytest.mark.parametrize(
    ("name", "value", "refusal"),
    [
        pytest.param(
            "zone",
            ["zone1"],
            "rolling_restart_zone: is not a variable of oceanbase.ocp.rolling_restart; did you mean",
            marks=pytest.mark.nightly,
        ),
        ("zones", ["zone1"], "rolling_restart_zones: has a value for cluster1 that it does not have for the whole run"),
        pytest.param(
            "before_node",
            "/drain.yml",
            "rolling_restart_before_node: has a value for cluster1 that it does not have",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "clusters",
            ["cluster2"],
            "rolling_restart_clusters: has a value for cluster1 that it does not have",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_variables_of_the_hosts_neither_widen_the_run_nor_are_dropped(
    name, value, refusal, roll, start_emulator, tmp_path
):
    """The plan is made once, by the first host, so a scope or a task file of the others was not seen."""
    group_vars(tmp_path, "ocp_clusters", {f"rolling_restart_{name}": value})
    emulator = start_emulator(*FLEET)
    outcome = roll(emulator)
    assert outcome.rc == 2
    assert refusal in outcome.output
    assert posts(emulator) == []


def test_clusters_of_all_hosts_are_refused(roll, start_emulator, tmp_path):
    group_vars(tmp_path, "all", {"rolling_restart_clusters": ["cluster2"]})
    emulator = start_emulator(*FLEET)
    outcome = roll(emulator)
    assert outcome.rc == 2
    assert "rolling_restart_clusters: is known to the playbook only with -e" in outcome.output
    assert posts(emulator) == []


@pytest.mark.smoke
def test_role_over_clusters_as_hosts_tells_the_way_out_with_each_of_them(
    ansible, connect, start_emulator, change, tmp_path
):
    """All of them stop, and any of them may be the last that Ansible tells of."""
    emulator = start_emulator("--clusters", "3", "--step-seconds", "0.05")
    emulator.post("/emulator/faults", {"kind": "subtask", "match": {"subtask": STOP}, "action": "fail"})
    connect(emulator)
    (tmp_path / "clusters.ocp.yml").write_text(CLUSTERS_AS_HOSTS)
    playbook = tmp_path / "restart_clusters.yml"
    playbook.write_text(ROLE_OVER_CLUSTERS)
    words = ["-i", str(tmp_path / "clusters.ocp.yml"), "-f", "3", "-e", f"change={change}"]
    outcome = ansible.playbook(str(playbook), arguments=shlex.join(words))
    assert outcome.rc == 2, outcome.output
    [failed] = [
        task["id"] for task in emulator.get("/api/v2/tasks/instances")["contents"] if task["status"] == "FAILED"
    ]
    ends = [json.loads(end)["msg"] for end in re.findall(r"fatal: \[cluster\d\]: FAILED! => (.*)", outcome.output)]
    assert sorted("held by a FAILED restart" in end for end in ends) == [False, True, True]
    for end in ends:
        assert f"  Retry what failed: ansible localhost -m oceanbase.ocp.task -a 'task_id={failed} state=retried" in end
        assert end.endswith("Then run the same command again.")
    own = [line for line in shown(outcome) if re.search(r"\d of 3, |to restart, |3 servers: ", line)]
    assert [line for line in own if not re.match(r"cluster\d: ", line)] == []
    assert {line.partition(":")[0] for line in own} == {"cluster1", "cluster2", "cluster3"}
