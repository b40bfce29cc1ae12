# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The catalogue of parameters: values that the cluster cannot have, and what fails once some were set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue import (
    OPTIONS,
    TASKS,
    Entry,
    keys_of,
    outcome_of,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_service import GET, error_status
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_tasks import staged
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_parameters import (
    DYNAMIC,
    READONLY,
    STATIC,
    ParametersOcp,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import CONNECTION

PATH = "/api/v2/ob/clusters/31/parameters"
REFUSED = "cannot be the value in this cluster"


def parameter_entries() -> Iterator[Entry]:
    """The messages of the modules for parameters."""
    for module in ("cluster_parameter", "cluster_parameter_info"):
        for wanted in ({STATIC: "21M"}, {STATIC: "5"}, {STATIC: "5s"}, {DYNAMIC: "010"}, {"stack_sise": "5M"}):
            yield _entry(module, OPTIONS, "parameters", REFUSED, wanted)
    yield _entry("cluster_parameter", OPTIONS, "parameters", REFUSED, {READONLY: "eth0", STATIC: "1G"})

    def breaks(service: ParametersOcp) -> None:
        service.failing = [error_status(GET, 500, path=PATH)]

    yield _entry("cluster_parameter", TASKS, "Parameters were set", "the read after it fails", {DYNAMIC: "12"}, breaks)


def _entry(
    module: str,
    group: str,
    heading: str,
    cause: str,
    wanted: dict[str, str],
    change: Callable[[ParametersOcp], Any] = lambda _service: None,
) -> Entry:
    service = ParametersOcp()
    change(service)
    with staged(service):
        result, kind = outcome_of(module, {**CONNECTION, "cluster": "orders", "parameters": wanted})
    return Entry(group, heading, cause, result["msg"], tuple(wanted), kind, (module,), results=keys_of(module, result))
