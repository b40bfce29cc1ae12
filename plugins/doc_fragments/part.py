# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the options of restarts that are one of several of a run."""

from __future__ import annotations


class ModuleDocFragment:
    """What the run of a restart is to restart in all, and when."""

    DOCUMENTATION = r"""
options:
  planned:
    description:
      - All targets of the run that this restart is one part of, each written as the run gives it to this module.
      - With it, a line after the restart says how far the run is, and the evidence of the callback
        P(oceanbase.ocp.evidence#callback) names the targets that the run has not reached. What is restarted does not
        depend on it.
    type: list
    elements: str
  windows:
    description:
      - Begin the restart only in one of these maintenance windows, and if it would end there. Outside, nothing begins,
        C(action) is V(postponed), and the reason says when the next window opens.
        See O(oceanbase.ocp.server_restart#module:windows).
    type: dict
"""
