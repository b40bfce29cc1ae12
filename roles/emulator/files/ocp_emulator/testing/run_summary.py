# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What an emulator under test did: its tasks and its newest requests, for the report of a failed test."""

from ocp_emulator.service import Service
from ocp_emulator.web.request_log import RequestFilter

# So many requests are shown.
_SHOWN = 20


def summary_of(service: Service) -> str:
    """A line for each."""
    lines = [
        f"task {row['id']} {row['name']}: {row['status']}"
        + (f", at {row['subtask']!r}" if row["subtask"] and row["status"] != "SUCCESSFUL" else "")
        for row in service.store.db.execute(
            "SELECT *, (SELECT description FROM subtasks WHERE task_id = tasks.id AND status IN ('RUNNING', 'FAILED')"
            " ORDER BY position LIMIT 1) AS subtask FROM tasks ORDER BY id"
        )
    ]
    requests = list(service.request_log.find(RequestFilter()))
    if len(requests) > _SHOWN:
        lines.append(f"{len(requests) - _SHOWN} requests before these")
    lines += [
        f"{each.method} {each.path}{f'?{each.query}' if each.query else ''} {each.status or 'no answer'}"
        + (f" (fault {each.fault[0]}: {each.fault[1]})" if each.fault else "")
        for each in requests[-_SHOWN:]
    ]
    return "\n".join(lines) or "no request"
