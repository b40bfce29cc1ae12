# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The filter oceanbase.ocp.task_table."""

from __future__ import annotations

DOCUMENTATION = r"""
name: task_table
short_description: Show tasks of OCP as text in a terminal
version_added: 1.0.0
description:
  - Returns one or more tasks as text, with a line for each subtask, in execution order.
  - A failed subtask is shown with the last 20 lines of its log, if the result has it in C(failed_subtasks) with
    C(log_tail).
  - Text of the service cannot control the terminal. Characters that are not printable are shown as escapes like
    V(\\x1b).
positional: _input
options:
  _input:
    description:
      - A task as the modules of this collection return it, a registered result of such a module or of a loop over one,
        or a list of these.
      - Results without a task, such as of a restart that was not needed, are ignored.
    type: raw
    required: true
  title:
    description: A line above the tasks.
    type: str
  width:
    description:
      - The longest line, in columns; at least 40. East Asian wide characters count as two.
      - With 72 columns or more there is a bar for each subtask.
    type: int
    default: 100
  color:
    description: Whether states are coloured, by ANSI escape sequences.
    type: bool
    default: false
seealso:
  - plugin: oceanbase.ocp.task_timeline
    plugin_type: filter
  - module: oceanbase.ocp.task_info
author:
  - contributors of oceanbase.ocp (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Restart the agents of two hosts
  oceanbase.ocp.agent_restart:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    hosts: [10.0.0.1, 10.0.0.2]
    wait: true
  register: agents

- name: Show what was done, one line of the result for each line of the table
  ansible.builtin.debug:
    msg: "{{ (agents | oceanbase.ocp.task_table(width=80)).splitlines() }}"
"""

RETURN = r"""
_value:
  description: The text, without a newline at its end. The same tasks always give the same text.
  type: str
"""

from ansible.module_utils.common.validation import check_type_bool, check_type_int

from ..module_utils._base.text import one_line
from ..plugin_utils._ansible_core import FilterError
from ..plugin_utils._timeline.terminal_table import LEAST_WIDTH, render_table
from ..plugin_utils._timeline.timeline import read_tasks

NAME = "task_table"


def task_table(value, title=None, width=100, color=False):
    columns = _option("width", check_type_int, width)
    if columns < LEAST_WIDTH:
        raise FilterError(f"oceanbase.ocp.{NAME}: width: {columns} is too little; give {LEAST_WIDTH} or more.")
    return render_table(read_tasks(NAME, value), one_line(title), columns, _option("color", check_type_bool, color))


def _option(name, convert, value):
    try:
        return convert(value)
    except TypeError as error:
        raise FilterError(f"oceanbase.ocp.{NAME}: {name}: {error}") from error


class FilterModule:
    def filters(self):
        return {NAME: task_table}
