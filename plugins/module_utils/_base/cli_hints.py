# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How a message writes an ``ansible`` command as the next step."""

from __future__ import annotations


def adhoc_command(module: str, **options: object) -> str:
    """The ad-hoc command that runs ``module`` of the collection with these options."""
    words = " ".join(f"{name}={value}" for name, value in options.items())
    return f"ansible localhost -m oceanbase.ocp.{module} -a '{words}'"
