# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the options for a plan that is approved, of modules that plan."""

from __future__ import annotations


class ModuleDocFragment:
    """The file of the plan, written or approved."""

    DOCUMENTATION = r"""
options:
  plan_file:
    description:
      - Write the plan to this file, to be approved. The file is JSON with a digest, has mode 0600, and replaces an
        older one. In check mode nothing is written, and RV(digest) is the one that the file would have.
    type: path
  approved_plan:
    description:
      - The file of a plan that O(plan_file) has written. The plan is that of the file, without what it has restarted
        already. If anything has changed that it rests on, such as a server, a tenant, its voters or an option, the
        module fails and names all that differs.
    type: path
"""
