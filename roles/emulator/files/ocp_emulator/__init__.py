# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An emulator of OceanBase Cloud Platform (OCP): its restart operations, their tasks, and the reads around them."""

VERSION = "1.0.0"
