# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The callback oceanbase.ocp.evidence: which events of a run belong to its evidence."""

from __future__ import annotations

DOCUMENTATION = r"""
name: evidence
type: notification
short_description: Write what a run has restarted, with proof, to a file for the change ticket
version_added: 1.0.0
description:
  - Writes one JSON document and one HTML page about what the modules of this collection did in a run, whether it
    succeeded or not. They show who started it and from where, what was planned, each target with its start before and
    after the restart, the task and its duration, the proof, and what failed.
  - It uses only the results of the modules, and sends nothing to OCP.
  - It writes during the run, so a run that is killed leaves its evidence too.
  - It never replaces the file of an earlier run. If that exists, the new one gets a number, as in
    C(change-4711-2.json). The last line of the run names it.
  - A run without a module of this collection writes nothing.
  - It never makes a run fail. If it cannot write, there is a warning.
requirements:
  - Enable it with C(callbacks_enabled = oceanbase.ocp.evidence); for ad-hoc commands also with
    C(bin_ansible_callbacks).
options:
  file:
    description:
      - The file to write, as in V(change-4711.json). The page beside it ends in C(.html).
      - Nothing is written if it is not set.
    type: path
    env:
      - name: OCP_EVIDENCE
    ini:
      - section: callback_ocp_evidence
        key: file
  ticket:
    description: The change that the run belongs to, as in V(CHG-4711). It is shown in the document and on the page.
    type: str
    env:
      - name: OCP_EVIDENCE_TICKET
    ini:
      - section: callback_ocp_evidence
        key: ticket
seealso:
  - plugin: oceanbase.ocp.task_timeline
    plugin_type: filter
author:
  - contributors of oceanbase.ocp (!UNKNOWN)
"""

EXAMPLES = r"""
ansible.cfg: |
  [defaults]
  callbacks_enabled = oceanbase.ocp.evidence

  [callback_ocp_evidence]
  file = change-4711.json
  ticket = CHG-4711
"""

from ansible import context
from ansible.plugins.callback import CallbackBase
from ansible.utils.display import Display

from ..plugin_utils._evidence.run_recorder import RunRecorder


class CallbackModule(CallbackBase):
    """Hand the events of a run to its evidence."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "oceanbase.ocp.evidence"
    CALLBACK_NEEDS_ENABLED = True

    def set_options(self, task_keys=None, var_options=None, direct=None):
        """Read the options; without a file there is nothing to do."""
        super().set_options(task_keys=task_keys, var_options=var_options, direct=direct)
        file = self.get_option("file")
        self.disabled = not file
        if file:
            self._recorder = RunRecorder(file, self.get_option("ticket"), dict(context.CLIARGS), Display())

    def v2_playbook_on_start(self, playbook):
        self._recorder.playbook(playbook)

    def v2_playbook_on_play_start(self, play):
        self._recorder.play(play)

    def v2_runner_on_start(self, host, task):
        self._recorder.started(host, task)

    def v2_runner_item_on_ok(self, result):
        self._recorder.item(result)

    def v2_runner_item_on_failed(self, result):
        self._recorder.item(result, failed=True)

    def v2_runner_retry(self, result):
        self._recorder.retry(result)

    def v2_runner_on_ok(self, result):
        self._recorder.ended(result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._recorder.ended(result, failed=True, ignored=ignore_errors)

    def v2_runner_on_unreachable(self, result):
        self._recorder.ended(result, failed=True, unreachable=True)

    def v2_runner_on_skipped(self, result):
        self._recorder.skipped(result)

    def v2_playbook_on_stats(self, stats):
        self._recorder.stats(stats)
