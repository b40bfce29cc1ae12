# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What kinds of paths there are."""

# Of the service's own, see ocp-api.md, section 1.4; what describes the API is public here.
PUBLIC_PATHS = frozenset({"/api/v2/time", "/api/v2/status", "/openapi.json"})

# What is not part of the emulated service.
CONTROL = "/emulator"


def is_control(path: str) -> bool:
    """Whether this is a path of the control API."""
    return path == CONTROL or path.startswith(f"{CONTROL}/")
