# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The event source ``ocp_tasks``: rulebook options in, task changes out as events, without secrets."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ..module_utils._base.clock import Clock
from ..module_utils._base.errors import OcpError, OptionError
from ..module_utils._fleet.task_queries import task_filters
from ..module_utils._module.connection_options import (
    CONNECTION_OPTIONS,
    Params,
    connected,
    plaintext_password_warnings,
)
from ..module_utils._module.refusal_notes import with_notes
from ..module_utils._module.restart_options import poll_interval
from ..module_utils._module.secret_options import censor_of
from ..module_utils._ocp.session import REQUESTS_IMPORT_ERROR
from ..module_utils._waiting.task_changes import Listener, follow_tasks

Put = Callable[[dict[str, Any]], Coroutine[Any, Any, None]]

OPTIONS: dict[str, Any] = {
    "cluster": {"type": "str"},
    "host": {"type": "str"},
    "name": {"type": "str"},
    "newer_than": {"type": "int"},
    "interval": {"type": "float", "default": 10},
    **CONNECTION_OPTIONS,
}

logger = logging.getLogger(__name__)


async def put_changes(put: Put, options: Params) -> None:
    """Put an event for each change of the tasks in ``options``, until cancelled; raises an OcpError.

    The requests run in a thread. It hands over one event at a time, so a full queue pauses it.
    """
    loop = asyncio.get_running_loop()
    cancelled = threading.Event()

    def hear(event: dict[str, Any]) -> None:
        if cancelled.is_set():
            return
        put_there = asyncio.run_coroutine_threadsafe(put(event), loop)
        while not (wait([put_there], timeout=1).done or cancelled.is_set()):
            pass
        if cancelled.is_set():
            put_there.cancel()
        else:
            put_there.result()

    try:
        await asyncio.to_thread(_follow, options, hear, cancelled)
    finally:
        cancelled.set()


def _follow(options: Params, hear: Callable[[dict[str, Any]], None], cancelled: threading.Event) -> None:
    if REQUESTS_IMPORT_ERROR is not None:
        raise OptionError("The Python library requests is missing where ansible-rulebook runs; install requests>=2.31.")
    params = _validated(options)
    censor = censor_of(params)

    def log(line: str) -> None:
        logger.warning("%s", censor.clean(line))

    try:
        with connected(params) as api:
            for warning in plaintext_password_warnings(params):
                log(warning)
            follow_tasks(
                api,
                task_filters(api, params),
                Listener(lambda change: hear(censor.clean_all(change.event())), log, cancelled.is_set),
                interval=poll_interval(params, "interval"),
                newer_than=params["newer_than"],
                clock=Clock(sleep=cancelled.wait),
            )
    except OcpError as error:
        error.replace_text(censor.clean(str(error)))
        raise


def _validated(options: Params) -> Params:
    validation = ArgumentSpecValidator(OPTIONS).validate(options)
    if validation.error_messages:
        noted = with_notes(validation.errors.msg, validation, OPTIONS)
        raise OptionError(censor_of(options).clean(noted))
    params: Params = validation.validated_parameters
    return params
