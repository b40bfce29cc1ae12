# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The base of all other packages: time, switches, permissions, paths and errors."""
