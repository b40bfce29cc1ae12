# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The graph of each operation against the documented steps."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from ocp_emulator.tasks import blueprints
from ocp_emulator.tasks.subtask_graph import Blueprint, build

SERVER = [
    ("Prepare restart observer", 300),
    ("Stop observer service", 300),
    ("Inactive agent modules", 3600),
    ("Stop observer process", 1200),
    ("Start observer process", 1200),
    ("Wait observer active", 1800),
    ("Active agent modules", 1800),
    ("Start observer service", 300),
    ("Set observer process oom_score_adj", 300),
    ("Update observer status", 300),
    ("Update zone status", 1800),
    ("Sync cluster info", 60),
    ("Update OB cluster status", 30),
]
CLUSTER = [
    "Prepare restart cluster",
    "Set zone context",
    "Prepare restart OB zone",
    "Prepare restart observer",
    "Wait node",
    "Stop observer process",
    "Wait node",
    "Start observer process",
    "Wait observer accessible",
    "Start ocp agent service",
    "Wait node",
    "Start server",
    "Wait node",
    "Update observer status",
    "Start zone",
    "Update zone status",
    "Sync cluster info",
    "Sync all tenant information",
    "Update OB cluster status",
]
AGENTS = [
    ("Prepare restart OCP agent", 60, 0),
    ("Wait node", 30, -1),
    ("Restart pos proxy", 60, 0),
    ("Wait node", 30, -1),
    ("Stop all OCP agent processes", 600, 0),
    ("Wait node", 30, -1),
    ("Start all OCP agent processes", 600, 0),
    ("Wait node", 30, -1),
    ("Finish OCP agent operation", 60, 0),
]
ARBITRATION = [
    ("Prepare restart arbitration service", 60),
    ("Stop arbitration service", 1800),
    ("Start arbitration service", 1800),
    ("Clean arbitration status monitor records", 120),
    ("Update arbitration service status", 60),
]

# Compared with the documented answer: description, time-out, parallelIdx.
ZONE = [
    ("Prepare restart OB zone", 1800, -1),
    ("Stop zone", 1800, -1),
    ("Prepare restart observer", 300, 0),
    ("Wait node", 30, -1),
    ("Stop observer process", 1200, 0),
    ("Wait node", 30, -1),
    ("Start observer process", 1200, 0),
    ("Wait observer active", 1800, -1),
    ("Start ocp agent service", 1800, 0),
    ("Wait node", 30, -1),
    ("Update observer status", 300, 0),
    ("Start zone", 1800, -1),
    ("Update zone status", 1800, -1),
    ("Sync cluster info", 30, -1),
    ("Update OB cluster status", 30, -1),
]

# The time-outs of the documented answers.
OBSERVED_TIMEOUTS = {30, 60, 120, 300, 600, 1200, 1800, 3600}


def steps(nodes):
    return [(node.step.description, node.step.timeout) for node in nodes]


def test_a_server_restart_has_its_13_steps_with_their_timeouts():
    assert steps(build(blueprints.SERVER_RESTART)) == SERVER


def test_a_cluster_restart_has_its_19_steps():
    assert [node.step.description for node in build(blueprints.CLUSTER_RESTART)] == CLUSTER


def test_arbitration_restart_has_its_5_steps_with_their_timeouts():
    assert steps(build(blueprints.ARBITRATION_RESTART)) == ARBITRATION


def test_agent_restart_on_one_host_has_its_9_steps():
    nodes = build(blueprints.AGENT_RESTART, ["7"])
    assert [(*step, node.parallel_idx) for step, node in zip(steps(nodes), nodes, strict=True)] == AGENTS


def test_zone_restart_with_one_server_has_its_15_steps():
    nodes = build(blueprints.ZONE_RESTART, ["7"])
    assert [(*step, node.parallel_idx) for step, node in zip(steps(nodes), nodes, strict=True)] == ZONE


def test_zone_restart_forks_on_each_step_of_a_server():
    nodes = build(blueprints.ZONE_RESTART, ["7", "8", "9"])
    assert len(nodes) == 5 * 3 + 10
    assert [node.element for node in nodes if node.step.description == "Stop observer process"] == ["7", "8", "9"]


@pytest.mark.parametrize(
    ("blueprint", "seconds"),
    [(blueprints.SERVER_RESTART, 12_990), (blueprints.AGENT_RESTART, 1_500), (blueprints.ARBITRATION_RESTART, 3_840)],
)
def test_the_timeouts_add_up_to_the_documented_sums(blueprint, seconds):
    assert sum(node.step.timeout for node in build(blueprint, ["1"])) == seconds


@pytest.mark.parametrize(
    "blueprint",
    [value for value in vars(blueprints).values() if isinstance(value, Blueprint)],
    ids=lambda blueprint: blueprint.kind,
)
def test_blueprint_with_one_element_is_a_chain_with_observed_timeouts(blueprint):
    nodes = build(blueprint, ["1"])
    last = len(nodes) - 1
    assert [node.upstreams for node in nodes] == [(), *((index,) for index in range(last))]
    assert [node.downstreams for node in nodes] == [*((index + 1,) for index in range(last)), ()]
    assert {node.step.timeout for node in nodes} <= OBSERVED_TIMEOUTS


@settings(deadline=None)
@given(some.integers(min_value=1, max_value=40))
def test_agents_on_n_hosts_make_5n_plus_4_subtasks_that_fork_and_join(hosts):
    batch = [str(number) for number in range(hosts)]
    nodes = build(blueprints.AGENT_RESTART, batch)
    assert len(nodes) == 5 * hosts + 4
    for index, node in enumerate(nodes):
        assert all(index in nodes[upstream].downstreams for upstream in node.upstreams)
        assert all(index in nodes[downstream].upstreams for downstream in node.downstreams)
        assert all(upstream < index for upstream in node.upstreams)
    for description, _timeout, parallel_idx in AGENTS:
        if parallel_idx == 0:
            level = [node for node in nodes if node.step.description == description]
            assert [node.parallel_idx for node in level] == list(range(hosts))
            assert [node.element for node in level] == batch
    waits = [node for node in nodes if node.step.description == "Wait node"]
    assert len(waits) == 4
    for wait in waits:
        assert (wait.parallel_idx, wait.element) == (-1, None)
        assert len(wait.upstreams) == len(wait.downstreams) == hosts
    assert sum(not node.upstreams for node in nodes) == sum(not node.downstreams for node in nodes) == hosts


def test_split_step_requires_an_element():
    with pytest.raises(ValueError, match="Prepare restart OCP agent"):
        build(blueprints.AGENT_RESTART, [])
