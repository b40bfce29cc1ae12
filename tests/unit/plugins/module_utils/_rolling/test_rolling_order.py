# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The order of a rolling restart: its invariants and its reasons."""

from __future__ import annotations

from itertools import groupby

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import (
    Node,
    Strategy,
    order_batches,
    unchanged_nodes,
    with_canaries,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.zone_order import ZoneOrder
from hypothesis import given
from hypothesis import strategies as st

SERVER, ZONE = Strategy.SERVER, Strategy.ZONE
ANY_ORDER = ZoneOrder()
TENANTS = st.dictionaries(st.sampled_from(["z1", "z2", "z3"]), st.lists(st.just("shop"), min_size=1, max_size=3))


@st.composite
def clusters(draw):
    """The servers of a cluster in any order, at most one with the root server, and the order of its zones."""
    zones = draw(st.lists(st.sampled_from(["z1", "z2", "z3", "z4", "z5"]), min_size=1, max_size=20))
    root = draw(st.integers(-1, len(zones) - 1))
    nodes = [
        Node(number, f"s{number}", zone, number == root, draw(st.booleans()), "why")
        for number, zone in enumerate(zones)
    ]
    return nodes, ZoneOrder([node.zone for node in nodes if node.root], draw(TENANTS))


@given(clusters(), st.integers(1, 5), st.sampled_from(Strategy))
def test_each_stale_server_is_batched_once_and_others_are_unchanged(cluster, size, strategy):
    nodes, zones = cluster
    planned = order_batches(nodes, zones, size, strategy)
    taken = [node for batch in planned for node in batch.nodes]
    assert sorted([*taken, *unchanged_nodes(nodes, planned)], key=lambda node: node.id) == nodes
    assert {node for node in nodes if node.needed} <= set(taken)
    if strategy is SERVER:
        assert all(node.needed for node in taken)
    else:
        assert all(any(node.needed for node in batch.nodes) for batch in planned)


@given(clusters(), st.integers(1, 5), st.sampled_from(Strategy))
def test_batches_hold_one_zone_and_finish_it_before_the_next(cluster, size, strategy):
    nodes, zones = cluster
    planned = order_batches(nodes, zones, size, strategy)
    assert all({node.zone for node in batch.nodes} == {batch.zone} for batch in planned)
    runs = [(zone, list(parts)) for zone, parts in groupby(planned, key=lambda batch: batch.zone)]
    assert len({zone for zone, _parts in runs}) == len(runs)
    for _zone, parts in runs:
        assert [(part.first, part.last) for part in parts] == [
            (place == 0, place == len(parts) - 1) for place in range(len(parts))
        ]
        if strategy is SERVER:
            # A root server is by itself.
            sizes = [len(part.nodes) for part in parts if not any(node.root for node in part.nodes)]
            assert all(found == size for found in sizes[:-1])
            assert all(found <= size for found in sizes[-1:])
            assert len(parts) - len(sizes) <= 1
            assert all(len(part.nodes) == 1 for part in parts if any(node.root for node in part.nodes))
        else:
            assert len(parts) == 1


@given(clusters(), st.integers(1, 5), st.sampled_from(Strategy))
def test_zones_go_by_their_rank_and_a_root_server_is_the_last_of_its_zone(cluster, size, strategy):
    nodes, zones = cluster
    planned = order_batches(nodes, zones, size, strategy)
    there = [batch.zone for batch in planned]
    listed = list(dict.fromkeys(node.zone for node in nodes if node.zone in there))
    assert list(dict.fromkeys(there)) == sorted(listed, key=zones.rank)
    for _zone, members in groupby([node for batch in planned for node in batch.nodes], key=lambda node: node.zone):
        assert not any(node.root for node in list(members)[:-1])


@given(clusters(), st.integers(1, 5))
def test_servers_of_a_zone_keep_the_order_of_the_service(cluster, size):
    nodes, zones = cluster
    taken = [node for batch in order_batches(nodes, zones, size, SERVER) for node in batch.nodes if not node.root]
    for _zone, members in groupby(taken, key=lambda node: node.zone):
        ids = [node.id for node in members]
        assert ids == sorted(ids)


def node(number, zone, root=False, needed=True):
    return Node(number, f"s{number}", zone, root, needed, "why")


@pytest.mark.parametrize(
    ("nodes", "root_zones", "expected"),
    [
        (
            [node(1, "z1", root=True), node(2, "z1"), node(3, "z2")],
            ["z1"],
            [
                ("z2", [3], "before z1, where the root server is"),
                ("z1", [2], "z1 comes last, since it has the root server"),
                ("z1", [1], "z1 comes last, since it has the root server; the root server, s1, is the last in it"),
            ],
        ),
        # The root server may need no restart, or be out of scope.
        (
            [node(1, "z1", root=True, needed=False), node(2, "z1"), node(3, "z2")],
            ["z1"],
            [
                ("z2", [3], "before z1, where the root server is"),
                ("z1", [2], "z1 comes last, since it has the root server"),
            ],
        ),
        (
            [node(1, "z1"), node(3, "z2")],
            [],
            [("z1", [1], "as the service lists them"), ("z2", [3], "as the service lists them")],
        ),
    ],
    ids=["root", "root is done", "no root is shown"],
)
def test_batch_reason_explains_its_position(nodes, root_zones, expected):
    planned = order_batches(nodes, ZoneOrder(root_zones), 1, SERVER)
    assert [(batch.zone, [one.id for one in batch.nodes], batch.reason) for batch in planned] == expected


def test_zone_strategy_restarts_the_whole_zone_of_a_stale_server():
    nodes = [node(1, "z1", needed=False), node(2, "z1"), node(3, "z2", needed=False)]
    [only] = order_batches(nodes, ANY_ORDER, 1, ZONE)
    assert [one.id for one in only.nodes] == [1, 2]
    assert [one.id for one in unchanged_nodes(nodes, [only])] == [3]


@given(clusters(), st.integers(1, 5), st.sampled_from(Strategy), st.integers(0, 25))
def test_canaries_are_the_first_and_go_one_at_a_time(cluster, size, strategy, count):
    nodes, zones = cluster
    plain = order_batches(nodes, zones, size, strategy)
    planned = with_canaries(plain, count, strategy)
    every = [node for batch in plain for node in batch.nodes]
    assert [node for batch in planned for node in batch.nodes] == every
    canaries = [batch for batch in planned if batch.canary]
    assert planned[: len(canaries)] == canaries
    if strategy is SERVER:
        assert [len(batch.nodes) for batch in canaries] == [1] * min(count, len(every))
        assert all(len(batch.nodes) <= size for batch in planned)
    else:
        assert [batch.nodes for batch in planned] == [batch.nodes for batch in plain]
        taken = sum(len(batch.nodes) for batch in canaries)
        assert taken >= min(count, len(every))
        assert not canaries or taken - len(canaries[-1].nodes) < count
    for _zone, parts in groupby(planned, key=lambda batch: batch.zone):
        found = list(parts)
        assert [part.first for part in found] == [True] + [False] * (len(found) - 1)
        assert [part.last for part in found] == [False] * (len(found) - 1) + [True]


def test_batch_without_a_size_is_a_zone_but_no_more_than_looks_see():
    nodes = [Node(number, f"s{number}", "z1", False, True, "why") for number in range(60)]
    assert [len(batch.nodes) for batch in order_batches(nodes, ANY_ORDER, None, SERVER)] == [25, 25, 10]
    assert [len(batch.nodes) for batch in order_batches(nodes, ANY_ORDER, None, ZONE)] == [60]


@given(clusters(), st.one_of(st.none(), st.integers(1, 5)), st.integers(1, 3))
def test_no_batch_has_more_than_fit_and_the_order_stays(cluster, size, most):
    nodes, order = cluster
    planned = order_batches(nodes, order, size, SERVER, lambda some: len(some) <= most)
    assert all(len(batch.nodes) <= min(most, size or most) for batch in planned)
    whole = [node for batch in order_batches(nodes, order, size, SERVER) for node in batch.nodes]
    assert [node for batch in planned for node in batch.nodes] == whole
    for _zone, batches in groupby(planned, key=lambda batch: batch.zone):
        own = list(batches)
        assert [(batch.first, batch.last) for batch in own] == [
            (place == 0, place == len(own) - 1) for place in range(len(own))
        ]


@given(clusters())
def test_whole_zone_is_not_split(cluster):
    nodes, order = cluster
    assert order_batches(nodes, order, None, ZONE, lambda _some: False) == order_batches(nodes, order, None, ZONE)
