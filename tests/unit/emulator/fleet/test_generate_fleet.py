# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The default fleet and generated ones."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from ocp_emulator.fleet.fleet_file import FleetError
from ocp_emulator.fleet.generate_fleet import default_fleet, generated_fleet


@settings(deadline=None)
@given(some.integers(1, 5), some.integers(1, 4), some.integers(1, 6))
def test_generated_fleet_has_the_requested_size_and_unique_addresses(clusters, zones, servers_per_zone):
    fleet = generated_fleet(clusters, zones, servers_per_zone)
    assert (len(fleet.clusters), len(fleet.zones)) == (clusters, clusters * zones)
    assert len(fleet.servers) == len({server.ip for server in fleet.servers}) == clusters * zones * servers_per_zone
    assert len(fleet.hosts) == len(fleet.servers) + 1
    assert sum(server.root for server in fleet.servers) == clusters


def test_generated_fleet_size_is_limited():
    assert len(generated_fleet(1, 1, 1_000).servers) == 1_000
    with pytest.raises(FleetError, match="100000"):
        generated_fleet(1_000, 100, 2)


def test_fingerprint_identifies_a_fleet():
    assert default_fleet().fingerprint() == default_fleet().fingerprint()
    assert default_fleet().fingerprint() != generated_fleet(2, 3, 1).fingerprint()
