# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the option about how many servers may be down at the same time."""

from __future__ import annotations


class ModuleDocFragment:
    """How many servers may be down at the same time, over all clusters."""

    DOCUMENTATION = r"""
options:
  most_down:
    description:
      - How many servers may be down at the same time by restarts of this collection, over all clusters of the service,
        as in V({"idc":1,"percent":10}). Without it only the tenants of each cluster limit that.
      - V(host), V(idc) and V(region) are the most in each single host machine (by its IP address), IDC and region.
        V(servers) is the most in all. These are whole numbers from 1.
      - V(percent), from 1 to 100, is the most in all as a share of all servers of the service that these credentials
        see, rounded down, but at least one server. They are counted at most once an hour.
      - A restart counts from right before its request until OCP shows that its servers serve again, and have started
        since or their task has ended. Every restart in the journal counts, also one without this option. With a journal
        that several controllers share (O(journal_url)) the limit holds for all of them together. Servers of the same
        cluster that are down anyway count too. What is down already may be restarted.
      - A server whose IDC or region OCP does not show counts in each of them.
      - A restart that is not allowed yet waits for its turn. This counts neither for O(wait_timeout) nor for
        O(safety_timeout). It fails if the restarts that it waits for have been the same for O(wait_timeout) seconds.
    type: dict
"""
