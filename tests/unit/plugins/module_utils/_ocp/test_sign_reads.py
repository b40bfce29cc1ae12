# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The requests that read signs of trouble, and which fields of the answers are kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import response

NOW = datetime(2026, 5, 4, 3, 0, tzinfo=UTC)


@pytest.fixture
def asks():
    """A connection that answers each GET with these elements, and notes what it was asked."""

    def connect(*elements):
        asked = []

        def get(path, query):
            asked.append((path, query))
            return response({"contents": list(elements)})

        return OcpApi(SimpleNamespace(get=get, timeout=20)), asked

    return connect


def test_active_alarms(asks):
    alarm = {"id": 12, "alarmType": "x", "level": 2, "labels": {"svr_ip": "10.1.0.1", "alarm_name": "y"}, "new": 1}
    api, asked = asks(alarm)
    assert api.active_alarms() == [{"id": 12, "alarmType": "x", "level": 2, "labels": {"svr_ip": "10.1.0.1"}}]
    assert asked == [("/api/v2/alarm/alarms", {"status": "Active", "page": 1, "size": 200})]


def test_lag_is_asked_for_in_both_spellings_of_the_documents(asks):
    sample = {"max_full_clog_sync_delay_second": 0.3, "timestamp": 1605609840}
    api, asked = asks(sample)
    assert api.lag_samples("orders", NOW - timedelta(seconds=120), NOW) == [sample]
    begin, end = "2026-05-04T02:58:00Z", "2026-05-04T03:00:00Z"
    query = {
        "metrics": "max_full_clog_sync_delay_second",
        "labels": "app:OB,ob_cluster_name:orders",
        "groupBy": "ob_cluster_name",
        "interval": 5,
        "startTime": begin,
        "endTime": end,
        "start_time": begin,
        "end_time": end,
        "page": 1,
        "size": 2000,
    }
    assert asked == [("/api/v2/monitor/metric", query)]


def test_backups_of_the_last_days(asks):
    api, asked = asks({"taskId": 5, "status": "DOING", "backupUri": "file:///backup/"})
    assert api.data_backups(31, NOW) == [{"taskId": 5, "status": "DOING"}]
    query = {"startTime": "2026-05-04T03:00:00Z", "page": 1, "size": 2000}
    assert asked == [("/api/v2/ob/clusters/31/backup/task/dataBackupTasks", query)]


def test_restores_of_the_last_days_into_this_cluster(asks):
    shown = {"id": 4, "status": "RESTORE_FAIL", "restoreTenantName": "shop", "finished": True}
    here, elsewhere = {"restoreClusterId": 31}, {"restoreClusterId": 32}
    api, asked = asks(*({**shown, "backupUri": "file:///", **more} for more in (here, elsewhere, {})))
    assert api.tenant_restores(31, NOW) == [{**shown, **here}, shown]
    query = {"startTime": "2026-05-04T03:00:00Z", "page": 1, "size": 2000}
    assert asked == [("/api/v2/ob/clusters/31/backup/task/restoreTasks", query)]
