# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Valid options for each module, and the variables of the environment that tests leave out."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from ansible.module_utils import basic
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.bridge import Definition
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL

try:
    from ansible.module_utils import testing
except ImportError:  # ansible-core 2.18

    def patch_module_args(args: dict[str, Any]) -> AbstractContextManager[Any]:
        return mock.patch.object(basic, "_ANSIBLE_ARGS", json.dumps({"ANSIBLE_MODULE_ARGS": args}).encode())

else:
    patch_module_args = testing.patch_module_args


COLLECTION = "ansible_collections.oceanbase.ocp"
# From ansible-core 2.22 on, a module passes its secrets to Ansible, which masks them in displayed results.
MASKED_WHERE_SHOWN = importlib.util.find_spec("ansible.module_utils.secrets") is not None
ROOT = Path(__file__).parents[3]
MODULES = sorted(path.stem for path in (ROOT / "plugins/modules").glob("*.py") if path.stem != "__init__")
BASIC = {"username": "admin", "password": "pass-word-9"}
KEY = {"access_key_id": "key-id", "access_key_secret": "key-secret-9"}
CONNECTION = {"url": URL, **BASIC}
OWN = {
    "server_restart": {"cluster": "orders", "server": "10.1.0.1:2882", "freeze_server": True},
    "cluster_restart": {"cluster": "orders"},
    "zone_restart": {"cluster": "orders", "zone": "zone1"},
    "agent_restart": {"hosts": ["10.1.0.1"]},
    "arbitration_service_restart": {"arbitration_service": "10.1.0.8:2888"},
    "obproxy_restart": {"obproxy_cluster": "entry", "obproxies": ["10.1.0.1:2883"]},
    "cluster_wait": {"cluster": "orders"},
    "cluster_rolling_restart_info": {"clusters": ["orders"], "started_before": "2026-05-04T03:00:00+08:00"},
    "fleet_restart": {
        "servers": [{"cluster": "orders", "server": "10.1.0.1:2882"}],
        "freeze_server": True,
        "started_before": "2026-05-04T03:00:00+08:00",
    },
    "cluster_rolling_restart": {
        "cluster": "orders",
        "freeze_server": True,
        "started_before": "2026-05-04T03:00:00+08:00",
    },
    "fleet_restart_info": {
        "servers": [{"cluster": "orders", "server": "10.1.0.1:2882"}],
        "started_before": "2026-05-04T03:00:00+08:00",
    },
    "task": {"task_id": 81, "state": "retried"},
    "cluster_info": {},
    "cluster_parameter_info": {"cluster": "orders"},
    "cluster_parameter": {"cluster": "orders", "parameters": {"stack_size": "5M"}},
    "cluster_offline_time": {"cluster": "orders", "state": "raised", "raise_to": "4h"},
    "server_info": {},
    "host_info": {},
    "arbitration_service_info": {},
    "obproxy_info": {},
    "ocp_info": {},
    "task_info": {},
    "task_wait": {"task_ids": [81]},
    "restart_journal_info": {},
    "restart_journal_clear": {"change": "memory-2026-11-20"},
    "text_display": {"text": "FACTS"},
}
# They restart several servers, with results of their own.
OF_SEVERAL = ("fleet_restart", "cluster_rolling_restart")
RESTARTS = [name for name in OWN if name.endswith("_restart") and name not in OF_SEVERAL]
WAITING = [*RESTARTS, "cluster_wait", "task", "task_wait"]
every_module = pytest.mark.parametrize("name", MODULES)
OF_THE_JOURNAL = ("restart_journal_clear", "restart_journal_info")
# They ask no OCP.
WITHOUT_SERVICE = (*OF_THE_JOURNAL, "text_display")
every_module_of_the_service = pytest.mark.parametrize("name", [name for name in MODULES if name not in WITHOUT_SERVICE])


def definition_of(module: str) -> Definition:
    found: Definition = importlib.import_module(f"{COLLECTION}.plugins.modules.{module}").DEFINITION
    return found


def environment_left_out() -> list[str]:
    """The environment variables that would reach a module: options, proxies and certificates."""
    return [name for name in os.environ if name.lower().endswith(("_proxy", "_ca_bundle")) or name.startswith("OCP_")]
