# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Defects that the project had, or could have had, each as a patch that puts it back: a search has to find them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from email.utils import parsedate_to_datetime
from math import inf
from typing import Any
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.inventory import ocp as inventory_plugin
from ansible_collections.oceanbase.ocp.plugins.module_utils._base import censor, parsing, text
from ansible_collections.oceanbase.ocp.plugins.module_utils._module import bridge
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.secret_options import censor_of
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import (
    deadline,
    json_limits,
    paging,
    records,
    response_body,
    retries,
    session,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import run as restart_run
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting import progress_lines, task_changes
from ansible_collections.oceanbase.ocp.plugins.plugin_utils import _in_process, _inventory_hosts
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._timeline import html_page
from ansible_collections.oceanbase.ocp.tests.fuzz.oracle import trust_as_template
from jinja2 import Environment
from urllib3.util import Retry

Defect = Callable[[], AbstractContextManager[Any]]


def _same(value: Any) -> Any:
    return value


def _as_template(value: Any) -> Any:
    """What a value is that nobody has marked, before ansible-core 2.19 and, as said there, from then on."""
    if isinstance(value, str):
        return trust_as_template(value)
    if isinstance(value, list):
        return [_as_template(item) for item in value]
    return value


def _replaced(*patches: tuple[Any, str, Any]) -> Defect:
    @contextmanager
    def put_back() -> Iterator[None]:
        with ExitStack() as stack:
            for owner, name, value in patches:
                stack.enter_context(mock.patch.object(owner, name, value))
            yield

    return put_back


def _ids_of_events_as_sent() -> AbstractContextManager[Any]:
    untyped = dict.fromkeys(("clusterId", "hostId"), _same)
    stack = ExitStack()
    stack.enter_context(mock.patch.object(task_changes, "_with_integer_ids", _same))
    stack.enter_context(mock.patch.dict(records._TASK, untyped))
    return stack


def _without_url_encoding(secret: str) -> Iterator[str]:
    return (form for form in ENCODED(secret) if "%" not in form and "+" not in form)


ENCODED = censor._encoded


def _call_without_censored_progress(definition: Any, params: Any, mode: Any) -> Any:
    return bridge._called(definition, params, mode).cleaned(censor_of(params))


def _run_that_loses_facts(self: Any) -> Any:
    self._run()
    return self._attempt.result()


def _increment_without_budget(self: Any, *args: Any, **options: Any) -> Any:
    return Retry.increment(self.new(total=self.total), *args, **options)


def _without_depth(content: bytes) -> Any:
    json_limits._check_number(content)
    return json.loads(content)


def _raw_date(value: Any) -> Any:
    return value and parsedate_to_datetime(value)


def _environment_that_escapes_nothing(**options: Any) -> Environment:
    return Environment(**{**options, "autoescape": False})


DEFECTS: dict[str, Defect] = {
    "variables of the inventory are not marked unsafe": _replaced((inventory_plugin, "untrusted", _as_template)),
    "any address becomes a host": _replaced((_inventory_hosts, "_is_address", lambda _value: True)),
    "ids of events are as the service sends them": _ids_of_events_as_sent,
    "the censor does not know the URL-encoded form": _replaced((censor, "_encoded", _without_url_encoding)),
    "progress lines bypass the censor": _replaced((_in_process, "call_module", _call_without_censored_progress)),
    "a cut secret keeps its beginning": _replaced((censor.Censor, "_without_cut_end", lambda _self, piece: piece)),
    "lists are read without end": _replaced((paging.PagedRead, "go_on", lambda _self, _page: None)),
    "a deep answer raises RecursionError": _replaced((response_body, "parse_json", _without_depth)),
    "an answer is unpacked without a limit": _replaced((response_body, "LARGEST_BODY", inf)),
    "an answer is parsed however many values it has": _replaced((json_limits, "_check_number", lambda _content: None)),
    "a request has no deadline": _replaced((deadline.Deadline, "left", 1e9)),
    "a pause after a 429 has no limit": _replaced(
        (retries.RateLimitRetry, "_count_failure", _increment_without_budget), (retries, "LONGEST_WINDOW", inf),
        (retries, "LONGEST_PAUSE", inf),
    ),
    "a POST is repeated after a 502": _replaced(
        (retries.RateLimitRetry, "_is_method_retryable", lambda _self, _method: True)
    ),
    "the id of the task is lost when a wait fails": _replaced((restart_run._Run, "run", _run_that_loses_facts)),
    "a Date header that is none crashes": _replaced((session, "http_date", _raw_date)),
    "a time at the end of the calendar crashes": _replaced((parsing, "FIRST_YEAR", 1), (parsing, "LAST_YEAR", 9999)),
    # As it is read, and once more as it is shown.
    "texts keep escape sequences": _replaced(
        (text, "escape_unprintable", str), (progress_lines, "escape_unprintable", str)
    ),
    "texts are cut without a mark for the censor": _replaced((text, "CUT", "")),
    "a page escapes nothing": _replaced(
        (html_page, "Environment", _environment_that_escapes_nothing),
        (html_page, "page_template", html_page.page_template.__wrapped__),  # not from the cache
    ),
}  # fmt: skip
