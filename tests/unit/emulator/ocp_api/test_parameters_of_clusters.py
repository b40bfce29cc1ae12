# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The parameters of a cluster, with the value of each server; and servers of another version."""

import pytest
from ocp_emulator.fleet.fleet_file import FleetError, FleetFile
from ocp_emulator.fleet.resolve_fleet import resolve

PATH = "/api/v2/ob/clusters/{}/parameters"
OFFLINE = "server_permanent_offline_time"
# Names and types as the documented response has them.
VALUE = {
    "obParameters": [{"name": str, "svrIp": str, "svrPort": int, "svrType": str, "value": str, "zone": str}],
    "singleValueInCluster": bool,
    "valueToServers": {"3600s": [str]},
    "values": [str],
}
FORM = {
    "currentValue": VALUE,
    "defaultValue": str,
    "description": str,
    "name": str,
    "needRestart": bool,
    "readonly": bool,
    "section": str,
    "valueRange": {"allowedValues": type(None), "maxValue": type(None), "minValue": str, "type": str},
}


def form(value):
    if isinstance(value, dict):
        return {key: form(inner) for key, inner in value.items()}
    return [form(value[0])] if isinstance(value, list) else type(value)


def parameter(emulated, name, cluster=1):
    return next(each for each in emulated.get(PATH.format(cluster))["contents"] if each["name"] == name)


def fleet(**cluster):
    zones = [{"name": "z", "servers": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2", "version": "4.2.1.0"}]}]
    return resolve(FleetFile.model_validate({"clusters": [{"name": "orders", "zones": zones, **cluster}]}))


def test_parameters_have_the_documented_fields(emulated):
    assert form(parameter(emulated, OFFLINE)) == FORM
    listed = emulated.get(PATH.format(1))
    assert set(listed) == {"contents"}
    # The documented list has a parameter of which no more is known.
    assert [set(each) for each in listed["contents"] if "needRestart" not in each] == [{"name", "currentValue"}]


def test_some_parameters_are_static_and_others_dynamic(emulated):
    assert parameter(emulated, OFFLINE)["needRestart"] is False
    assert parameter(emulated, "stack_size")["needRestart"] is True


def test_values_are_shown_by_server(emulated):
    value = parameter(emulated, OFFLINE, cluster=2)["currentValue"]
    addresses = ["10.0.0.7:2882", "10.0.0.8:2882", "10.0.0.9:2882"]
    assert (value["singleValueInCluster"], value["values"]) == (True, ["3600s"])
    assert value["valueToServers"] == {"3600s": addresses}
    body = {"parameters": {OFFLINE: "7200s"}}
    emulated.request("PUT", "/emulator/servers/8/parameters", json=body).raise_for_status()
    value = parameter(emulated, OFFLINE, cluster=2)["currentValue"]
    assert (value["singleValueInCluster"], value["values"]) == (False, ["3600s", "7200s"])
    assert value["valueToServers"] == {"3600s": [addresses[0], addresses[2]], "7200s": [addresses[1]]}
    assert [(each["zone"], each["value"]) for each in value["obParameters"]] == [
        ("zone1", "3600s"),
        ("zone2", "7200s"),
        ("zone3", "3600s"),
    ]
    assert parameter(emulated, OFFLINE, cluster=1)["currentValue"]["values"] == ["3600s"]


def test_fleet_file_sets_parameters_of_a_cluster(start):
    emulated = start(fleet=fleet(parameters={OFFLINE: "60s"}))
    assert parameter(emulated, OFFLINE)["currentValue"]["values"] == ["60s"]
    assert parameter(emulated, OFFLINE)["defaultValue"] == "3600s"
    with pytest.raises(FleetError, match="cluster orders has no parameter 'speed'"):
        fleet(parameters={"speed": "9"})


@pytest.mark.parametrize(
    ("server", "body", "status"),
    [
        (99, {"parameters": {OFFLINE: "1s"}}, 404),
        (1, {"parameters": {"speed": "1s"}}, 400),
        (1, {"parameters": {OFFLINE: 60}}, 400),
        (1, {}, 400),
    ],
)
def test_invalid_values_are_refused(emulated, server, body, status):
    emulated.error(status, "PUT", f"/emulator/servers/{server}/parameters", json=body)


def test_parameters_of_an_unknown_cluster_are_not_found(emulated):
    emulated.error(404, "GET", PATH.format(9))


def test_a_server_may_have_another_version_than_its_cluster(start):
    emulated = start(fleet=fleet(version="4.3.0.0"))
    servers = emulated.get("/api/v2/ob/clusters/1/servers")["contents"]
    assert [server["version"] for server in servers] == ["4.3.0.0", "4.2.1.0"]
    body = {"version": "4.3.1.0"}
    emulated.request("PUT", "/emulator/servers/1/version", json=body).raise_for_status()
    servers = emulated.get("/api/v2/ob/clusters/1/zones/z/servers")["contents"]
    assert [server["version"] for server in servers] == ["4.3.1.0", "4.2.1.0"]
    assert emulated.cluster(1)["obVersion"] == "4.3.0.0"
