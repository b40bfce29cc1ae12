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
      - Restart only what started before this instant, such as that of the change which the restart is for. What
        is proven to have started since is left alone, so the same task can run again and again.
      - Without it the module always restarts, unless a restart is running already, see O(in_flight).
      - ISO 8601 with an offset, as in V(2026-05-04T03:02:01+08:00) or V(2026-05-03T19:02:01Z), or seconds since
        1970. A local time without an offset is refused.
      - It is an instant by the clock of the machine that runs the module. If the clock of the service differs, it
        is moved by the difference, with a warning when that is more than 5 seconds. A difference of more than 5 minutes
        is refused, and so is a service whose answers disagree about the time by as much.
      - An instant more than a minute in the future is refused, since every run until then would restart again.
      - The start that the service shows is the proof. What shows none, or not all of it, counts as started before,
        unless a restart task since then is known to have done its work.
      - What has started since, but does not serve or is held by a FAILED task, makes the module fail.
    type: str
  in_flight:
    description:
      - What to do when a restart of the target is running already, or something else that OCP does to it.
      - V(attach) takes a running restart for the one asked for, if it restarts all that needs it and has begun at or
        after O(started_before), or that is not given. A restart of the cluster is one of its servers too. Anything
        else that is running makes the module fail.
      - V(fail) fails, unless O(started_before) is proven to be met already.
      - V(queue) waits, up to O(wait_timeout), until it has ended, and then decides anew. With O(started_before) a
        running restart that begun since is taken as with V(attach).
    type: str
    choices: [attach, fail, queue]
    default: attach
  wait:
    description:
      - Whether to wait until the task of the restart has ended, and to prove that the target has started anew.
      - Without it the module returns as soon as the service has started the task; wait for it later with
        M(oceanbase.ocp.task_wait).
    type: bool
    default: false
  show_steps:
    description:
      - Whether the lines of O(show_progress) are one for each subtask. Without them there is one when a minute has
        passed, then after two more, four more and so on up to fifteen.
    type: bool
    default: true
attributes:
  check_mode:
    support: full
    details: Finds and reads the target, decides as for real and reports what would be done. No restart is sent.
  diff_mode:
    support: full
    details: Shows when what is restarted had started, or its processes, before and after; until it was waited for
      only that it restarts.
notes:
  - The request that starts the restart takes effect at most once. It is repeated only when it provably never
    reached the service. After a refusal for too many requests (429) it is not sent again without a new look at the
    target.
  - When its answer is lost, the module looks for the task that it may have started, for as long as O(timeout). The
    only one of that target and kind is adopted. If there is none, or there are several, the module fails and says
    that the outcome is unknown; it does not send the request again.
  - When the service refuses the restart as it would a busy target, or its task fails in the first step, the module
    looks once more at what is running and decides anew.
  - Two controllers that look at the same moment may both send, since OCP has no token by which it would know that they
    want the same. Then it is up to OCP whether the second request is refused.
"""
