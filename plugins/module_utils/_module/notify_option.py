# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The option ``notify_url``: send a JSON document when a run begins, stops, pauses or ends; see docs/notify.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from .._base.clock import SYSTEM_CLOCK
from .._base.errors import OcpError, attached_facts
from .bridge import RunMode
from .connection_options import Params
from .secret_options import censor_of

Facts = dict[str, Any]

SCHEMA = 1


def notified(kind: str, clusters: Iterable[str], params: Params, mode: RunMode, body: Callable[[], Facts]) -> Facts:
    """The result of ``body``, the run of a module, which is told; ``kind`` is the name of the module.

    Nothing is sent in check mode. What is not delivered is one warning. Raises what ``body`` raises.
    """
    if mode.check_mode or not _is_run(params):
        return body()
    told = _Told(kind, list(dict.fromkeys(clusters)), params)
    told.tell("begin", {})
    try:
        result = body()
    except BaseException as error:
        facts = error.facts if isinstance(error, OcpError) else attached_facts(error)
        told.tell("stop", facts, str(error) or type(error).__name__)
        facts["warnings"] = [*facts.get("warnings", []), *told.warnings]
        raise
    reason = _postponed(result)
    told.tell("pause" if reason else "end", result, reason)
    result["warnings"] = [*result.get("warnings", []), *told.warnings]
    return result


def _is_run(params: Params) -> bool:
    """Whether the call is a run, not a look at the options or at the clusters of a run to come, nor a plan for one."""
    looks_ahead = params.get("run") is not None and params.get("clusters") is not None
    return not params.get("options_only") and not params.get("plan_file") and not looks_ahead


def _postponed(result: Facts) -> str:
    """Why the rest is left for a later run; empty if nothing is."""
    own = [one["reason"] for one in result.get("servers", []) if one["action"] == "postponed"]
    return str(result.get("postponed") or result.get("stopped") or (own[0] if own else ""))


class _Told:
    """The documents of one run, and at most one warning."""

    def __init__(self, kind: str, clusters: list[str], params: Params) -> None:
        self._url = str(params["notify_url"])
        self._censor = censor_of(params)
        self._same = {"run": kind, "id": uuid4().hex, "clusters": clusters, "change": params["change"]}
        self.warnings: list[str] = []

    def tell(self, event: str, facts: Facts, message: str = "") -> None:
        from .._ocp.notification import send_notification

        at = datetime.fromtimestamp(SYSTEM_CLOCK.wall(), UTC).isoformat(timespec="seconds")
        document = {"schema": SCHEMA, "event": event, "at": at, **self._same, "servers": _counts(facts)}
        clean = self._censor.clean_all({**document, "message": message})
        why = send_notification(self._url, clean)
        if why and not self.warnings:
            self.warnings.append(f"notify_url: the document about the {event} of the run was not delivered: {why}.")


def _counts(facts: Facts) -> dict[str, int]:
    """How many servers were restarted, left alone, failed or not touched, by the result so far."""
    words = [str(one["outcome"]) for one in facts.get("results", [])]
    words += ["failed" if one["failed"] else str(one["action"]) for one in facts.get("servers", [])]
    found = Counter(words)
    left = found.pop("skipped", 0) + (facts.get("left_alone") or 0)
    untouched = found.pop("postponed", 0) + len(facts.get("untouched", []))
    failed = found.pop("failed", 0)
    return {"restarted": found.total(), "left_alone": left, "failed": failed, "untouched": untouched}
