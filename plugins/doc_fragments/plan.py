# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the options of restarts that are part of a plan."""

from __future__ import annotations


class ModuleDocFragment:
    """What is required right before a restart: a healthy cluster, and time."""

    DOCUMENTATION = r"""
options:
  require_healthy:
    description:
      - Whether the cluster has to be healthy right before the request, as M(oceanbase.ocp.cluster_wait) defines it. The
        module waits for that up to O(safety_timeout), also while the service does not answer. A problem that only a
        person can clear, such as a FAILED task that holds a server, fails at once.
      - Servers that this controller restarts in the same zone may be down, so several servers of a zone can be
        restarted at the same time.
      - With it, a server that does not serve is not restarted, although a restart may be the remedy. Leave the option
        out in that case.
    type: bool
    default: false
  finish_before:
    description:
      - Do not begin the restart if it would not end before this instant, such as the end of a maintenance window. The
        module decides right before the request, by the longest past restart of this kind in the cluster. If there is
        none, only the instant counts.
      - A restart that is not begun is not a failure; C(action) is V(postponed). It does not apply to a restart that is
        already running.
      - ISO 8601 with an offset, as in V(2026-05-04T05:00:00+08:00), or seconds since 1970, by the clock of the machine
        that runs the module.
    type: str
  windows:
    description:
      - Begin a restart only while one of these maintenance windows is open, and if it would end before the window
        closes. It is judged right before the request, by the longest past restart of this kind in the cluster, and by
        the clock of the machine that runs the module. Outside, nothing is begun. That is not a failure, and the
        message says when the next window opens.
      - V(time_zone) is an IANA name, as in V(Europe/Berlin). V(weekly) is a list of windows, each with V(start) and
        V(end) in quotes, as in V('22:00'), and V(days), a list of V(mon) to V(sun). Without V(days) it is each day. An
        V(end) that is not later than V(start) is on the next day. A window may have its own V(time_zone). Windows that
        touch are one.
      - V(blackouts) is a list of days, as in V(2026-12-24), or of spans with V(from) and V(to), each a day or a time as
        in V(2026-12-24 18:00), in V(time_zone). A day at V(to) is closed as a whole.
      - Where clocks are set back and a local time comes twice, a window opens at the second and closes at the first. A
        time that clocks skip is the instant at which they do. So a window may be shorter, and one within that hour
        does not open on that day.
    type: dict
"""
