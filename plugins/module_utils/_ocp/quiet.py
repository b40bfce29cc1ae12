# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Requests without urllib3's warning of an unverified server; the warning filters of the process stay as they were."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from threading import Lock


class Quiet:
    """Ignores warnings of a category while any thread is inside.

    The first one in sets the filter, the last one out restores what was there. The filters are of the whole process,
    which may be Ansible's own, and ``catch_warnings`` alone would leave its filter behind where threads cross.
    """

    def __init__(self, category: type[Warning]) -> None:
        self._category = category
        self._guard = Lock()
        self._inside = 0
        self._filters = ExitStack()

    def __enter__(self) -> None:
        with self._guard:
            if not self._inside:
                self._filters.enter_context(warnings.catch_warnings(action="ignore", category=self._category))
            self._inside += 1

    def __exit__(self, *_raised: object) -> None:
        with self._guard:
            self._inside -= 1
            if not self._inside:
                self._filters.close()
