# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The user and access key that tests call the emulator with."""

from __future__ import annotations

BASIC = {"username": "admin", "password": "ocp-demo-1"}
ACCESS_KEY = {"access_key_id": "emulator", "access_key_secret": "emulator-secret"}
