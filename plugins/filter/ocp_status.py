# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The filter oceanbase.ocp.ocp_status."""

from __future__ import annotations

DOCUMENTATION = r"""
name: ocp_status
short_description: Show a fleet and its tasks as text in a terminal
version_added: 1.0.0
description:
  - Returns clusters and their servers as text, a line for each, with status and start. Then a line for each task that
    runs or has FAILED, with the subtask. The first line counts all of them.
  - A line begins with V(!) if the cluster or server does not serve, or if the task has FAILED.
  - With more than 40 servers only those get a line that do not serve or that a task works on. With more than 40
    clusters this holds for clusters too, and the last line counts the others.
  - Text of the service cannot control the terminal. Characters that are not printable are shown as escapes like
    V(\\x1b).
positional: _input
options:
  _input:
    description:
      - A registered result of M(oceanbase.ocp.cluster_info), M(oceanbase.ocp.server_info),
        M(oceanbase.ocp.task_info) or M(oceanbase.ocp.arbitration_service_info), or of a loop over one, or a list of
        these. They must not have O(oceanbase.ocp.task_info#module:detail=compact). Of the arbitration services only
        those are shown that do not run.
      - Of a result that failed, the first line of its message is shown.
    type: raw
    required: true
  width:
    description:
      - The longest line, in columns; at least 40. Longer ones are cut.
      - By default lines are as wide as the terminal, and whole where the output goes into a file or a pipe.
    type: int
  tasks:
    description: How many tasks that run have a line at most, and how many that have FAILED. By default all of them.
    type: int
seealso:
  - plugin: oceanbase.ocp.task_table
    plugin_type: filter
  - module: oceanbase.ocp.text_display
author:
  - contributors of oceanbase.ocp (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Read the servers of all clusters
  oceanbase.ocp.server_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
  register: servers

- name: Read what has FAILED
  oceanbase.ocp.task_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    status: [FAILED]
  register: failed

- name: Display both
  oceanbase.ocp.text_display:
    text: "{{ [servers, failed] | oceanbase.ocp.ocp_status(width=80) }}"
"""

RETURN = r"""
_value:
  description: The text, without a newline at its end. With a O(width) the same results always give the same text.
  type: str
"""

from ansible.module_utils.common.validation import check_type_int

from ..plugin_utils._ansible_core import FilterError, terminal_columns
from ..plugin_utils._fleet_status import read_status, render_status

NAME = "ocp_status"
LEAST_WIDTH = 40


def ocp_status(value, width=None, tasks=None):
    columns = terminal_columns() if width is None else _number("width", width, LEAST_WIDTH)
    return render_status(read_status(NAME, value), columns, None if tasks is None else _number("tasks", tasks, 0))


def _number(option, value, least):
    try:
        number = check_type_int(value)
    except TypeError as error:
        raise FilterError(f"oceanbase.ocp.{NAME}: {option}: {error}") from error
    if number < least:
        raise FilterError(f"oceanbase.ocp.{NAME}: {option}: {number} is too little; give {least} or more.")
    return number


class FilterModule:
    def filters(self):
        return {NAME: ocp_status}
