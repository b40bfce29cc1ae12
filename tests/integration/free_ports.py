# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Ports that stay free until they are used."""

from __future__ import annotations

import contextlib
import random
import socket


def kept_port() -> int:
    """A port of 127.0.0.1 that stays free until it is used: none of those that the system gives to who asks for any."""
    while True:
        with contextlib.suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", random.randint(20_000, 30_000)))
            return int(tried.getsockname()[1])
