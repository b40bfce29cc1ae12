# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How a message writes an ``ansible`` command as the next step."""

from __future__ import annotations

# What fits a terminal, and says when the task has ended.
_ENDINGS = {
    "server_restart": {"wait": "true", "detail": "compact"},
    "task": {"wait": "true", "detail": "compact"},
    "task_info": {"detail": "summary"},
    "task_wait": {"detail": "compact"},
}
RUN_AGAIN = "Then run the same command again."


def adhoc_command(module: str, **options: object) -> str:
    """The ad-hoc command that runs ``module`` of the collection with these options, and shows its end in few lines."""
    words = " ".join(f"{name}={value}" for name, value in {**options, **_ENDINGS[module]}.items())
    return f"ansible localhost -m oceanbase.ocp.{module} -a '{words}'"
