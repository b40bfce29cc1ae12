# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the option that names the change which a restart is for."""

from __future__ import annotations


class ModuleDocFragment:
    """At most one restart of each target for a name."""

    DOCUMENTATION = r"""
options:
  change:
    description:
      - The name of the change that the restart is for, as in V(memory-2026-11-20). Each target restarts at most once
        for a name, however often the task runs. No clock decides.
      - Make the change before you first use its name. A new change takes a new name.
      - When the name is first used for a target, the journal notes the start that OCP shows, and later the request, its
        task and its outcome. A target that shows a later start is left alone. If a task of it has begun since, no other
        request is sent. The journal is C(oceanbase.ocp/journal.sqlite) in C(ANSIBLE_HOME), by default C(~/.ansible),
        where the module runs, or the database of O(journal_url).
      - In a container whose folders may go away with it, a name alone needs O(journal_url), and is refused without. The
        environment variable C(OCP_JOURNAL_PERSISTS=yes) says that the folder stays.
      - With O(started_before) too, a target restarts only if both ask for it.
      - A name is bound to the instant and the values of parameters that it was first used with, and is refused with
        others. Names never expire.
      - If the task of a restart has succeeded, but no later start shows, the module fails and sends no second request.
        Check the target, then give a new name or a later O(started_before).
      - Check mode and plans read the journal and write nothing to it.
      - At most 200 printable characters, without a space at either end.
    type: str
"""
