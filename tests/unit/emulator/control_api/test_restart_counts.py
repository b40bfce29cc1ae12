# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The control call that counts restarts of each target."""


def test_restarts_are_counted_for_each_target(emulated):
    for begin, seconds in (
        (lambda: emulated.restart_cluster(2), 19),
        (lambda: emulated.restart_server(7), 13),
        (lambda: emulated.restart_arbitration(1), 5),
        (lambda: emulated.restart_agents(3), 9),
        (lambda: emulated.restart_obproxies(1, 2), 6),
    ):
        begin()
        emulated.pass_time(seconds)
    assert emulated.restarts() == {
        ("ARBITRATION_SERVICE", 1): 1,
        ("HOST", 3): 1,
        ("OBPROXY", 1): 1,
        ("OBPROXY", 2): 1,
        ("OB_CLUSTER", 2): 1,
        **{("OB_SERVER", server): 2 if server == 7 else 1 for server in (7, 8, 9)},
        **{("OB_ZONE", zone): 1 for zone in (4, 5, 6)},
    }
    names = {each["name"] for each in emulated.get("/emulator/restarts")["contents"]}
    assert {"payments", "payments/zone1", "10.0.0.7:2882", "10.0.0.3", "10.0.0.10:2888"} <= names
