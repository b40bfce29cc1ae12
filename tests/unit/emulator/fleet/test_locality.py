# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a locality of the database says, in its long and short forms."""

import pytest
from ocp_emulator.fleet.locality import parse_locality


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FULL{1}@zone1", [("zone1", "FULL", 1)]),
        (
            "FULL{1}@zone1, FULL{1}@zone2, READONLY{1}@zone3",
            [("zone1", "FULL", 1), ("zone2", "FULL", 1), ("zone3", "READONLY", 1)],
        ),
        ("F@z1,R{2}@z2,L@z3", [("z1", "FULL", 1), ("z2", "READONLY", 2), ("z3", "LOGONLY", 1)]),
        ("F@z1, LOGONLY{1}@z2", [("z1", "FULL", 1), ("z2", "LOGONLY", 1)]),
        ("FULL{1},READONLY{3}@zone1", [("zone1", "FULL", 1), ("zone1", "READONLY", 3)]),
        ("F,R@east-1, F@west", [("east-1", "FULL", 1), ("east-1", "READONLY", 1), ("west", "FULL", 1)]),
    ],
)
def test_locality_is_read_in_every_form(text, expected):
    assert [(each.zone, each.type, each.number) for each in parse_locality(text)] == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'' is not a part"),
        ("zone1", "'zone1' is not a part"),
        ("FULL{1}", "ends without a zone"),
        ("FULL{1}@zone1, FULL{1}", "ends without a zone"),
        ("FULL{0}@zone1", "'FULL{0}@zone1' is not a part"),
        ("FULL{ALL}@zone1", "is not a part"),
        ("X{1}@zone1", "'X{1}@zone1' is not a part"),
        ("FULL{1}@", "is not a part"),
        ("FULL{1}@z,F@z", "twice"),
        ("READONLY{1}@zone1", "no replica that votes"),
    ],
)
def test_invalid_locality_is_refused_with_the_part(text, reason):
    with pytest.raises(ValueError, match=r".") as caught:
        parse_locality(text)
    assert reason in str(caught.value)
