# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Who started the run and from where: user, machine, folder, AWX job; without credentials."""

from __future__ import annotations

import getpass
import os
import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from ...module_utils._base.parsing import Record
from ...module_utils._base.text import one_line

# The extra variables that AWX and Tower pass to a playbook.
AWX_FACTS = ("user_name", "job_id", "job_template_name", "workflow_job_id", "project_revision")
AWX_PREFIXES = ("awx_", "tower_")


def requested_by(environment: Mapping[str, str]) -> Record:
    """The user of the controller, and who has become that user by sudo."""
    user = None
    with suppress(OSError, KeyError, ImportError):
        user = getpass.getuser()
    return {"user": one_line(user), "sudo_user": one_line(environment.get("SUDO_USER")), "ocp_users": []}


def requested_from(environment: Mapping[str, str]) -> Record:
    """The controller, the folder, and the address that its user has come from by SSH."""
    folder = None
    with suppress(OSError):
        folder = Path.cwd()
    client = environment.get("SSH_CLIENT", "").split(" ")[0]
    return {"host": one_line(platform.node()), "folder": one_line(folder), "ssh_client": one_line(client), "awx": None}


def awx_job(extra_vars: Mapping[str, object]) -> Record | None:
    """What AWX shows about the job; None without AWX."""
    found = {
        name: next((told for prefix in AWX_PREFIXES if (told := one_line(extra_vars.get(f"{prefix}{name}")))), None)
        for name in AWX_FACTS
    }
    return found if any(found.values()) else None


def command(options: Mapping[str, object]) -> Record:
    """The command of Ansible and those of its options that narrow a run. Never its variables, which may be secrets."""
    return {
        "command": one_line(Path(sys.argv[0]).name),
        "check_mode": bool(options.get("check")),
        "limit": one_line(options.get("subset")),
        **{name: _words(options.get(name)) for name in ("tags", "skip_tags")},
    }


def service_address(url: object) -> str | None:
    """The address of an OCP without a login or query in it; None if it is none."""
    try:
        parts = urlsplit(str(url or ""))
        place = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    except ValueError:
        return None
    return one_line(f"{parts.scheme}://{place}{parts.path.rstrip('/')}") if parts.scheme and place else None


def process_id() -> int:
    """To recognise a fork of the process, which must not write."""
    return os.getpid()


def _words(value: object) -> list[str]:
    found = value if isinstance(value, (list, tuple)) else []
    return [word for each in found if (word := one_line(each))]
