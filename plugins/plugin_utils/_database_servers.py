# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which host is a database server, by its variables: an address with a port as ocp_server, beside ocp_cluster."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleError

# As the inventory of the collection sets them, and own inventories for the playbook fleet_restart.
SERVER, CLUSTER = "ocp_server", "ocp_cluster"
# Others may keep the address of OCP under this name: a URL, or a name alone.
ADDRESS_WITH_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):[0-9]{1,5}", re.ASCII)


def is_database_server(variables: dict[str, Any], template: Callable[[Any], Any]) -> bool:
    """Whether the host with these variables is one; ``template`` evaluates the value of a variable."""
    if SERVER not in variables or CLUSTER not in variables:
        return False
    try:
        server = template(variables[SERVER])
    except AnsibleError:  # a template of what is not there names no server
        return False
    return isinstance(server, str) and ADDRESS_WITH_PORT.fullmatch(server) is not None
