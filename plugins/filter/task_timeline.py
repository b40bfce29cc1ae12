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
  - Returns one or more tasks as one HTML document. It needs no other file, no network and no script, and suits a phone,
    paper and dark mode.
  - Shows the subtasks in execution order, each as a bar from its start to its finish. The bar of a running subtask ends
    at the newest time in any of the tasks. A subtask without a start has a mark instead.
  - A failed subtask is shown with the end of its log, if the result has it in C(failed_subtasks) with C(log_tail). At
    most the last 200 lines and 64 KiB are shown.
  - Everything from the service is shown as plain text. Characters that are not printable, such as control characters
    and those that change the direction of text, are shown as escapes like V(\\x1b).
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
    description: Title of the page. The default is the name of the task, or the number of tasks.
    type: str
seealso:
  - plugin: oceanbase.ocp.task_table
    plugin_type: filter
  - module: oceanbase.ocp.task_info
author:
  - contributors of oceanbase.ocp (!UNKNOWN)
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
