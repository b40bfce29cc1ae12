# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Each tool of OceanBase's MCP server for OCP gets an answer of the documented form, from the emulator or a stub.

The calls are those of its 40 tools (oceanbase/awesome-oceanbase-mcp, src/ocp_mcp_server), the keys those of the
documents that it cites. test_documented_answers.py compares what the emulator answers itself.
"""

from pathlib import Path

import pytest
import yaml
from ocp_emulator.faults.fault_file import read_faults

STUBS = Path(__file__).parents[4] / "examples/emulator/stubs_for_mcp.yml"
CLUSTER, TENANT = "/api/v2/ob/clusters/1", "/api/v2/ob/clusters/1/tenants/5001"
TIMES = "startTime=2026-11-21T03:59:00Z&endTime=2026-11-21T04:00:00Z"
METRIC = "metrics=sql_count&groupBy=ob_cluster_name&interval=60&labels=app:ob,ob_cluster_name=orders"
PAGE = "page=1&size=10"
LISTED = "contents"
INSPECTED = {"inspectionObjectType": "OB_CLUSTER", "objectIds": [1], "tags": 1}
# Each tool: what it sends, and keys that its answer has: of the data, or of the first record of a list.
SERVED = [
    ("GET", f"/api/v2/ob/clusters?{PAGE}&sort=name,asc&status=RUNNING,STOPPED", None, "id name obClusterId zones"),
    ("GET", f"{CLUSTER}/zones", None, "name idcName regionName servers clusterId"),
    ("GET", f"{CLUSTER}/servers?regionName=default-region", None, LISTED),
    ("GET", f"{CLUSTER}/zones/zone1/servers", None, "id ip port sqlPort version status"),
    ("GET", f"{CLUSTER}/tenants?{PAGE}&mode=MYSQL&locked=false&readonly=false", None, "id name clusterId locality"),
    ("GET", f"/api/v2/ob/tenants?{PAGE}&mode=ORACLE,MYSQL", None, "id name clusterId locality primaryZone"),
    ("GET", TENANT, None, "id name clusterId zones"),
    ("GET", f"{TENANT}/units?zoneName=zone1", None, "id serverIp serverPort zoneName status"),
    ("GET", f"{CLUSTER}/parameters", None, "name defaultValue currentValue needRestart"),
    ("PUT", f"{CLUSTER}/parameters", [{"name": "stack_size", "value": "2M"}], ""),
    ("GET", f"/api/v2/obproxy/clusters?{PAGE}", None, "id name configUrl address port obproxies"),
    ("GET", "/api/v2/obproxy/clusters/1", None, "id name versions topo obproxies"),
    ("GET", "/api/v2/obproxy/clusters/1/parameters", None, "name description needReboot values"),
    ("GET", f"/api/v2/alarm/alarms?{PAGE}&appType=OceanBase&level=2&isSubscribedByMe=false", None, LISTED),
    ("GET", "/api/v2/alarm/alarms/1", None, "id appType alarmType scope level status target summary activeAt labels"),
    ("POST", "/api/v2/inspection/run", INSPECTED, "id name status"),
    ("GET", "/api/v2/inspection/report/1", None, "id tag taskState inspectionItems reportItems"),
    ("GET", "/api/v2/inspection/report/info?tagId=1&objectType=OB_CLUSTER", None, "reportId objectId tag resultList"),
]
STUBBED = [
    ("GET", f"{CLUSTER}/stats", None, "clusterId clusterName cpuTotal memoryTotalByte dataDiskUsedByte"),
    ("GET", f"{CLUSTER}/serverStats", None, "ip port zone cpuTotal memoryTotalByte"),
    ("GET", "/api/v2/ob/clusters/1000005/units", None, "obUnitId tenantId tenantName svrIp svrPort zone status"),
    ("GET", f"{TENANT}/parameters", None, "name compatibleType readonly defaultValue currentValue valueRange"),
    ("PUT", f"{TENANT}/parameters", [{"name": "a", "value": "b", "parameterType": "OB_TENANT_PARAMETER"}], ""),
    ("GET", f"{TENANT}/databases", None, "dbName charset collation primaryZone readonly createTime id"),
    ("GET", f"{TENANT}/users", None, "username globalPrivileges dbPrivileges isLocked createTime"),
    ("GET", f"{TENANT}/users/root?hostName=%25", None, "username globalPrivileges dbPrivileges isLocked createTime"),
    ("GET", f"{TENANT}/roles", None, "name createTime updateTime globalPrivileges userGrantees"),
    ("GET", f"{TENANT}/roles/DBA", None, "name createTime updateTime globalPrivileges userGrantees"),
    ("GET", f"{TENANT}/objects", None, "objectType objectName schemaName fullName"),
    (
        "GET",
        f"/api/v2/monitor/metricGroups?type=NORMAL&scope=CLUSTER&{PAGE}",
        None,
        "id key name scope type metricGroups",
    ),
    ("GET", f"/api/v2/monitor/metricsWithLabel?{TIMES}&{METRIC}", None, "app ob_cluster_name ob_cluster_id data"),
    ("GET", "/api/v2/inspection/task?taskStates=RUNNING", None, "id tag inspectionObject taskId taskState"),
    ("GET", "/api/v2/inspection/overview", None, "inspectionObject scheduleState deadline"),
    ("GET", "/api/v2/inspection/report/info/item/7?tagId=1&objectType=HOST", None, "reportId objectId tag itemResults"),
    ("GET", f"{TENANT}/topSql?{TIMES}&inner=true", None, "sqlId server dbName sqlType executions avgElapsedTime"),
    ("GET", f"{TENANT}/sqls/A1/text?{TIMES}", None, "fulltext"),
    ("GET", f"{TENANT}/slowSql?{TIMES}&limit=5", None, "sqlId server dbName sqlType executions avgElapsedTime"),
    ("POST", f"{CLUSTER}/performance/workload/reports", {"name": "x"}, "id clusterName status taskInstanceId scope"),
    ("GET", f"{CLUSTER}/performance/workload/snapshots", None, "snapshotId snapshotTime"),
    ("GET", f"{CLUSTER}/performance/workload/reports/1", None, None),
]


@pytest.fixture(scope="module")
def stubs():
    return read_faults(STUBS)


def test_the_file_is_short_and_every_tool_is_there():
    assert len(STUBS.read_text().splitlines()) <= 60
    assert len({row[:2] for row in SERVED + STUBBED}) == 40
    stubs = yaml.safe_load(STUBS.read_text())
    assert len([each for each in stubs if each["action"] == "respond"]) == len(STUBBED)


def test_the_page_shows_how_the_file_begins():
    page = (STUBS.parents[2] / "docs/emulator.md").read_text()
    shown = page.partition("```yaml\n")[2].partition("```")[0]
    assert len(shown.splitlines()) > 3
    assert STUBS.read_text().partition("- &stub")[2].startswith(shown.removeprefix("- &stub"))


def test_every_tool_gets_an_answer_of_the_documented_form(start, stubs):
    emulated = start(faults=stubs)
    emulated.data("POST", "/emulator/alarms", json={"alarmType": "host_ntp_offset_too_large", "server": 3})
    for method, path, body, keys in SERVED + STUBBED:
        answer = emulated.request(method, path, json=body)
        assert answer.status_code == 200, (path, answer.text)
        if keys is None:
            assert answer.headers["Content-Type"].startswith("text/html")
            continue
        envelope = answer.json()
        assert (envelope["successful"], envelope["status"]) == (True, 200), path
        assert ("data" in envelope) is bool(keys), path
        data = envelope.get("data", {})
        shown = data["contents"][0] if data.get("contents") and keys != LISTED else data
        assert set(keys.split()) <= shown.keys(), (path, shown)
    hits = {fault["fault"]["match"]["path"]: fault["hits"] for fault in emulated.get("/emulator/faults")["contents"]}
    assert min(hits.values()) > 0, hits


def test_without_the_stubs_the_emulator_lacks_these_calls(emulated):
    for method, path, body, _keys in STUBBED:
        assert emulated.request(method, path, json=body).status_code in (400, 501), path
