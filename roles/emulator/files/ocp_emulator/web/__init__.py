# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One HTTP request: its context, its parameters, its connection, and the log of requests."""
