# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""After which failures a request may have been carried out: lost responses, 408, 425, 499, 5xx, proxies.

See docs/at-most-once-reference.md, "When the answer is lost".
"""

from __future__ import annotations

from collections.abc import Collection

# Methods that may be sent twice: the second request changes nothing.
REPEATABLE = frozenset({"GET", "PUT"})
# Client errors by number, but servers and proxies send them when they gave up while the request was on its way.
GAVE_UP = (408, 425, 499)


def may_have_run(method: str, *, refused_with: Collection[int] = ()) -> bool:
    """Whether a request that was sent, or may have been, may have been carried out.

    ``refused_with`` are the statuses by which an OCP envelope refused it; empty for a redirect, a page of a proxy or no
    answer.
    """
    refused = bool(refused_with) and all(400 <= status < 500 and status not in GAVE_UP for status in refused_with)
    return method != "GET" and not refused


def outcome_sentence(unknown: bool, method: str = "POST") -> str:
    """What to do next: where the outcome of a request is ``unknown``, and where nothing was changed."""
    if not unknown:
        return "Check that the service is up and that url has its scheme, http or https; then run this again."
    if method in REPEATABLE:
        return "It is not known whether the service carried it out. Run this again; repeating it is safe."
    return "It is not known whether the service carried it out: look at its newest tasks before sending it again."
