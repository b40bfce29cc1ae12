# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The options of the modules that read and clear the journal: which names of a change and a cluster can be there."""

from __future__ import annotations

from .._base.change_name import parse_change_name
from .._base.errors import OptionError
from .connection_options import Params


def given_names(params: Params) -> tuple[str | None, str | None]:
    """The name of the change and the cluster, where they are given. Raises OptionError."""
    if params["cluster"] == "":
        raise OptionError("cluster: is empty; leave it out for all clusters.")
    change = params["change"]
    return None if change is None else parse_change_name(change), params["cluster"]
