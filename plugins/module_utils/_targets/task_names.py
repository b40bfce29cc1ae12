# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The names of the restart tasks of the service, and which spelling means which kind."""

from __future__ import annotations

from .._base.parsing import Record

# See docs/dev/contract.md, "Task graphs".
SERVER_RESTART = "Restart OB server"
ZONE_RESTART = "Restart OB zone"
CLUSTER_RESTART = "Restart OB cluster"
AGENT_RESTART = "Batch restart OCP agent"
ARBITRATION_RESTART = "Restart arbitration service"

# The task of one host's agent restarts it too. Tasks with other names, such as a reinstallation, work on it as well.
SINGLE_AGENT_RESTART = "Restart OCP agent"
AGENT_WORDS = "ocp agent"

# Filters for these names, which are compared as a whole afterwards. One word each, because services encode a space
# differently.
AGENT_FILTER = "agent"
ARBITRATION_FILTER = "arbitration"


DATABASE_RESTARTS = (SERVER_RESTART, ZONE_RESTART, CLUSTER_RESTART)
_OTHERS = (AGENT_RESTART, SINGLE_AGENT_RESTART, ARBITRATION_RESTART)
# Words in the names of tasks that start processes, though they are not called restarts.
_STARTING = ("start", "upgrade", "patch", "install", "replace", "rebuild", "recover", "migrate")
_KNOWN = {name.casefold(): name for name in (*DATABASE_RESTARTS, *_OTHERS)}


def kind_of(name: str | None) -> str | None:
    """One of these names without regard to case, since documents spell some in two ways; other names as they are."""
    return _KNOWN.get(str(name).casefold(), name)


def is_known(name: str | None) -> bool:
    """Whether it is one of these names."""
    return kind_of(name) in _KNOWN.values()


def is_foreign(task: Record) -> bool:
    """Whether a task has no name, one in another language, or that of a restart of no known kind: it may be of any."""
    name = str(task.get("name") or "")
    has_words = name.isascii() and any(map(str.isalpha, name))
    return not has_words or ("restart" in name.casefold() and not is_known(name))


def may_start(task: Record) -> bool:
    """Whether a task may start what it works on, for all that its name tells: an upgrade does, a backup does not."""
    name = str(task.get("name") or "").casefold()
    return is_foreign(task) or any(word in name for word in _STARTING)


def is_named(task: Record, name: str) -> bool:
    """Whether a task is of the kind ``name``."""
    return kind_of(task.get("name")) == name


def is_other_kind(task: Record, name: str | None) -> bool:
    """Whether a task is known to be of another kind than ``name``. A service may name its tasks in another language."""
    return kind_of(task.get("name")) != name and is_known(task.get("name"))
