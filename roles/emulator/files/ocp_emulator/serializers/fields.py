# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Fields that may be absent from a response, and lists as parameters of SQL."""

import json
from collections.abc import Sequence
from typing import Any


def without_none(**values: object) -> dict[str, Any]:
    """The fields that have a value; None stands for a field that is absent from the response."""
    return {name: value for name, value in values.items() if value is not None}


def json_or_null(values: Sequence[object] | None) -> str | None:
    """A list as a parameter of SQL, for `json_each`; None stays NULL."""
    return None if values is None else json.dumps(values)
