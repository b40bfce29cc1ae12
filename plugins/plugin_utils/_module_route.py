# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""When a module runs in the controller's process, when as an ordinary module, when not at all; ocp_in_process."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ..module_utils._base.text import one_line
from ..module_utils._ocp.session import REQUESTS_IMPORT_ERROR
from ._ansible_core import has_become, is_delegated, missing_name, task_of, template_of, transport_of
from ._database_servers import is_database_server

VARIABLE, ENVIRONMENT = "ocp_in_process", "OCP_IN_PROCESS"


class RouteRefused(Exception):
    """The module must not run; the text says why, and what to set."""


def obstacle(plugin: Any, variables: dict[str, Any]) -> str | None:
    """Why the module of an action plugin runs as an ordinary module; None if it runs in the controller's process.

    ``variables`` are those of the task. Raises RouteRefused, and AnsibleError for a variable that cannot be evaluated.
    """
    if plugin.definition.on_controller:
        return _of_core(plugin)
    template = template_of(plugin)
    _check_host(plugin, variables, template)
    return _switched_off(variables, template) or _of_core(plugin) or _of_task(plugin) or _of_controller()


def _of_core(plugin: Any) -> str | None:
    missing = missing_name(plugin)
    return f"this ansible-core has no {missing}" if missing else None


def _check_host(plugin: Any, variables: dict[str, Any], template: Callable[[Any], Any]) -> None:
    """Credentials do not belong on a database server."""
    transport = transport_of(plugin)
    if transport == "local" or is_delegated(plugin) or not is_database_server(variables, template):
        return
    host = variables.get("inventory_hostname")
    raise RouteRefused(
        f"{host} is a database server, and the connection is {transport}; nothing was sent. Set connection: local "
        "in the play and no ansible_connection for the host, so that the module runs on the controller; or use "
        "delegate_to to run it on another machine."
    )


def _switched_off(variables: dict[str, Any], template: Callable[[Any], Any]) -> str | None:
    """The switch that turns the route off, as in ``OCP_IN_PROCESS is false``; the variable comes first."""
    if VARIABLE in variables:
        name, value = VARIABLE, template(variables[VARIABLE])
    elif ENVIRONMENT in os.environ:
        name, value = ENVIRONMENT, os.environ[ENVIRONMENT]
    else:
        return None
    try:
        return None if boolean(value) else f"{name} is false"
    except TypeError:
        raise RouteRefused(
            f"{name}: {one_line(value) or 'its value'} is neither true nor false, so nothing was sent; "
            "give false for ordinary modules, or leave it out."
        ) from None


def _of_task(plugin: Any) -> str | None:
    if transport_of(plugin) != "local":
        return f"the connection is {transport_of(plugin)}"
    if task_of(plugin).async_val:
        return "the task has async"
    if has_become(plugin):
        return "the task has become"
    if any(task_of(plugin).environment):
        return "the task has environment"
    return None


def _of_controller() -> str | None:
    if platform.system() == "Darwin":
        # The look for proxies calls into Objective-C, which ends a forked process such as Ansible's workers.
        return "requests are not safe in Ansible's processes on macOS"
    if REQUESTS_IMPORT_ERROR is not None:
        return "the controller's Python has no requests"
    return None
