# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the option for how much is done at the same time."""

from __future__ import annotations


class ModuleDocFragment:
    """How many requests are sent at the same time."""

    DOCUMENTATION = r"""
options:
  threads:
    description:
      - How many servers or clusters are handled at the same time, 1 to 64. Each has its own connection.
      - The module waits for the first answer before it sends more requests, so a wrong password is sent only once.
    type: int
    default: 16
"""
