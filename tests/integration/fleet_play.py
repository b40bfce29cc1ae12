# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A play that restarts several servers once for a change."""

from __future__ import annotations

from datetime import UTC, datetime

from credentials import BASIC


def now():
    return datetime.now(UTC).isoformat()


def fleet_play(emulator, servers, change, **options):
    """Restart each of ``servers`` once for ``change``, all at the same time, and wait for all of them."""
    return {
        "hosts": "localhost",
        "gather_facts": False,
        "module_defaults": {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}},
        "tasks": [
            {
                "name": "restart",
                "oceanbase.ocp.server_restart": {
                    "cluster": 1,
                    "server": "{{ item }}",
                    "freeze_server": False,
                    "started_before": change,
                    "safety": "none",
                    **options,
                },
                "loop": list(servers),
                "register": "restarts",
            },
            {
                "name": "wait",
                "ansible.builtin.include_role": {"name": "oceanbase.ocp.wait_for_restart"},
                "vars": {"wait_for_restart_tasks": ["{{ restarts }}"]},
            },
        ],
    }
