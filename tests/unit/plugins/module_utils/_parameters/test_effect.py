# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""On which servers wanted values are in effect, and when the service is known to tell old from new."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.records import parameter_record
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.effect import Effect

A, B, C = (f"10.0.0.{number}:2882" for number in (1, 2, 3))


def shows(name="stack_size", needs_restart=True, kind="CAPACITY", **servers):
    """A parameter; ``servers`` have the value of each, as in ``a="5M"``."""
    current: dict[str, list[str]] = {}
    for server, value in servers.items():
        current.setdefault(value, []).append({"a": A, "b": B, "c": C}[server])
    raw = {"name": name, "needRestart": needs_restart, "valueRange": {"type": kind}}
    return parameter_record({**raw, "currentValue": {"valueToServers": current}})


def effect(*shown, servers=(A, B), **wanted):
    return Effect.of(wanted or {"stack_size": "5M"}, shown, servers)


def test_server_with_another_value_or_none_is_pending():
    found = effect(shows(a="5120K", b="4M"), servers=(A, B, C))
    assert [found.pending(server) for server in (A, B, C)] == [[], ["stack_size"], ["stack_size"]]
    assert found.pending_servers == [B, C]
    assert found.shown(B) == {"stack_size": "4M"}
    assert found.shown(C) == {"stack_size": None}


def test_each_wanted_parameter_counts():
    found = effect(shows(a="5M", b="5M"), shows("x", kind=None, a="1", b="2"), stack_size="5M", x="2")
    assert found.pending(A) == ["x"]
    assert found.pending_servers == [A]


def test_without_servers_those_that_show_a_value_count():
    assert effect(shows(a="5M", c="4M"), servers=()).servers == (A, C)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ([shows(a="5M")], True),
        ([shows(c="5M")], False),
        ([shows()], False),
        ([shows("other", a="5M")], False),
        ([], False),
        ([shows(a="")], True),
    ],
)
def test_whether_there_are_values_of_servers(shown, expected):
    assert effect(*shown).values_per_server is expected


def test_values_are_needed_for_each_wanted_parameter():
    assert not effect(shows(a="5M"), shows("x"), stack_size="5M", x="1").values_per_server


@pytest.mark.parametrize(
    ("shown", "after_set", "expected"),
    [
        (shows(a="5M", b="4M"), False, True),
        (shows(a="4M", b="3M"), False, True),
        (shows(a="5M", b="5M"), False, False),
        # The same value, written in two ways.
        (shows(a="5M", b="5120K"), False, False),
        (shows(a="4M", b="4M"), False, False),
        (shows(a="4M", b="4M"), True, True),
        (shows(a="5M", b="5M"), True, False),
        (shows(needs_restart=False, a="4M", b="4M"), True, False),
        (shows(needs_restart=None, a="4M", b="4M"), True, False),
        (shows(needs_restart=None, a="5M", b="4M"), False, True),
        (shows(a="5M"), False, False),
        # A server that is not of this cluster.
        (shows(a="5M", b="5M", c="4M"), False, False),
        (shows(), True, False),
    ],
)
def test_whether_old_and_new_are_told_apart(shown, after_set, expected):
    assert effect(shown).told_apart("stack_size", after_set=after_set) is expected
