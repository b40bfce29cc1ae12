# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Actions of a fault of kind `http`: the options that each has, and whether its request takes effect.

A request that is hit either has no effect on the service, or its full effect. If an action has the option `when`, that
decides, and without it the service does not handle the request. With all other actions the service handles it. For what
the client gets see web/broken_responses.py.
"""

from collections.abc import Mapping
from typing import Literal

from ocp_emulator.faults.request_faults import ActionOptions

HttpAction = Literal[
    "refuse", "reset", "drop", "slow", "trickle", "truncate", "garbage", "html", "error", "restart", "respond"
]
When = Literal["before", "after"]

_WHEN = frozenset({"when"})
_SECONDS = frozenset({"seconds"})

# The options of each action, besides match, call, probability, seed and times, which all of them take.
OPTIONS: Mapping[str, ActionOptions] = {
    "refuse": ActionOptions(needed=_SECONDS),
    "reset": ActionOptions(possible=_WHEN),
    "drop": ActionOptions(possible=_WHEN),
    "slow": ActionOptions(needed=_SECONDS),
    "trickle": ActionOptions(needed=_SECONDS, possible=frozenset({"size"})),
    "truncate": ActionOptions(possible=frozenset({"size"})),
    "garbage": ActionOptions(possible=_WHEN),
    "html": ActionOptions(possible=_WHEN | {"status"}),
    "error": ActionOptions(needed=frozenset({"status"}), possible=_WHEN | {"message", "reset", "retry_after"}),
    "restart": ActionOptions(needed=_SECONDS, possible=_WHEN),
    "respond": ActionOptions(possible=_WHEN | {"status", "headers", "body", "data", "code", "message"}),
}


def takes_effect(action: HttpAction, when: When | None) -> bool:
    """Whether the service handles a request that is hit."""
    return "when" not in OPTIONS[action].possible or when == "after"
