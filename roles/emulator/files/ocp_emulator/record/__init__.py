# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A proxy that records requests and answers without secrets, and compares them with the contract."""
