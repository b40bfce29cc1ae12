# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How many voters a tenant has left and needs, by layouts written by hand."""

import pytest
from ocp_emulator.fleet.voters import TenantVoters, ZoneVoters, with_voters_on


def tenant(*zones, number=1):
    places = tuple(ZoneVoters(f"zone{at}", voters, frozenset(servers)) for at, (voters, servers) in enumerate(zones))
    return TenantVoters(number, 1, "shop", None, places)


THREE = tenant((1, [1, 2]), (1, [3, 4]), (1, [5, 6]))


@pytest.mark.parametrize(
    ("layout", "down", "remaining"),
    [
        pytest.param(THREE, [], 3, id="all serve"),
        pytest.param(THREE, [1], 2, id="any unit of a zone takes its voter"),
        pytest.param(THREE, [1, 2], 2, id="a zone loses its voter once"),
        pytest.param(THREE, [1, 3], 1, id="two zones"),
        pytest.param(THREE, [9], 3, id="a server of somebody else"),
        pytest.param(tenant((2, [1, 2])), [1], 1, id="two voters on two servers"),
        pytest.param(tenant((2, [1, 2])), [1, 2], 0, id="both of them"),
        pytest.param(tenant((2, [1])), [1], 1, id="more voters than servers"),
    ],
)
def test_each_server_that_is_down_takes_a_voter_of_its_zone(layout, down, remaining):
    assert layout.remaining(down) == remaining


@pytest.mark.parametrize(
    ("voters", "majority", "arbitrated"), [(1, 1, 1), (2, 2, 1), (3, 2, 2), (4, 3, 2), (5, 3, 3), (7, 4, 4)]
)
def test_half_of_the_voters_are_enough_with_an_arbiter_only(voters, majority, arbitrated):
    layout = tenant(*((1, [number]) for number in range(voters)))
    assert layout.needed(arbitrated=False) == majority
    assert layout.needed(arbitrated=True) == arbitrated


def test_tenants_are_found_by_the_servers_of_their_voters():
    other = tenant((1, [2, 7]), number=2)
    assert [each.id for each in with_voters_on([THREE, other], [7, 8])] == [2]
    assert [each.id for each in with_voters_on([THREE, other], [2])] == [1, 2]
