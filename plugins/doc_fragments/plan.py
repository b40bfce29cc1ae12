# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the options of restarts that are part of a plan."""

from __future__ import annotations


class ModuleDocFragment:
    """What has to be there right before a restart: a healthy cluster, and time."""

    DOCUMENTATION = r"""
options:
  require_healthy:
    description:
      - Whether the cluster has to be healthy, as M(oceanbase.ocp.cluster_wait) demands it, right before the request. It
        waits for that up to O(safety_timeout), also while the service cannot be read. What only a person can clear,
        such as a FAILED task that holds a server, fails at once.
      - What this controller restarts in the same zone may be down, so that several servers of a zone can be restarted
        at the same time.
      - A server that does not serve is not restarted then, though a restart may be the remedy. Leave the option out for
        that.
    type: bool
    default: false
  finish_before:
    description:
      - Do not begin the restart if it would not be done before this instant, such as the end of a maintenance window.
        It is judged right before the request, by the longest of the past restarts of this kind in the cluster. Without
        any the instant alone counts.
      - What is not begun is no failure; C(action) is V(postponed). A restart that is running already is not judged.
      - ISO 8601 with an offset, as in V(2026-05-04T05:00:00+08:00), or seconds since 1970, by the clock of the machine
        that runs the module.
    type: str
"""
