# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The scenarios of OCP's inspections, and the number of each in requests."""

from __future__ import annotations

SCENARIOS = {"basic": 1, "performance": 2, "in_depth": 3, "installation": 4}
