# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The modules that read and set parameters, by real commands against a running emulator."""

from __future__ import annotations

import yaml
from credentials import BASIC
from documentation_blocks import EXAMPLE_URL, SECRETS, blocks
from execution_path import ORDINARY

SERVERS = [f"10.0.0.{last}:2882" for last in range(1, 7)]
WANTED = {"stack_size": "5M", "tcp_keepcnt": 12}
REFUSED = {
    "stack_size: 21M is out of range; give 512K or more and 20M or less": {"stack_size": "21M"},
    "stack_size: 5s is of another type; give a capacity": {"stack_size": "5s"},
    "devname: eth0 cannot be set, since the parameter is read-only": {"tcp_keepcnt": 12, "devname": "eth0"},
    "cluster orders has no parameter stack_sise. Did you mean stack_size?": {"stack_sise": "5M"},
    "ilog_index_expire_time: 5G is of another type; give a time": {"ilog_index_expire_time": "5G"},
    "stack_size and STACK_SIZE are the same parameter": {"stack_size": "5M", "STACK_SIZE": "5M"},
}


def in_one_play(ansible, emulator, cases):
    """The results of modules, one task for each ``(module, options, keywords)``."""
    tasks = [
        {"name": str(number), f"oceanbase.ocp.{module}": {"cluster": "orders", **options}, **keywords}
        for number, (module, options, keywords) in enumerate(cases)
    ]
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    return list(ansible.tasks(*tasks, module_defaults=defaults).results.values())


def test_wrong_values_and_check_mode_send_nothing(ansible, emulator):
    [page] = blocks("docs/parameters.md", "yaml")
    plays = yaml.safe_load(page.replace(EXAMPLE_URL, emulator.url))
    plays[0]["vars"] |= SECRETS
    outcome = ansible.playbook(plays)
    assert outcome.rc == 0, outcome.output
    assert "-stack_size: 512K" in outcome.output
    assert "+stack_size: 5M" in outcome.output
    reason, pending = outcome.results["Show both"]["msg"]
    assert reason.startswith(
        "Would set stack_size=5M, trace_log_slow_query_watermark=500ms. stack_size takes effect at a"
    )
    assert pending == "6 of 6 servers do not have all values"

    ignored = {"ignore_errors": True}
    cases = [("cluster_parameter", {"parameters": wanted}, ignored) for wanted in REFUSED.values()]
    cases.append(("cluster_parameter_info", {"names": ["stack_sise"]}, ignored))
    *refused, read = in_one_play(ansible, emulator, cases)
    assert [message for message, result in zip(REFUSED, refused, strict=True) if message not in result["msg"]] == []
    assert read["msg"].startswith("names: cluster orders has no parameter stack_sise. Did you mean stack_size?")
    assert emulator.requests("PUT") == []


def test_parameters_are_set_and_in_effect_after_restarts(ansible, emulator):
    setting = ("cluster_parameter", {"parameters": WANTED, "settle_time": 1}, {})
    restart = ("server_restart", {"server": SERVERS[0], "freeze_server": False, "wait": True, "wait_interval": 0.5}, {})
    reading = ("cluster_parameter_info", {"parameters": WANTED}, ORDINARY)
    first, second, _restarted, third, read = in_one_play(
        ansible, emulator, [setting, setting, restart, setting, reading]
    )
    assert (first["changed"], first["in_effect"], first["needs_restart"]) == (True, False, ["stack_size"])
    assert (first["restart_servers"], first["previous"]) == (SERVERS, {"stack_size": "512K", "tcp_keepcnt": "10"})
    assert [each["in_effect"] for each in first["parameters"]] == [False, True]
    # A static value that is set but not in effect is sent again.
    assert (second["changed"], second["previous"]) == (True, {"stack_size": "512K", "tcp_keepcnt": "12"})
    assert (third["restart_servers"], read["pending"]) == (SERVERS[1:], SERVERS[1:])
    assert [each["told_apart"] for each in third["parameters"]] == [True, None]
    assert len(emulator.requests("PUT")) == 3


def test_service_that_shows_the_new_value_at_once_is_found_out(ansible, start_emulator):
    emulator = start_emulator("--parameter-values", "set")
    setting = ("cluster_parameter", {"parameters": WANTED, "settle_time": 1}, {})
    first, second = in_one_play(ansible, emulator, [setting, setting])
    assert (first["in_effect"], first["restart_servers"], first["parameters"][0]["told_apart"]) == (
        None,
        SERVERS,
        False,
    )
    assert (second["changed"], second["in_effect"], second["restart_servers"]) == (False, None, None)
