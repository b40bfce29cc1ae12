# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The endpoints of inspections: how one is started, how its report is found, which fields of that are kept.

See docs/dev/contract.md, "Inspections". Few runs inspect, so the shapes are here, and not in ``records.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from .._base.parsing import Record, Shape, integer, list_of, number, record, shaped, text, time_text
from .paging import entries_of
from .session import HttpClient

OF_CLUSTERS = "OB_CLUSTER"


def _value(value: object) -> str | None:
    shown = number(value)
    return text(value) if shown is None else f"{shown:.15g}"


_ITEM: Shape = {"id": integer, "name": text}
_RISK: Shape = {"itemId": integer, "key": text, "target": text, "value": _value, "level": text}
_REPORT: Shape = {
    "id": integer,
    "taskId": integer,
    "startTime": time_text,
    "endTime": time_text,
    "itemTotalCount": integer,
    "itemFinishedCount": integer,
    "highRiskCount": integer,
    "mediumRiskCount": integer,
    "lowRiskCount": integer,
    "inspectionItems": list_of(partial(shaped, shape=_ITEM)),
    "reportItems": list_of(partial(shaped, shape=_RISK)),
}


class InspectionCalls:
    """Calls of one service. Every method raises ServiceError."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client

    def start(self, cluster_ids: Sequence[int], scenario: int) -> list[int]:
        """Inspect clusters; returns the ids of the tasks, if the answer names any.

        Where the parameters belong is undocumented, so query and body both have them.
        """
        body = {"inspectionObjectType": OF_CLUSTERS, "objectIds": list(cluster_ids), "tags": scenario}
        query = {**body, "objectIds": ",".join(map(str, cluster_ids)), "tags": str(scenario)}
        answer = self._client.post("/api/v2/inspection/run", query, body)
        tasks = entries_of(answer.data) or [record(answer.data)]
        return [found for found in (integer(task.get("id")) for task in tasks) if found is not None]

    def last_report_id(self, cluster_id: int, scenario: int) -> int | None:
        """The id of the newest report about a cluster; None if there is none."""
        query = {"tagId": str(scenario), "objectType": OF_CLUSTERS, "objectId": str(cluster_id)}
        found = entries_of(self._client.get("/api/v2/inspection/report/info", query).data) or []
        own = [integer(one.get("reportId")) for one in found if integer(one.get("objectId")) in (cluster_id, None)]
        return max((report_id for report_id in own if report_id is not None), default=None)

    def report(self, report_id: int) -> Record:
        """A report."""
        return shaped(record(self._client.get(f"/api/v2/inspection/report/{report_id}").data), _REPORT)
