# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which paths need no credentials, and which belong to the control API."""

# Those of the service: docs/dev/contract.md, "Authentication". The description of the API is public here too.
TIME = "/api/v2/time"
DOCS = "/docs"
# What the emulator says about itself.
OWN_PATHS = frozenset({"/openapi.json", DOCS})
PUBLIC_PATHS = frozenset({TIME, "/api/v2/status"}) | OWN_PATHS

# The control API is not part of the emulated service.
CONTROL = "/emulator"


def is_control(path: str) -> bool:
    """Whether this is a path of the control API."""
    return path == CONTROL or path.startswith(f"{CONTROL}/")
