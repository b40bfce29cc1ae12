# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The folder of the repository."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
