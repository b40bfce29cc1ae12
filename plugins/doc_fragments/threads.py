# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the option of how much is done at the same time."""

from __future__ import annotations


class ModuleDocFragment:
    """How many requests are sent at the same time."""

    DOCUMENTATION = r"""
options:
  threads:
    description:
      - How many servers or clusters are looked at at the same time, 1 to 64. Each has a connection of its own.
      - The first request is answered before another one is sent, so a wrong password is sent once.
    type: int
    default: 16
"""
