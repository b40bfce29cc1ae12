# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Backups, restores and merges that are planted, and how they are shown."""

import pytest

CLUSTER = "/api/v2/ob/clusters/1/backup/task/dataBackupTasks"
RESTORES = "/api/v2/ob/clusters/1/backup/task/restoreTasks"
TENANT = "/api/v2/ob/clusters/1/tenants/5002/backup/task/dataBackupTasks"
# Names and types as the documented responses have them; `finishTime` is there once a backup has ended.
BOTH = {
    "backupMode": str,
    "backupSetId": int,
    "backupUri": str,
    "clusterId": int,
    "clusterName": str,
    "clusterType": str,
    "dataBackupTaskType": str,
    "obClusterId": int,
    "startTime": str,
    "status": str,
    "taskId": int,
    "tenantId": int,
}
OF_CLUSTER = {**BOTH, "dataSecondaryBackupTaskIds": list, "dataVersion": int}
OF_TENANT = {**BOTH, "backupDimension": str, "obTenantId": int, "tenantName": str}


def begin(emulated, **backup):
    return emulated.data("POST", "/emulator/backups", json=backup)["id"]


def form(record):
    return {name: type(value) for name, value in record.items()}


def test_backups_have_the_documented_fields(emulated):
    whole = begin(emulated, cluster="orders")
    of_tenant = begin(emulated, cluster="orders", tenant="app")
    newest, oldest = emulated.get(CLUSTER)["contents"]
    assert (form(newest), form(oldest)) == (OF_CLUSTER, OF_CLUSTER)
    assert [(each["taskId"], each["tenantId"]) for each in (newest, oldest)] == [(of_tenant, 5002), (whole, 0)]
    assert newest["startTime"] == "2026-11-21T12:00:00.000+0800"
    [found] = emulated.get(TENANT)["contents"]
    assert form(found) == OF_TENANT
    assert (found["tenantName"], found["startTime"]) == ("app", "2026-11-21T04:00:00Z")


def test_backup_runs_until_it_is_ended(emulated):
    number = begin(emulated, cluster="orders", tenant="app")
    emulated.pass_time(9_000)
    assert [each["status"] for each in emulated.get(CLUSTER)["contents"]] == ["DOING"]
    emulated.request("PUT", f"/emulator/backups/{number}", json={"status": "DONE"}).raise_for_status()
    [found] = emulated.get(TENANT)["contents"]
    assert (found["status"], found["finishTime"]) == ("DONE", "2026-11-21T06:30:00Z")
    [found] = emulated.get(CLUSTER)["contents"]
    assert (found["status"], found["finishTime"]) == ("DONE", "2026-11-21T14:30:00.000+0800")
    assert emulated.get(CLUSTER.replace("/1/", "/2/"))["contents"] == []


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, [3, 2, 1]),
        ({"status": "DOING"}, [3, 1]),
        ({"status": "DONE,FAILED"}, [2]),
        ({"backupSetId": 2}, [2]),
        ({"startTime": "2026-11-21T04:00:01Z"}, [3, 2]),
        ({"endTime": "2026-11-21T04:00:10Z"}, [2, 1]),
        ({"page": 2, "size": 2}, [1]),
    ],
)
def test_backups_can_be_filtered_and_paged(emulated, filters, found):
    for status in ("DOING", "DONE", "DOING"):
        begin(emulated, cluster="orders", tenant="app", status=status)
        emulated.pass_time(10)
    for path in (CLUSTER, TENANT):
        assert [each["taskId"] for each in emulated.get(path, params=filters)["contents"]] == found


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "backups", {}, 400),
        ("POST", "backups", {"cluster": "nowhere"}, 404),
        ("POST", "backups", {"cluster": "orders", "tenant": "nobody"}, 404),
        ("POST", "backups", {"cluster": "orders", "status": "GOING"}, 400),
        ("PUT", "backups/9", {"status": "DONE"}, 404),
        ("POST", "restores", {"cluster": "orders"}, 400),
        ("POST", "restores", {"cluster": "nowhere", "tenant": "app"}, 404),
        ("POST", "restores", {"cluster": "orders", "tenant": "nobody"}, 404),
        ("POST", "restores", {"cluster": "orders", "tenant": "app", "status": "DOING"}, 400),
        ("PUT", "restores/9", {"status": "RESTORE_FAIL"}, 404),
        ("PUT", "clusters/9/compaction", {"compactionStatus": "IDLE"}, 404),
        ("PUT", "clusters/1/compaction", {"compactionStatus": "IDLE", "zone": "zone9"}, 404),
        ("PUT", "clusters/1/compaction", {"compactionStatus": "DONE"}, 400),
    ],
)
def test_invalid_backup_or_merge_is_refused(emulated, method, path, body, status):
    emulated.error(status, method, f"/emulator/{path}", json=body)
    assert emulated.get(CLUSTER)["contents"] == emulated.get(RESTORES)["contents"] == []


@pytest.mark.parametrize(
    "path",
    [*(path.replace("/1/", "/9/") for path in (CLUSTER, RESTORES, TENANT)), TENANT.replace("/1/", "/2/")],
)
def test_backups_of_unknown_clusters_and_tenants_are_not_found(emulated, path):
    emulated.error(404, "GET", path)


# Names and types as the documented response has them; `finishTime` is there once a restore has ended.
OF_RESTORE = {
    "backupClusterId": int,
    "backupClusterName": str,
    "backupMode": str,
    "backupObClusterId": int,
    "backupObTenantId": int,
    "backupTenantId": int,
    "backupTenantName": str,
    "createTime": str,
    "errorMsg": str,
    "finished": bool,
    "id": int,
    "ocpJobId": int,
    "restoreClusterId": int,
    "restoreClusterName": str,
    "restoreEndTime": str,
    "restoreObClusterId": int,
    "restorePoolListStr": str,
    "restoreTenantName": str,
    "restoreUri": str,
    "status": str,
    "statusDesc": str,
    "successful": bool,
}


def restore(emulated, **more):
    body = {"cluster": "orders", "tenant": "app", **more}
    return emulated.data("POST", "/emulator/restores", json=body)["id"]


def test_restore_runs_until_it_is_ended_and_has_the_documented_fields(emulated):
    number = restore(emulated)
    emulated.pass_time(9_000)
    [found] = emulated.get(RESTORES)["contents"]
    assert form(found) == OF_RESTORE
    assert (found["id"], found["status"], found["finished"], found["successful"]) == (number, "RESTORING", False, False)
    assert (found["backupTenantName"], found["restoreTenantName"]) == ("app", "app_restored")
    assert found["createTime"] == "2026-11-21T12:00:00.000+0800"
    for status, successful in (("RESTORE_FAIL", False), ("RESTORE_SUCCESS", True)):
        emulated.request("PUT", f"/emulator/restores/{number}", json={"status": status}).raise_for_status()
        [found] = emulated.get(RESTORES)["contents"]
        assert form(found) == {**OF_RESTORE, "finishTime": str}
        assert (found["status"], found["finished"], found["successful"]) == (status, True, successful)
        assert found["finishTime"] == "2026-11-21T14:30:00.000+0800"
    assert emulated.get(RESTORES.replace("/1/", "/2/"))["contents"] == []


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["c", "b", "a"]),
        ({"startTime": "2026-11-21T04:00:01Z"}, ["c", "b"]),
        ({"endTime": "2026-11-21T04:00:10Z"}, ["b", "a"]),
        ({"page": 2, "size": 2}, ["a"]),
    ],
)
def test_restores_can_be_filtered_and_paged(emulated, filters, found):
    for name in "abc":
        restore(emulated, restoreTenantName=name)
        emulated.pass_time(10)
    shown = emulated.get(RESTORES, params=filters)["contents"]
    assert [each["restoreTenantName"] for each in shown] == found


def merging(emulated):
    cluster = emulated.cluster(1)
    zones = emulated.get("/api/v2/ob/clusters/1/zones")["contents"]
    words = [zone["compactionStatus"] for zone in zones]
    assert words == [zone["compactionStatus"] for zone in cluster["zones"]]
    return cluster["compactionStatus"], words


def test_cluster_merges_while_a_zone_does(emulated):
    def let(**body):
        emulated.request("PUT", "/emulator/clusters/1/compaction", json=body).raise_for_status()

    assert merging(emulated) == ("IDLE", ["IDLE"] * 3)
    let(compactionStatus="MERGING", zone="zone2")
    assert merging(emulated) == ("MERGING", ["IDLE", "MERGING", "IDLE"])
    let(compactionStatus="MERGING")
    assert merging(emulated) == ("MERGING", ["MERGING"] * 3)
    let(compactionStatus="IDLE", zone="zone1")
    assert merging(emulated) == ("MERGING", ["IDLE", "MERGING", "MERGING"])
    let(compactionStatus="IDLE")
    assert merging(emulated) == ("IDLE", ["IDLE"] * 3)
    assert emulated.cluster(2)["compactionStatus"] == "IDLE"
