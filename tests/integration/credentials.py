# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The user and access key by which tests call the emulator."""

from __future__ import annotations

BASIC = {"username": "admin", "password": "emulator"}
ACCESS_KEY = {"access_key_id": "emulator", "access_key_secret": "emulator-secret"}
