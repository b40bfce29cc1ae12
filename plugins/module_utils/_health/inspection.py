# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""OCP's inspection of clusters: the wait for it, what its reports say, and which high risks are new.

It is never a reason for a run to fail: a result without a report says why there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import OcpError, PermissionDenied, RequestRefused, ResponseUnreadable, ServiceError, WaitTimeout
from .._base.parsing import Record
from .._base.text import counted, join_names
from .._ocp.endpoints import OcpApi
from .._ocp.inspection_calls import InspectionCalls
from .._ocp.unknown_path import NOT_THERE
from .._waiting.await_tasks import wait_for_tasks
from .._waiting.poll_pauses import UNSEEN_FOR, PollPolicy, note_nothing
from .scenarios import SCENARIOS

Result = dict[str, Any]

HIGH, LEVELS = "HIGH", ("HIGH", "MEDIUM", "LOW")
# Seconds that one may take; then its caller goes on without a report.
LONGEST = 900.0
# Seconds within which OCP shows the report of a task that has ended, and between two looks for it.
REPORT_SHOWN_WITHIN, PAUSE = 30.0, 2.0
MOST_RISKS, MOST_NAMED = 100, 5


def inspect_clusters(
    api: OcpApi, clusters: Mapping[int, str], scenario: str, policy: PollPolicy, clock: Clock = SYSTEM_CLOCK
) -> list[Result]:
    """Inspect ``clusters``, names by id; returns for each what its report says, or why it has none."""
    inspection = _Inspection(api, scenario, clock)
    reason = inspection.carry_out(list(clusters), policy)
    return [
        inspection.result(number, name, {}, reason) if reason else inspection.read(number, name)
        for number, name in clusters.items()
    ]


class _Inspection:
    """One inspection."""

    def __init__(self, api: OcpApi, scenario: str, clock: Clock) -> None:
        self._api = api
        self._calls = InspectionCalls(api.client)
        self._scenario = scenario
        self._clock = clock
        self._task_ids: list[int] = []

    def carry_out(self, clusters: Sequence[int], policy: PollPolicy) -> str:
        """Start the inspection and wait for its end; returns why it has no reports, empty if it has."""
        try:
            self._task_ids = self._calls.start(clusters, SCENARIOS[self._scenario])
        except ServiceError as error:
            return _refusal(error)
        if not self._task_ids:
            return "the answer of OCP names no task"
        own = replace(policy, timeout=LONGEST, offline_time=None, note=note_nothing)
        names = join_names(map(str, self._task_ids))
        try:
            waited = wait_for_tasks(
                self._api, self._task_ids, own, full=False, unseen_for=UNSEEN_FOR, clock=self._clock
            )
        except WaitTimeout:
            return f"task {names} has not ended within {round(LONGEST / 60)} minutes"
        except OcpError as error:
            return f"task {names} was not seen to end: {_what(error)}"
        failed = [f"{task.label} {task.status}" for task in waited.unsuccessful]
        return f"task {join_names(failed)}" if failed else ""

    def read(self, cluster_id: int, name: str) -> Result:
        """Its report about a cluster. A replica that lags shows the one before."""
        began = self._clock.now()
        while True:
            reason = "OCP does not show its report"
            try:
                number = self._calls.last_report_id(cluster_id, SCENARIOS[self._scenario])
                report = {} if number is None else self._calls.report(number)
                if report.get("taskId") in self._task_ids:
                    return self.result(cluster_id, name, report, _gap(report))
            except ServiceError as error:
                reason = f"its report could not be read: {_what(error)}"
            if self._clock.now() - began >= REPORT_SHOWN_WITHIN:
                return self.result(cluster_id, name, {}, reason)
            self._clock.sleep(PAUSE)

    def result(self, cluster_id: int, name: str, report: Record, reason: str | None = None) -> Result:
        """What the report says; null where there is none, or one with gaps, and the reason."""
        report = {} if reason else report
        return {
            "cluster": name,
            "cluster_id": cluster_id,
            "scenario": self._scenario,
            "task_id": report.get("taskId") or next(iter(self._task_ids), None),
            "report_id": report.get("id"),
            "start_time": report.get("startTime"),
            "end_time": report.get("endTime"),
            **{f"{level.lower()}_risks": report.get(f"{level.lower()}RiskCount") for level in LEVELS},
            "risks": _risks(report),
            "reason": reason,
        }


def inspection_words(one: Result) -> str:
    """As in ``orders: 0 high, 2 medium, 0 low risks (report 12)``."""
    if one["reason"]:
        return f"{one['cluster']}: no report, since {one['reason']}"
    counts = ", ".join(f"{one[f'{level.lower()}_risks']} {level.lower()}" for level in LEVELS)
    return f"{one['cluster']}: {counts} risks (report {one['report_id']})"


def new_risks(found: Iterable[Result], earlier: Iterable[Result]) -> Iterator[str]:
    """A sentence for each cluster with high risks that its ``earlier`` inspection did not find."""
    before = {one["cluster_id"]: one for one in earlier if not one["reason"]}
    for one in found:
        if not one["reason"] and one["cluster_id"] in before:
            new = _high(one) - _high(before[one["cluster_id"]])
            if new:
                yield _new_words(one, sorted(new))


@dataclass(frozen=True, order=True)
class _Risk:
    """What makes a risk the same one: its value may vary."""

    item: str
    target: str


def _high(one: Result) -> set[_Risk]:
    return {_Risk(risk["item"], risk["target"] or "") for risk in one["risks"] if risk["level"] == HIGH}


def _new_words(one: Result, new: Sequence[_Risk]) -> str:
    listed = "; ".join(f"{risk.item} of {risk.target}" if risk.target else risk.item for risk in new[:MOST_NAMED])
    more = f"; and {len(new) - MOST_NAMED} more" if len(new) > MOST_NAMED else ""
    return (
        f"Cluster {one['cluster']} has {counted(len(new), 'high risk')} that its inspection before did not find: "
        f"{listed}{more}. See report {one['report_id']} of OCP."
    )


def _gap(report: Record) -> str | None:
    """What the report lacks: it has no risks of items that were not inspected."""
    done, of_all = report.get("itemFinishedCount"), report.get("itemTotalCount")
    if done is None or of_all is None or done >= of_all:
        return None
    return f"report {report['id']} has only {done} of {counted(of_all, 'item')}"


def _risks(report: Record) -> list[Result]:
    """The risks of a report, the highest first."""
    names = {item.get("id"): item.get("name") for item in report.get("inspectionItems") or []}
    found = [
        {
            "item": names.get(one.get("itemId")) or f"item {one.get('itemId')}",
            "target": one.get("target") or one.get("key"),
            "value": one.get("value"),
            "level": one["level"],
        }
        for one in report.get("reportItems") or []
        if one.get("level") in LEVELS
    ]
    return sorted(found, key=lambda one: LEVELS.index(one["level"]))[:MOST_RISKS]


def _refusal(error: ServiceError) -> str:
    """Why an inspection was not started."""
    if isinstance(error, PermissionDenied):
        return f"this user may not start an inspection: {_what(error)}"
    if isinstance(error, RequestRefused) and error.status in NOT_THERE:
        said = f" ({error.reason.removesuffix('.')})" if error.reason else ""
        return f"OCP refuses it with status {error.status}{said}; the Community Edition has no inspections"
    if isinstance(error, ResponseUnreadable) and not error.has_envelope:
        return "the answer is not of an OCP; the Community Edition has no inspections"
    return f"it could not be started: {_what(error)}"


def _what(error: OcpError) -> str:
    return error.what.removesuffix(".")
