# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The event source oceanbase.ocp.ocp_tasks."""

from __future__ import annotations

DOCUMENTATION = r"""
---
short_description: Follow the tasks of an OCP
description:
  - Emits an event when a task of OCP has started, when one of its subtasks has failed, and when it has finished.
  - Begins with the tasks that are running when it starts. Each counts as started then.
  - Temporary polling errors do not end it, and no event is lost. Rejected credentials and a missing permission end it
    at once.
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
      - Id of a task. Tasks with a larger id are reported from their start, even if they have already ended. Use it to
        catch up after a gap.
    type: int
  interval:
    description:
      - The longest pause between two polls, in seconds.
      - A poll costs two requests, and one for each task that has changed.
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
    - V(started), V(subtask_failed), V(finished), or V(resumed) if a failed task runs again because a person retries it
      or rolls it back.
    - If a task that had failed runs and ends between two polls, that is not seen.
  type: str
task:
  description:
    - The task with the keys that M(oceanbase.ocp.task_info) returns. C(subtasks) has only those that FAILED.
    - A task that was rolled back finishes with the status SUCCESSFUL, so check C(succeeded).
  type: dict
subtask:
  description: The subtask that failed, for V(subtask_failed); else null.
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
