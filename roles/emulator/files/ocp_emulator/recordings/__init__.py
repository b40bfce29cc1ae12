# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A recording of an OCP: its file, and the fleet, the state, the switches and the answers that follow from it."""
