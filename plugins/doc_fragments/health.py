# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the option about the health of the cluster before a restart."""

from __future__ import annotations


class ModuleDocFragment:
    """Whether the cluster has to be healthy."""

    DOCUMENTATION = r"""
options:
  require_healthy:
    description:
      - Whether the cluster has to be healthy, as M(oceanbase.ocp.cluster_wait) demands it, right before the request. It
        waits for that up to O(safety_timeout). What only a person can clear, such as a FAILED task that holds a server,
        fails at once.
      - What this controller restarts in the same zone may be down, so that several servers of a zone can be restarted
        at the same time.
      - A server that does not serve is not restarted then, though a restart may be the remedy. Leave the option out for
        that.
    type: bool
    default: false
"""
