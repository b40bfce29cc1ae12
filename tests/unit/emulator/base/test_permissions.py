# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which permission each call needs, and what a permission includes."""

import pytest
from ocp_emulator.base.compatibility import Switches
from ocp_emulator.fleet.fleet_file import FleetFile
from ocp_emulator.fleet.resolve_fleet import resolve

TASKS = "/api/v2/tasks/instances"
SERVER = "/api/v2/ob/clusters/1/servers/1/restart"
CLUSTER = "/api/v2/ob/clusters/1/restart"
AGENTS = "/compute/hosts/batchRestartAgents"
ARBITRATION = "/api/v2/arbitration/services/1/restart"

# The worker process of the first host.
WORKER = 1_000_000_001
NEEDED = [
    ("POST", SERVER, "CLUSTER_MANAGER"),
    ("POST", CLUSTER, "CLUSTER_MANAGER"),
    *(
        (("POST", f"/api/v2/ob/clusters/1/zones/zone1/{verb}", "CLUSTER_MANAGER"))
        for verb in ("restart", "start", "stop")
    ),
    *((("POST", f"/api/v2/ob/clusters/1/servers/1/{verb}", "CLUSTER_MANAGER")) for verb in ("start", "stop")),
    *((("POST", f"/api/v2/ob/clusters/1/{verb}", "CLUSTER_MANAGER")) for verb in ("start", "stop")),
    ("POST", AGENTS, "HOST_MANAGER"),
    ("POST", f"/api/v2{AGENTS}", "HOST_MANAGER"),
    *(("POST", f"{prefix}/compute/hosts/batchStopAgents", "HOST_MANAGER") for prefix in ("", "/api/v2")),
    *(
        ("POST", f"{prefix}/compute/hosts/1/agent/{process}{verb}", "HOST_MANAGER")
        for prefix in ("", "/api/v2")
        for process in ("", f"processes/{WORKER}/")
        for verb in ("restart", "stop")
    ),
    ("POST", ARBITRATION, "ARBITRATION:UPDATE"),
    ("POST", "/api/v2/obproxy/clusters/1/obproxies/1/restart", "OBPROXY_MANAGER"),
    *(("POST", f"{TASKS}/1/{verb}", "TASK_MANAGER") for verb in ("retry", "rollback")),
    *(("POST", f"{TASKS}/1/subtasks/1/{verb}", "TASK_MANAGER") for verb in ("retry", "skip", "cancel")),
    ("GET", TASKS, "TASK_VIEWER"),
    ("GET", f"{TASKS}/1", "TASK_VIEWER"),
    ("GET", f"{TASKS}/1/subtasks/1/log", "TASK_VIEWER"),
    ("GET", "/api/v2/ob/clusters", "CLUSTER_VIEWER"),
    ("GET", "/api/v2/ob/clusters/1/zones", "CLUSTER_VIEWER"),
    ("GET", "/api/v2/ob/clusters/1/servers", "CLUSTER_VIEWER"),
    ("GET", "/api/v2/ob/clusters/1/zones/zone1/servers", "CLUSTER_VIEWER"),
    ("GET", "/api/v2/clusters/1/zones/zone1/servers", "CLUSTER_VIEWER"),
    ("GET", "/api/v2/ob/tenants", "CLUSTER_VIEWER"),
    ("GET", "/api/v2/ob/clusters/1/tenants", "CLUSTER_VIEWER"),
    *(
        ("GET", f"/api/v2/ob/{below}/1/tenants/5001{units}", "CLUSTER_VIEWER")
        for below in ("cluster", "clusters")
        for units in ("", "/units")
    ),
    ("GET", "/api/v2/ob/clusters/1/parameters", "CLUSTER_VIEWER"),
    ("PUT", "/api/v2/ob/clusters/1/parameters", "CLUSTER_MANAGER"),
    ("GET", "/api/v2/alarm/alarms", "ALARM_VIEWER"),
    ("GET", "/api/v2/alarm/alarms/1", "ALARM_VIEWER"),
    ("GET", "/api/v2/ob/clusters/1/backup/task/dataBackupTasks", "BACKUP_VIEWER"),
    ("GET", "/api/v2/ob/clusters/1/tenants/5001/backup/task/dataBackupTasks", "BACKUP_VIEWER"),
    ("GET", "/api/v2/ob/clusters/1/backup/task/restoreTasks", "BACKUP_VIEWER"),
    ("GET", "/api/v2/compute/hosts", "HOST_VIEWER"),
    ("GET", "/api/v2/compute/hosts/1", "HOST_VIEWER"),
    *(
        ("GET", f"{prefix}/compute/hosts/1/agent{processes}", "HOST_VIEWER")
        for prefix in ("", "/api/v2")
        for processes in ("", "/processes")
    ),
    ("GET", "/api/v2/audit/events", "AUDIT_VIEWER"),
    ("GET", "/api/v2/arbitration/services", "ARBITRATION:VIEW"),
    ("GET", "/api/v2/arbitration/services/1", "ARBITRATION:VIEW"),
    ("GET", "/api/v2/obproxy/clusters", "OBPROXY_VIEWER"),
    ("GET", "/api/v2/obproxy/clusters/1", "OBPROXY_VIEWER"),
    ("GET", "/api/v2/obproxy/clusters/1/parameters", "OBPROXY_VIEWER"),
]
RIGHTS = {permission for _method, _path, permission in NEEDED}

# The control API is for administrators only.
CONTROL = [
    ("POST", "/emulator/faults", {"kind": "subtask", "action": "fail"}),
    ("GET", "/emulator/faults", None),
    ("DELETE", "/emulator/faults", None),
    ("DELETE", "/emulator/faults/1", None),
    ("GET", "/emulator/clock", None),
    ("PUT", "/emulator/clock", {"running": True}),
    ("GET", "/emulator/durations", None),
    ("PUT", "/emulator/durations", {"jitter": 0.1}),
    ("POST", "/emulator/clock/advance", {"seconds": 1}),
    ("GET", "/emulator/restarts", None),
    ("POST", "/emulator/service/restart", {"seconds": 0}),
    ("PUT", "/emulator/servers/1", {"available": True}),
    ("PUT", "/emulator/servers/1/process", {"running": True}),
    ("PUT", "/emulator/obproxies/1/process", {"running": True}),
    ("GET", "/emulator/outages", None),
    ("POST", "/emulator/alarms", {"alarmType": "x"}),
    ("DELETE", "/emulator/alarms", None),
    ("DELETE", "/emulator/alarms/1", None),
    ("PUT", "/emulator/tenants/5001", {"status": "MODIFYING"}),
    ("PUT", "/emulator/servers/1/metric", {"name": "max_full_clog_sync_delay_second", "value": 1}),
    ("GET", "/emulator/parameters", None),
    ("PUT", "/emulator/servers/1/parameters", {"parameters": {}}),
    ("PUT", "/emulator/obproxies/1/parameters", {"parameters": {}}),
    ("PUT", "/emulator/servers/1/version", {"version": "4.2.1.0"}),
    ("PUT", "/emulator/arbitration-services/1/process", {"running": True}),
    ("PUT", "/emulator/clusters/1/compaction", {"compactionStatus": "IDLE"}),
    ("POST", "/emulator/backups", {"cluster": "c"}),
    ("PUT", "/emulator/backups/1", {"status": "DONE"}),
    ("POST", "/emulator/restores", {"cluster": "c", "tenant": "t"}),
    ("PUT", "/emulator/restores/1", {"status": "RESTORE_FAIL"}),
    ("POST", "/emulator/inspection-risks", {"cluster": "c", "item": "replica_count"}),
    ("DELETE", "/emulator/inspection-risks", None),
    ("DELETE", "/emulator/inspection-risks/1", None),
    ("GET", "/emulator/absences", None),
    ("GET", "/emulator/leader-moves", None),
    ("PUT", "/emulator/arbitration-services/1", {"degraded": []}),
    ("GET", "/emulator/requests", None),
    ("DELETE", "/emulator/requests", None),
    ("GET", "/emulator/lockouts", None),
    ("DELETE", "/emulator/lockouts", None),
    ("DELETE", "/emulator/lockouts/viewer", None),
    ("DELETE", "/emulator/servers/1", None),
    ("GET", "/emulator/requests/count", None),
    ("GET", "/emulator", None),
    ("POST", "/emulator/reset", None),
    ("GET", "/emulator/snapshots", None),
    ("PUT", "/emulator/snapshots/viewer", {}),
    ("POST", "/emulator/snapshots/viewer/restore", None),
    ("DELETE", "/emulator/snapshots/viewer", None),
]


def only(start, permissions):
    users = [{"name": "dba", "password": "secret", "permissions": sorted(permissions)}]
    clusters = [{"name": "c", "zones": [{"name": "zone1", "servers": [{"ip": "10.1.0.1"}]}]}]
    services = [{"ip": "10.1.0.2"}]
    file = FleetFile.model_validate({"users": users, "clusters": clusters, "arbitration_services": services})
    return start(fleet=resolve(file), switches=Switches(wrong_state="accept"))


@pytest.mark.parametrize(("method", "path", "permission"), NEEDED)
def test_each_endpoint_requires_exactly_its_permission(start, method, path, permission):
    options = {"params": {"freezeServer": "true"}} if path == SERVER else {}
    options |= {"json": {"hostIds": [1]}} if "/batch" in path else {}
    options |= {"json": [{"name": "cpu_count", "value": "4"}]} if method == "PUT" else {}
    lacking = only(start, RIGHTS - {permission})
    error = lacking.error(403, method, path, auth=("dba", "secret"), **options)
    assert permission in error["message"]
    having = only(start, {permission})
    assert having.request(method, path, auth=("dba", "secret"), **options).status_code in (200, 404)


@pytest.mark.parametrize(("method", "path", "body"), CONTROL)
def test_control_api_requires_admin(start, method, path, body):
    options = {} if body is None else {"json": body}
    lacking = only(start, RIGHTS)
    assert "ADMIN" in lacking.error(403, method, path, auth=("dba", "secret"), **options)["message"]
    lacking.error(401, method, path, auth=None, **options)
    having = only(start, {"ADMIN"})
    assert having.request(method, path, auth=("dba", "secret"), **options).status_code in (200, 404)


def test_permission_table_covers_every_documented_endpoint(emulated):
    document = emulated.request("GET", "/openapi.json").json()
    documented = {
        (
            method.upper(),
            path.format(
                id=1,
                serverId=1,
                hostId=1,
                tenantId=5001,
                zoneName="zone1",
                taskInstanceId=1,
                subtaskInstanceId=1,
                faultId=1,
                alarmId=1,
                obproxyIds=1,
                backupId=1,
                restoreId=1,
                riskId=1,
                agentProcessId=WORKER,
                name="viewer",
            ),
        )
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if "x-permission" in operation
    }
    assert documented == {(method, path) for method, path, _needed in [*NEEDED, *CONTROL]}


def test_the_viewer_reads_everything_and_restarts_nothing(emulated):
    emulated.data("POST", "/emulator/alarms", json={"alarmType": "x"})
    emulated.restart_server(1)
    for method, path, _permission in NEEDED:
        answer = emulated.request(
            method, path.replace("/1/subtasks/1", "/1001/subtasks/50001"), auth=("viewer", "ocp-demo-1")
        )
        assert answer.status_code == (403 if method != "GET" else 404 if path == f"{TASKS}/1" else 200), path


def test_info_requires_credentials_but_no_permission(start):
    emulated = only(start, [])
    assert emulated.request("GET", "/api/v2/info", auth=None).status_code == 401
    assert emulated.request("GET", "/api/v2/info", auth=("dba", "secret")).status_code == 200


@pytest.mark.parametrize(
    ("path", "options"),
    [
        (AGENTS, {"content": "{", "headers": {"Content-Type": "application/json"}}),
        (AGENTS, {"content": "x", "headers": {"Content-Type": "text/plain"}}),
        (AGENTS, {}),
        (SERVER, {}),
        (SERVER.replace("/1/servers", "/x/servers"), {}),
        (CLUSTER.replace("/1/", "/99/"), {}),
    ],
)
def test_permissions_are_checked_before_the_request_is_validated(emulated, path, options):
    emulated.error(403, "POST", path, auth=("viewer", "ocp-demo-1"), **options)
