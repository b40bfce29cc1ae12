# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The parameters of OBProxies that the emulator knows, with the value of a new OBProxy."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ObProxyParameter:
    """A parameter; the service shows its range only in the description."""

    default: str
    description: str
    need_reboot: bool


OBPROXY_PARAMETERS: Mapping[str, ObProxyParameter] = {
    "proxy_info_check_interval": ObProxyParameter("60s", "proxy info check task interval, [1s, 1h]", False),
    "monitor_log_level": ObProxyParameter(
        "INFO", "specifies the current level of logging: DEBUG, TRACE, INFO, WARN, USER_ERR, ERROR", False
    ),
    "net_accept_threads": ObProxyParameter("2", "net accept threads num, [0, 8]", True),
    "work_thread_num": ObProxyParameter("128", "proxy work thread num, [1, 128]", True),
    "stack_size": ObProxyParameter("1MB", "stack size of one thread, [1MB, 10MB]", True),
}
