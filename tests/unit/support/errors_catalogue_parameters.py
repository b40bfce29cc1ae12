# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The catalogue of parameters: values that the cluster cannot have, and what fails once some were set."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters import offline_time
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
    OFFLINE_TIME,
    READONLY,
    SERVERS,
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

    yield from _offline_time_entries()


def _offline_time_entries() -> Iterator[Entry]:
    raised = {"cluster": "orders", "state": "raised", "raise_to": "4h"}
    servers = ("3600s", "2h", "3600s")
    yield _offline_time(OPTIONS, "raise_to", "what could not be put back", ("2h", "3600s"), raised, servers)
    yield _offline_time(OPTIONS, "raise_to", "no value to put back", ("orders",), raised, (None, None, None))
    words = (OFFLINE_TIME, "orders", "3600s", "state=restored")
    heading = "The offline time was not put back"
    with_row = {"cluster": "orders"}
    yield _offline_time(TASKS, heading, "a server keeps the raised value", words, with_row, ("4h", "4h", "4h"))


def _offline_time(
    group: str,
    heading: str,
    cause: str,
    words: tuple[str, ...],
    options: dict[str, str],
    shown: tuple[str | None, str | None, str | None],
) -> Entry:
    service = ParametersOcp()
    service.show(OFFLINE_TIME, *shown)
    # No value reaches a server.
    service.delay = 1000
    key = ("offline time", (service.url, 31))
    row = {"cluster": "orders", "servers": SERVERS, "old": "3600s", "ours": ["4h"], "token": "", "at": ""}
    with staged(service):
        # That of the module, which a test may have replaced.
        journal = offline_time.offline_time_journal(None, raises=False, read_only=False)
        if "state" not in options:
            journal.remember(*key, json.dumps([row]))
        result, kind = outcome_of("cluster_offline_time", {**CONNECTION, **options})
        journal.forget(*key)
    found = keys_of("cluster_offline_time", result)
    return Entry(group, heading, cause, result["msg"], words, kind, ("cluster_offline_time",), results=found)


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
