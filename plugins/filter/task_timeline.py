# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The filter oceanbase.ocp.task_timeline."""

from __future__ import annotations

DOCUMENTATION = r"""
name: task_timeline
short_description: Draw tasks of OCP as an HTML page with a Gantt chart
version_added: 1.0.0
description:
  - Makes one HTML document of one or many tasks. It needs no other file, no network and no script, and looks right on a
    phone, on paper, and in dark mode.
  - Shows the subtasks in execution order, each as a bar from its start to its finish. What is still running reaches
    to the newest time seen in any of the tasks; what has no start has a mark instead.
  - A subtask that failed is shown with the end of its log, where the result has it as C(failed_subtasks) with
    C(log_tail). At most the last 200 lines and 64 KiB are shown.
  - Whatever the service says is shown as text. Characters that are not printable, such as control characters and
    those that change the direction of text, stand as escapes like V(\\x1b).
positional: _input
options:
  _input:
    description:
      - A task as the modules of this collection return it, a registered result of such a module, also of a loop, or a
        list of these.
      - Results that have no task, as of a restart that was not needed, are passed over.
    type: raw
    required: true
  title:
    description: Title of the page. If not given, the name of the task, or the number of tasks.
    type: str
seealso:
  - plugin: oceanbase.ocp.task_table
    plugin_type: filter
  - module: oceanbase.ocp.task_info
author:
  - oceanbase.ocp contributors (@oceanbase)
"""

EXAMPLES = r"""
- name: Read the newest tasks of a cluster
  oceanbase.ocp.task_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    cluster: orders
  register: history

- name: Draw them
  ansible.builtin.copy:
    content: "{{ history | oceanbase.ocp.task_timeline(title='Tasks of orders') }}"
    dest: "{{ playbook_dir }}/orders.html"
    mode: "0644"
"""

RETURN = r"""
_value:
  description: The HTML document. The same tasks always give the same document.
  type: str
"""

from ..module_utils._base.text import one_line
from ..plugin_utils._timeline.html_page import render_html
from ..plugin_utils._timeline.timeline import read_tasks

NAME = "task_timeline"


def task_timeline(value, title=None):
    return render_html(read_tasks(NAME, value), one_line(title))


class FilterModule:
    def filters(self):
        return {NAME: task_timeline}
