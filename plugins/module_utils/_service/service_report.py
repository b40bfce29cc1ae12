# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The result of ``ocp_info``, with the same keys whatever was found."""

from __future__ import annotations

from typing import Any

from .._base.service_clock import LARGEST_SILENT_OFFSET, ServiceClock
from .._ocp.service_reads import ServiceReads
from .ask_service import Samples, ask_service
from .findings import Answer, Findings, Verdict
from .module_verdicts import Works, module_verdicts
from .shown_facts import shown_facts

# Only a POST would show it, and a check sends none.
NOT_TRIED = "unknown until tried"
# The read that needs this right.
RIGHTS = {
    "read_clusters": "clusters",
    "read_hosts": "hosts",
    "read_arbitration_services": "arbitration_services",
    "read_obproxies": "obproxy_clusters",
    "read_tasks": "tasks",
}
GRANTED = {Answer.OK: "granted", Answer.FORBIDDEN: "refused"}


def service_report(reads: ServiceReads, samples: Samples) -> dict[str, Any]:
    """Check a service; raises OptionError and TargetError for a sample that cannot be."""
    found = ask_service(reads, samples)
    facts = shown_facts(found)
    modules = module_verdicts(found, facts)
    return {
        "url": reads.url,
        "version": found.version,
        "verdict": found.verdict.value,
        "message": found.message,
        "restarts_work": not any(each.restarts and each.works in (Works.NO, Works.UNKNOWN) for each in modules),
        "requests": reads.sent,
        "credentials": _credentials(found),
        "clock": _clock(found.clock),
        "rights": {**_rights(found), "restart": NOT_TRIED},
        "reads": [read.result() for read in found.reads.values()],
        "filters": [each.result() for each in found.filters],
        "facts": [fact.result() for fact in facts],
        "modules": [each.result() for each in modules],
    }


def _credentials(found: Findings) -> dict[str, Any]:
    accepted = {Answer.OK, Answer.FORBIDDEN}
    asked = [read for read in found.reads.values() if read.name != "time"]
    state = "accepted" if any(read.answer in accepted for read in asked) else "unknown"
    if found.verdict is Verdict.CREDENTIALS_REFUSED:
        state = "refused"
    return {"kind": "access_key" if found.user is None else "password", "user": found.user, "state": state}


def _clock(clock: ServiceClock) -> dict[str, Any]:
    """Seconds, to a tenth."""
    if not clock.answers:
        state = "unknown"
    elif clock.disagrees or clock.is_off:
        state = "refused"
    else:
        state = "corrected" if abs(clock.offset) > LARGEST_SILENT_OFFSET else "agrees"
    return {
        "state": state,
        "offset": round(clock.offset, 1),
        "uncertainty": round(clock.uncertainty, 1),
        "answers": clock.answers,
        "answers_agree": clock.agreed,
    }


def _rights(found: Findings) -> dict[str, str]:
    return {right: GRANTED.get(found.reads[name].answer, "unknown") for right, name in RIGHTS.items()}
