# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fields and words of audit events (docs/dev/contract.md, "Audit events")."""

from typing import Literal

from ocp_emulator.schemas.schema import Long, Schema, Timestamp, absent


class AuditEvent(Schema):
    """Who requested an operation, from where and when. `taskId` comes with newer versions of the service."""

    id: Long
    client_ip: str
    event_type: str
    event_info: str
    execution_type: Literal["NEW"]
    operation_event: str
    operator_id: Long
    operator_name: str
    resource_id: Long
    resource_name: str
    resource_type: str
    status: Literal["SUCCESS"]
    task_id: Long = absent()
    start_time: Timestamp
    end_time: Timestamp
