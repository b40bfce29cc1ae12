# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The schema of the version of the service."""

from ocp_emulator.schemas.schema import Schema, Timestamp


class Info(Schema):
    """What is running here; the one answer that is not enveloped (docs/contract.md, "Versions and profiles")."""

    artifact: str
    build_time: Timestamp
    build_version: str
    edition: str
    group: str
