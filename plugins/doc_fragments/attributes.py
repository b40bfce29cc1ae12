# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of attributes that every module has: check mode, action group and the like."""

from __future__ import annotations


class ModuleDocFragment:
    """The attributes of the modules."""

    DOCUMENTATION = r"""
attributes:
  check_mode:
    description: Can run in check mode and report what it would do, without doing it.
  diff_mode:
    description: Shows in diff mode what it changed.
  idempotent:
    description: A second run with the same options changes nothing more.
  action_group:
    description: Takes its connection options from C(module_defaults) of a group.
    support: full
    details: Use C(group/oceanbase.ocp.ocp) in C(module_defaults) to set the connection for all modules of the
      collection.
    membership:
      - oceanbase.ocp.ocp
"""
