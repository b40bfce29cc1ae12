# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Ansible's folder, in which the journal of a controller is, and on which file systems it may be."""

from __future__ import annotations

import os
from pathlib import Path

from .._base.errors import JournalError

# Those that other machines cannot write to: WAL shares memory between all who use a file.
LOCAL_FILE_SYSTEMS = frozenset(
    {"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "ramfs", "reiserfs", "tmpfs", "xfs", "zfs"}
)
# Those in which Docker, Podman and containerd keep what a container writes, and that end with it.
CONTAINER_FILE_SYSTEMS = frozenset({"aufs", "fuse.fuse-overlayfs", "overlay", "tmpfs"})
MOUNTS = Path("/proc/self/mountinfo")
FILE = "journal.sqlite"


def ansible_home() -> Path:
    """Ansible's folder. Raises JournalError if there is none."""
    try:
        return Path(os.environ.get("ANSIBLE_HOME") or "~/.ansible").expanduser().absolute()
    except RuntimeError as error:
        raise JournalError(
            "There is no place for the journal, since this user has no home. Set ANSIBLE_HOME to a folder."
        ) from error


def journal_file() -> Path:
    """The path of this controller's journal, whether it exists or not. Raises JournalError if there is no home."""
    return ansible_home() / "oceanbase.ocp" / FILE


def is_local(path: Path) -> bool:
    """Whether a file is on a disk of this machine, as far as that is known."""
    kinds = _file_systems(path)
    return bool(kinds) and kinds <= LOCAL_FILE_SYSTEMS


def may_end_with_container(folder: Path) -> bool:
    """Whether a folder, which need not exist, is not known to be on a volume of its own."""
    there = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    kinds = _file_systems(there)
    return not kinds or bool(kinds & CONTAINER_FILE_SYSTEMS)


def _file_systems(path: Path) -> set[str]:
    """Their kinds, of the device that a path is on; empty if it is not known."""
    try:
        device = path.stat().st_dev
        mounts = [line.split() for line in MOUNTS.read_text().splitlines()]
    except OSError:
        return set()
    number = f"{os.major(device)}:{os.minor(device)}"
    return {fields[fields.index("-") + 1] for fields in mounts if fields[2] == number}
