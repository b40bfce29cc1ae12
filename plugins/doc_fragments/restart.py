# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the options that restart modules share."""

from __future__ import annotations


class ModuleDocFragment:
    """When to restart, what to do about a restart that runs already, and waiting."""

    DOCUMENTATION = r"""
options:
  started_before:
    description:
      - Restart only what started before this instant, such as the instant of the change that the restart is for. What
        is proven to have started since is left alone, so the same task can run again and again.
      - Without it and O(change) the module always restarts, unless a restart is already running, see O(in_flight).
      - ISO 8601 with an offset, as in V(2026-05-04T03:02:01+08:00) or V(2026-05-03T19:02:01Z), or seconds since
        1970. A local time without an offset is refused.
      - It is an instant by the clock of the machine that runs the module. If the clock of the service differs, the
        module corrects the instant, with a warning above 5 seconds. It refuses a difference of more than 5 minutes, and
        a service whose answers disagree about the time by as much.
      - An instant more than a minute in the future is refused, because every run until then would restart again.
      - The proof is the start that the service shows. A target whose start is not fully shown counts as started before,
        unless a restart task since then is known to have done its work.
      - The module fails if the target has started since, but does not serve or is held by a FAILED task.
    type: str
  in_flight:
    description:
      - What to do if a restart of the target is already running, or OCP does something else to it.
      - V(attach) joins a running restart if it covers everything that needs the restart, and began at or after
        O(started_before), if that is given. A restart of the cluster also counts as a restart of its servers. The
        module fails if anything else is running.
      - V(fail) fails, unless O(started_before) is already proven to be met.
      - V(queue) waits until it has ended, up to O(wait_timeout), and then decides again. With O(started_before) it
        joins a running restart that began since, as V(attach) does. A failed read does not end the wait.
    type: str
    choices: [attach, fail, queue]
    default: attach
  wait:
    description:
      - Whether to wait until the task of the restart has ended, and to prove that the target has restarted.
      - Without it the module returns as soon as the service has started the task. Wait for it later with
        M(oceanbase.ocp.task_wait).
    type: bool
    default: false
  show_steps:
    description:
      - Whether O(show_progress) shows a line for each subtask. Otherwise it shows a line each minute, with the step
        that runs.
    type: bool
    default: true
attributes:
  check_mode:
    support: full
    details: Finds and reads the target, decides as in a real run, and reports what it would do. It sends no restart.
  diff_mode:
    support: full
    details: Shows the start or the processes of the target before and after. Without a wait it shows only that the
      target restarts.
notes:
  - The request that starts the restart is never blindly repeated. The module repeats it only if it provably never
    reached the service. After a refusal for too many requests (429) it checks the target again before it sends it
    again.
  - If its answer is lost, the module looks for the task that the request may have started, for as long as O(timeout).
    It adopts the task if there is only one of that target and kind. If there is none, or there are several, it fails
    and reports that the outcome is unknown. It does not send the request again.
  - If the service refuses the restart because the target is busy, or the task fails in its first step, the module
    checks again what is running, and decides again.
  - Two controllers that check at the same moment may both send the request, because OCP has no idempotency key. Then it
    is up to OCP whether it refuses the second request.
"""
