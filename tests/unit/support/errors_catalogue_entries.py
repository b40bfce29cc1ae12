# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""All entries of the catalogue of error messages, from its parts."""

from __future__ import annotations

import os
from functools import cache
from unittest import mock

from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue import Entry, merged
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_effect import effect_entries
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_fleet import fleet_entries
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_journal import journal_entries
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_options import option_entries
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_parameters import parameter_entries
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_safety import safety_entries
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_service import (
    answer_entries,
    transport_entries,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_task_actions import task_action_entries
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_tasks import target_entries, task_entries
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import environment_left_out


@cache
def every_entry() -> tuple[Entry, ...]:
    """All messages, with those that differ by the module alone as one."""
    groups = (
        option_entries,
        target_entries,
        answer_entries,
        transport_entries,
        task_entries,
        safety_entries,
        parameter_entries,
        effect_entries,
        task_action_entries,
        fleet_entries,
        journal_entries,
    )
    with mock.patch.dict(os.environ):
        for name in environment_left_out():
            del os.environ[name]
        return tuple(merged(entry for group in groups for entry in group()))


def entries(*groups: str) -> list[Entry]:
    return [entry for entry in every_entry() if entry.group in groups]
