# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Read a target and the tasks running on it, in an order that misses no restart."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from .._base.errors import PermissionDenied
from .._ocp.endpoints import OcpApi
from .._targets.target import Observation, Target
from .decision import Operation
from .last_restart import with_last_restart
from .running_tasks import listed_operations, named_operations

Found = TypeVar("Found")


class TargetReader:
    """Reads one target, again and again. ``warnings`` gets a sentence for what these credentials may not read."""

    def __init__(self, api: OcpApi, target: Target, warnings: list[str]) -> None:
        self._api = api
        self._target = target
        self._warnings = warnings
        self._first_observation = target.first_observation

    def read(self, since: datetime | None) -> tuple[Observation, list[Operation]]:
        """The target and the tasks running on it, newest first.

        The last restart ``since`` then is the start of a target that shows none. Raises a ServiceError.
        """
        observed, operations, outdated = self._read_once()
        if outdated:
            observed, operations, _outdated = self._read_once()
        if since is not None and not self._target.shows_start:
            unknown = f"when the last restart of {self._target.label} was"
            evident = self._if_permitted(unknown, lambda: with_last_restart(self._api, self._target, observed, since))
            observed = evident or observed
        return observed, operations

    def _read_once(self) -> tuple[Observation, list[Operation], bool]:
        """The target, the tasks running on it, newest first, and whether it names a task that no longer runs."""
        observed, self._first_observation = self._first_observation, None
        listed = None
        if observed is None or not observed.names_operations:
            # Read the list first: a restart that ends between the two reads then shows in the start.
            unknown = f"whether a restart of {self._target.label} is running already"
            listed = self._if_permitted(unknown, lambda: listed_operations(self._api, self._target))
            observed = self._target.observe(self._api)
        named = named_operations(self._api, self._target, observed)
        running = {operation.task_id: operation for operation in [*(listed or []), *named.running]}
        return observed, [running[number] for number in sorted(running, reverse=True)], named.outdated

    def _if_permitted(self, unknown: str, read: Callable[[], Found]) -> Found | None:
        try:
            return read()
        except PermissionDenied as error:
            self._warnings.append(f"It is not known {unknown}: {error}")
            return None
