# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The event source oceanbase.ocp.ocp_tasks."""

from __future__ import annotations

DOCUMENTATION = r"""
---
short_description: Follow the tasks of an OCP
description:
  - Emits an event when a task of OCP has started, when a subtask of it has failed, and when it has finished.
  - Begins with the tasks that run when it starts, each of which counts as started then.
  - A look that fails is repeated until one succeeds, and nothing is lost meanwhile. Refused credentials and a missing
    permission end it at once.
options:
  cluster:
    description: Only tasks of this cluster, by name or id.
    type: str
  host:
    description: Only tasks of this host, by id or inner IP address.
    type: str
  name:
    description: Only tasks whose name contains this.
    type: str
  newer_than:
    description:
      - Id of a task. Tasks with a larger one are told of from their start even where they have ended already, to take
        up what went by while nobody followed.
    type: int
  interval:
    description:
      - The longest pause between two looks, in seconds.
      - A look costs two requests, and one for each task that has changed.
    type: float
    default: 10
extends_documentation_fragment:
  - oceanbase.ocp.connection
"""

EXAMPLES = r"""
- name: Watch the restarts of a cluster
  hosts: localhost
  sources:
    - oceanbase.ocp.ocp_tasks:
        url: https://ocp.example.com:8080
        username: admin
        password: "{{ ocp_password }}"
        cluster: orders
        name: restart
  rules:
    - name: A restart did not succeed
      condition: event.change == "finished" and event.task.succeeded == false
      action:
        debug:
          msg: "Task {{ event.task.id }} ({{ event.task.name }}) did not succeed"
"""

RETURN = r"""
change:
  description:
    - V(started), V(subtask_failed), V(finished), or V(resumed) where a task runs again that had failed, since a person
      retries it or rolls it back.
    - What a task that had failed before does between two looks is not seen.
  type: str
task:
  description:
    - The task with the keys that M(oceanbase.ocp.task_info) returns. Of its C(subtasks) there are those that FAILED.
    - A task that was rolled back has finished with the status SUCCESSFUL, so ask for C(succeeded).
  type: dict
subtask:
  description: The subtask that failed, with V(subtask_failed); else null.
  type: dict
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

# ansible-rulebook runs this file where no collection can be imported. Ansible's own way to import them would keep
# ansible-rulebook from running its filters, so this is Python's: from the folder that ansible_collections is in.
COLLECTIONS = str(Path(__file__).parents[4].parent.parent.parent)
if COLLECTIONS not in sys.path:
    sys.path.append(COLLECTIONS)

from ansible_collections.oceanbase.ocp.plugins.plugin_utils._event_source import put_changes


async def main(queue: asyncio.Queue[Any], args: dict[str, Any]) -> None:
    """Put the events on the ``queue`` until cancelled."""
    await put_changes(queue.put, args)
