# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the option that names the values of parameters which a restart is for."""

from __future__ import annotations


class ModuleDocFragment:
    """Which values of parameters are to be in effect afterwards."""

    DOCUMENTATION = r"""
options:
  until_effective:
    description:
      - The values of parameters that the restart is for. A server that shows them is left alone, and no clock decides.
        Set them before, as with M(oceanbase.ocp.cluster_parameter).
      - With O(started_before) too, a server is left alone only if it has started since and shows them. One that has
        started since and shows other values makes the module fail, since another restart would not help.
      - Without it, a server that shows them is left alone only where OCP is known to show the old value of a server
        until that has restarted. It is, if it shows two values of the parameter now, or has done so to this controller
        before, or if M(oceanbase.ocp.cluster_parameter) saw the old value after it had set the new one. Else the module
        fails, and asks for O(started_before).
      - Where OCP shows no value for each server, the module fails before anything is sent. With O(started_before), that
        decides alone then, and there is a warning.
      - A server that has just restarted may show its values late. For 180 seconds it is looked at again, before it is
        restarted.
      - Unknown names, and values that OCP would refuse, are refused.
      - Values are in messages and results, so use C(no_log) for one that has a secret in it.
    type: dict
"""
