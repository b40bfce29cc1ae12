# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Fleet files, good and bad."""

import pytest
from ocp_emulator.fleet.fleet_file import FleetError, read_fleet_file
from ocp_emulator.fleet.resolve_fleet import resolve


def read(tmp_path, text):
    path = tmp_path / "fleet.yml"
    path.write_text(text, encoding="utf-8")
    return resolve(read_fleet_file(path))


def test_omitted_fields_get_defaults(tmp_path):
    fleet = read(
        tmp_path,
        """
        clusters:
          - name: blue
            zones:
              - {name: east, servers: [{ip: 10.9.0.1}, {ip: 10.9.0.2}]}
              - {name: west, servers: [{ip: 10.9.0.1, port: 3882}]}
        arbitration_services: [{ip: 10.9.0.3}]
        """,
    )
    assert [(host.id, host.ip, host.name) for host in fleet.hosts] == [
        (1, "10.9.0.1", "host1"),
        (2, "10.9.0.2", "host2"),
        (3, "10.9.0.3", "host3"),
    ]
    assert [(server.id, server.host_id, server.port, server.root) for server in fleet.servers] == [
        (1, 1, 2882, True),
        (2, 2, 2882, False),
        (3, 1, 3882, False),
    ]
    assert [(zone.id, zone.cluster_id, zone.name) for zone in fleet.zones] == [(1, 1, "east"), (2, 1, "west")]
    assert [(service.id, service.host_id, service.port) for service in fleet.arbitration_services] == [(1, 3, 2888)]
    assert [(user.id, user.name) for user in fleet.users] == [(100, "admin"), (101, "viewer")]
    assert [(key.id, key.user_id) for key in fleet.access_keys] == [("emulator", 100)]


def test_given_ids_are_kept_and_other_ids_avoid_them(tmp_path):
    fleet = read(
        tmp_path,
        """
        hosts: [{id: 2, ip: 10.9.0.9, name: spare}]
        clusters:
          - {name: a, zones: [{name: z, servers: [{ip: 10.9.0.1}, {id: 1, ip: 10.9.0.2}]}]}
          - {id: 1, ob_cluster_id: 77, name: b, type: STANDBY, zones: [{name: z, servers: [{ip: 10.9.0.3}]}]}
        """,
    )
    assert [(cluster.id, cluster.ob_cluster_id, cluster.type) for cluster in fleet.clusters] == [
        (2, 101, "PRIMARY"),
        (1, 77, "STANDBY"),
    ]
    assert [server.id for server in fleet.servers] == [2, 1, 3]
    assert [(host.id, host.name) for host in fleet.hosts] == [(2, "spare"), (1, "host1"), (3, "host3"), (4, "host4")]
    assert [(zone.id, zone.cluster_id) for zone in fleet.zones] == [(1, 2), (2, 1)]


def test_users_and_access_keys_are_read(tmp_path):
    fleet = read(
        tmp_path,
        """
        users:
          - {name: dba, password: secret, permissions: [CLUSTER_MANAGER, "ARBITRATION:UPDATE"]}
        access_keys: [{id: k, secret: s, user: dba}]
        """,
    )
    assert [(user.name, user.permissions) for user in fleet.users] == [
        ("dba", ("CLUSTER_MANAGER", "ARBITRATION:UPDATE"))
    ]
    assert [(key.id, key.secret, key.user_id) for key in fleet.access_keys] == [("k", "s", 1)]


def test_custom_users_remove_the_default_access_keys(tmp_path):
    assert read(tmp_path, "users: [{name: a, password: b, permissions: []}]").access_keys == ()


CLUSTER = "clusters: [{name: a, zones: [{name: z, servers: [{ip: 10.0.0.1}]}]}"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "mapping"),
        ("- a", "mapping"),
        ("just text", "mapping"),
        ("clusters: [", "not YAML"),
        ("a: !!python/object:os.system {}", "not YAML"),
        ("cluster: []", "cluster"),
        ("clusters: 1", "clusters"),
        ("clusters: [{zones: []}]", "clusters.0.name"),
        ("clusters: [{name: a, zones: []}]", "clusters.0.zones"),
        ("clusters: [{name: a, zones: [{name: z, servers: []}]}]", "clusters.0.zones.0.servers"),
        ("clusters: [{name: a, zones: [{name: z, servers: [{}]}]}]", "clusters.0.zones.0.servers.0.ip"),
        ("clusters: [{name: a, zones: [{name: z, servers: [{ip: ten}]}]}]", "'ten' is not an IP address"),
        ("clusters: [{name: a, zones: [{name: z, servers: [{ip: 10.0.0.1, port: 0}]}]}]", "port"),
        ("clusters: [{name: a, id: 0, zones: [{name: z, servers: [{ip: 10.0.0.1}]}]}]", "clusters.0.id"),
        ("clusters: [{name: a, id: '1', zones: [{name: z, servers: [{ip: 10.0.0.1}]}]}]", "clusters.0.id"),
        ("clusters: [{name: a, type: THIRD, zones: [{name: z, servers: [{ip: 10.0.0.1}]}]}]", "clusters.0.type"),
        (CLUSTER + ", {name: a, zones: [{name: z, servers: [{ip: 10.0.0.2}]}]}]", "name 'a' occurs twice"),
        (CLUSTER + ", {name: b, zones: [{name: z, servers: [{ip: 10.0.0.1}]}]}]", "'10.0.0.1:2882' occurs twice"),
        (
            CLUSTER.removesuffix("]}") + ", {name: z, servers: [{ip: 10.0.0.2}]}]}]",
            "'z'",
        ),
        ("hosts: [{ip: 10.0.0.1}, {ip: 10.0.0.1}]", "hosts: ip"),
        ("hosts: [{ip: 10.0.0.1, id: 4}, {ip: 10.0.0.2, id: 4}]", "hosts: id 4 occurs twice"),
        ("hosts: [{ip: 10.0.0.1, name: a}, {ip: 10.0.0.2, name: a}]", "hosts: name"),
        ("users: [{name: a, password: b, permissions: [ROOT]}]", "users.0.permissions.0"),
        ("users: [{name: 'a:b', password: b, permissions: []}]", "users.0.name"),
        ("users: [{name: a, password: '', permissions: []}]", "users.0.password"),
        ("access_keys: [{id: k, secret: s, user: nobody}]", "'nobody'"),
        ("access_keys: [{id: k, secret: s, user: admin}, {id: k, secret: t, user: admin}]", "access_keys: id 'k'"),
    ],
)
def test_bad_file_error_is_one_sentence_with_the_location(tmp_path, text, where):
    with pytest.raises(FleetError) as caught:
        read(tmp_path, text)
    assert where in str(caught.value)
    assert "\n" not in str(caught.value)


def test_error_does_not_show_a_secret(tmp_path):
    with pytest.raises(FleetError) as caught:
        read(tmp_path, "users: [{name: a, password: [geheim], permissions: []}]")
    assert "geheim" not in str(caught.value)


def test_unreadable_file_is_refused(tmp_path):
    with pytest.raises(FleetError, match="No such file"):
        read_fleet_file(tmp_path / "nothing.yml")
    with pytest.raises(FleetError, match="directory"):
        read_fleet_file(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FleetError, match="UTF-8"):
        read_fleet_file(tmp_path / "binary")
