# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which zones have voters, in all forms of a locality that OceanBase documents, and in others."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.locality import leaders_of, voters_of, zones_in

FORMS = {
    "FULL{1}@zone1, FULL{1}@zone2, FULL{1}@zone3": {"zone1": True, "zone2": True, "zone3": True},
    "FULL{1}@zone1,READONLY{1}@zone2": {"zone1": True, "zone2": False},
    "F@z1,F@z2,L@z3": {"z1": True, "z2": True, "z3": True},
    "f@z1, full@z2 ,logonly {1} @ z3": {"z1": True, "z2": True, "z3": True},
    "F{1}@z1,F@z2,R{1}@z3,F@z4,F@z5": {"z1": True, "z2": True, "z3": False, "z4": True, "z5": True},
    "F@z1,C@z2,COLUMNSTORE{1}@z3": {"z1": True, "z2": False, "z3": False},
    "FULL{1},READONLY{2}@z1,R{all_server}@z2": {"z1": True, "z2": False},
    "READONLY{ALL_SERVER}@z1": {"z1": False},
    "FULL{1,MEMSTORE_PERCENT:100}@z1,FULL{1,MEMSTORE_PERCENT:0}@z2": {"z1": True, "z2": True},
    "F@[z1,z2],F@z3": {"z1": True, "z2": True, "z3": True},
    "F{2}@[z1, z2]": {"z1": True, "z2": True},
    "F,L@[z1,z2]": {"z1": True, "z2": True},
    "F,R@[z1,z2]": {"z1": None, "z2": None},
    "R@[z1,z2]": {"z1": False, "z2": False},
    "F@z1,WITNESS@z2": {"z1": True, "z2": None},
    "ENCRYPTION_LOGONLY@z1": {"z1": None},
    "F@z1,R@z1": {"z1": True},
    "R@z1,F@z1": {"z1": True},
    "WITNESS@z1,R@z1": {"z1": None},
    "F{0}@z1,F@z2": {"z1": False, "z2": True},
    "'F@z-1,F@机房二'": {"z-1": True, "机房二": True},
}


@pytest.mark.parametrize("locality", FORMS)
def test_every_form_is_understood(locality):
    assert voters_of(locality) == FORMS[locality]


LEADERS = {
    "F@z1,F@z2,L@z3": {"z1": True, "z2": True, "z3": False},
    "f@z1, full@z2 ,logonly {1} @ z3": {"z1": True, "z2": True, "z3": False},
    "F,L@[z1,z2]": {"z1": None, "z2": None},
    "L@z1,F@z1": {"z1": True},
    "F@z1,WITNESS@z2,R@z3": {"z1": True, "z2": None, "z3": False},
    "F{0}@z1,F@z2": {"z1": False, "z2": True},
}


@pytest.mark.parametrize("locality", LEADERS)
def test_only_full_replicas_can_lead(locality):
    assert leaders_of(locality) == LEADERS[locality]


@pytest.mark.parametrize("locality", [None, "", "FULL", "F@", "F@z1,F", "@z1", "F@[]", "1F@z1", ","])
def test_broken_locality_gives_nothing(locality):
    assert voters_of(locality) is None


def test_zone_list_tells_no_type():
    assert zones_in("zone1;zone2,zone3") == {"zone1": None, "zone2": None, "zone3": None}
    assert zones_in(None) == {}
