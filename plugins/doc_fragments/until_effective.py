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
      - The values of parameters that the restart is for. A server that shows them is left alone, whatever its start
        time. Set them first, as with M(oceanbase.ocp.cluster_parameter).
      - With O(started_before) or O(change) too, both have to ask for the restart. A server that has started since and
        shows other values is a failure, because another restart would not help.
      - What a server shows counts only if OCP is known to show the old value of a server until it has restarted. That
        is known if OCP shows two values of the parameter now, or showed them to this controller before, or if
        M(oceanbase.ocp.cluster_parameter) saw the old value after it had set the new one. Otherwise the start alone
        decides, and without O(started_before) and O(change) the module fails and asks for one of them.
      - If OCP does not show the value of each server, the module fails before anything is sent. With O(started_before),
        only that decides, and there is a warning.
      - A server that has just restarted may show its values late. The module checks it again for up to 180 seconds
        before it restarts it, and for a minute more because the clock of its host may be behind.
      - The module refuses unknown names, and values that OCP would refuse.
      - Values appear in messages and results, so use C(no_log) if one contains a secret.
    type: dict
"""
