# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether the folder of the journal may go away with a container, so that a name alone would be forgotten."""

from __future__ import annotations

import os
from pathlib import Path

from .._base.errors import OptionError
from .journal_folder import ansible_home, may_end_with_container

PERSISTS = "OCP_JOURNAL_PERSISTS"
# Podman and Docker make them in each container; a machine that was made of an image may have one too.
MARKS = (Path("/run/.containerenv"), Path("/.dockerenv"))
RUNTIMES = ("docker", "oci", "podman")
# Each job of these has a container of its own, whatever its image says of folders.
OF_JOBS = ("AWX_PRIVATE_DATA_DIR", "LAUNCHED_BY_RUNNER", "KUBERNETES_SERVICE_HOST")


def check_folder_lasts(what: str = "change: alone it", other: str = "or started_before too; ") -> None:
    """Raise OptionError where the journal on the disk may not be there for the next run.

    ``what`` rests on it, and ``other`` is one more way to do without it.
    """
    told = os.environ.get(PERSISTS, "").strip().lower()
    if told in ("1", "true", "yes"):
        return
    if told not in ("", "0", "false", "no"):
        raise OptionError(f"{PERSISTS}: {told!r} in the environment is neither yes nor no; give one of them.")
    if (where := _container()) is not None:
        raise OptionError(
            f"{what} rests on the journal, and that goes away with this container ({where}). Give "
            f"journal_url or OCP_JOURNAL_URL, a database that lasts; {other}or, if ANSIBLE_HOME is on a "
            f"volume that lasts, set {PERSISTS}=yes. Nothing was sent."
        )


def _container() -> str | None:
    """By what this is known to be a container whose folders do not last; None if it is none."""
    for name in OF_JOBS:
        if os.environ.get(name):
            return f"{name} is set"
    # Who names a folder in a container of his own has chosen it.
    if os.environ.get("ANSIBLE_HOME") or not may_end_with_container(ansible_home()):
        return None
    if os.environ.get("container") in RUNTIMES:  # noqa: SIM112 - its name
        return "container is set"
    return next((f"there is {mark}" for mark in MARKS if mark.exists()), None)
