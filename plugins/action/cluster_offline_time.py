# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ..modules.cluster_offline_time import DEFINITION
from ..plugin_utils._in_process import InProcess


class ActionModule(InProcess):
    definition = DEFINITION
