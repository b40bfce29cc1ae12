# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The inventory by Ansible's own commands: hosts, groups, variables, cache, refusals."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml
from ansible_collections.oceanbase.ocp.plugins.inventory.ocp import EXAMPLES
from credentials import ACCESS_KEY, BASIC
from documentation_blocks import EXAMPLE_URL, blocks

PAGE = "docs/inventory.md"
FLEET, ROLLING, CLUSTERS, OF_CLUSTERS = blocks(PAGE, "yaml")
_GRAPH, RESTART, RESTART_GROUP, RESTART_CLUSTERS = (block.splitlines()[-1] for block in blocks(PAGE, "console"))


@pytest.fixture
def source(tmp_path, emulator):
    """Write an inventory file with these options besides the connection, and return its path."""

    def write(name="fleet.ocp.yml", **options):
        given = {"plugin": "oceanbase.ocp.ocp", "url": emulator.url, **BASIC, **options}
        path = tmp_path / name
        path.write_text(yaml.safe_dump({option: value for option, value in given.items() if value is not None}))
        return path

    return write


@pytest.fixture
def command(ansible, commands, tmp_path):
    """Run one of Ansible's commands as a user does, with an inventory that cannot be read as an error."""

    def run(name, *arguments):
        environment = {**os.environ, "ANSIBLE_INVENTORY_UNPARSED_FAILED": "true", **ansible.variables()}
        return subprocess.run(
            [commands / name, *map(str, arguments)],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def listed(command):
    """The inventory as ansible-inventory prints it: the members of groups, and the variables of hosts."""

    def read(path):
        done = command("ansible-inventory", "-i", path, "--list")
        assert done.returncode == 0, done.stderr
        groups = plain(json.loads(done.stdout))
        return groups, groups.pop("_meta")["hostvars"]

    return read


@pytest.fixture
def environment(ansible, emulator):
    """The connection, where the page takes it from."""
    ansible.environment |= {"OCP_URL": emulator.url, **{f"OCP_{name.upper()}": value for name, value in BASIC.items()}}


@pytest.fixture
def page(tmp_path):
    """The files of the page, in the folder where commands run."""
    (tmp_path / "fleet.ocp.yml").write_text(FLEET)
    (tmp_path / "restart_orders.yml").write_text(ROLLING)
    (tmp_path / "clusters.ocp.yml").write_text(CLUSTERS)
    (tmp_path / "restart_clusters.yml").write_text(OF_CLUSTERS)


def plain(value):
    """Without the marks of what is no template, which ansible-core 2.19 and newer print."""
    if isinstance(value, dict):
        return value.get("__ansible_unsafe") or {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def hosts(*last):
    return [f"10.0.0.{number}_2882" for number in last]


@pytest.mark.smoke
def test_servers_are_hosts_in_groups(listed, source, emulator):
    groups, variables = listed(source())
    assert sorted(variables) == hosts(*range(1, 10))
    assert groups["ocp_servers"]["hosts"] == hosts(*range(1, 10))
    assert groups["ocp_cluster_orders"]["hosts"] == hosts(*range(1, 7))
    assert groups["ocp_cluster_orders"]["children"] == [f"ocp_zone_orders_zone{number}" for number in (1, 2, 3)]
    assert groups["ocp_zone_payments_zone2"]["hosts"] == hosts(8)
    for group in ("ocp_region_default_region", "ocp_status_RUNNING", "ocp_version_4_3_5_2"):
        assert groups[group]["hosts"] == hosts(*range(1, 10))
    own = variables["10.0.0.7_2882"]
    started = datetime.fromisoformat(own.pop("ocp_start_time"))
    assert started.tzinfo is not None
    assert own == {
        "ansible_host": "10.0.0.7",
        "ocp_url": emulator.url,
        "ocp_server": "10.0.0.7:2882",
        "ocp_server_id": 7,
        "ocp_cluster": "payments",
        "ocp_cluster_id": 2,
        "ocp_host_id": 7,
        "ocp_zone": "zone1",
        "ocp_region": "default_region",
        "ocp_idc": "default_idc",
        "ocp_status": "RUNNING",
        "ocp_inner_status": "ACTIVE",
        "ocp_version": "4.3.5.2",
        "ocp_with_rootserver": True,
        "ocp_sql_port": 2881,
        "ocp_task_id": None,
    }


def test_clusters_of_one_name_in_several_ocps_are_no_group(command, source, start_emulator):
    """A play over it would restart the servers of all of them."""
    places = [
        source(f"{number}.ocp.yml", url=start_emulator().url, filters={"zone": f"zone{number}"}) for number in (1, 2, 3)
    ]
    done = command("ansible-inventory", *(f"--inventory={path}" for path in places), "--list")
    assert done.returncode == 0, done.stderr
    groups = json.loads(done.stdout)
    assert "hosts" not in groups["ocp_cluster_orders"]
    assert groups["ocp_zone_orders_zone1"]["hosts"] == hosts(1, 2)
    assert sorted(groups["ocp_servers"]["hosts"]) == hosts(*range(1, 10))
    assert " ".join(done.stderr.split()).count("Group ocp_cluster_orders has no hosts, since it would mean") == 1


def test_server_of_one_address_in_two_ocps_is_an_error(command, source, start_emulator):
    places = [source(f"{number}.ocp.yml", url=start_emulator().url) for number in (1, 2)]
    done = command("ansible-inventory", *(f"--inventory={path}" for path in places), "--list")
    assert done.returncode == 4
    assert "both have a host 10.0.0.1_2882; give filters that pass only one" in " ".join(done.stderr.split())


def clusters(emulator, *numbers):
    """The unique names of the hosts of the default fleet's clusters."""
    address = emulator.url.removeprefix("http://").replace(":", "+")
    return [f"{'orders' if number == 1 else 'payments'}+{number}+{address}" for number in numbers]


@pytest.mark.smoke
def test_clusters_are_hosts_in_groups_beside_servers(command, emulator, source, start_emulator):
    """Of two services with equal clusters, with the servers of one of them: no host has two meanings."""
    other = start_emulator()
    sources = [source("1.ocp.yml", hosts="clusters"), source("2.ocp.yml", hosts="clusters", url=other.url), source()]
    done = command("ansible-inventory", *(f"--inventory={path}" for path in sources), "--list")
    assert done.returncode == 0, done.stderr
    groups = plain(json.loads(done.stdout))
    variables = groups.pop("_meta")["hostvars"]
    # The first service that is read has the plain names.
    every = ["orders", "payments", *clusters(other, 1, 2)]
    assert sorted(variables) == sorted([*every, *hosts(*range(1, 10))])
    for group in ("", "_region_default_region", "_status_RUNNING", "_version_4_3_5_2", "_type_PRIMARY"):
        assert groups[f"ocp_clusters{group}"]["hosts"] == every
    assert not {*every} & {host for group in ("servers", "status_RUNNING") for host in groups[f"ocp_{group}"]["hosts"]}
    assert "ansible_connection" not in variables["10.0.0.1_2882"]
    own = variables[every[1]]
    assert datetime.fromisoformat(own.pop("ocp_start_time")).tzinfo is not None
    place = {"region": "default_region", "idc": "default_idc"}
    assert own == {
        "ansible_connection": "local",
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        "ocp_url": emulator.url,
        "ocp_cluster": "payments",
        "ocp_cluster_id": 2,
        "ocp_ob_cluster_id": 102,
        "ocp_type": "PRIMARY",
        "ocp_status": "RUNNING",
        "ocp_version": "4.3.5.2",
        "ocp_task_id": None,
        "ocp_regions": ["default_region"],
        "ocp_idcs": ["default_idc"],
        "ocp_zones": [
            {"name": f"zone{number}", **place, "servers": 1, "status": "RUNNING", "with_rootserver": None}
            for number in (1, 2, 3)
        ],
        "ocp_server_count": 3,
        "ocp_tenant_count": 2,
        "ocp_servers": None,
    }
    # One list of clusters each, and one of servers for each of the two of the first.
    assert (len(emulator.requests("GET")), len(other.requests("GET"))) == (1 + 3, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("options", [("--profile", "4.2"), ("--profile", "4.3"), ("--cluster-servers", "complete")])
def test_clusters_are_read_by_one_request_on_every_version(listed, source, start_emulator, options):
    emulator = start_emulator(*options)
    groups, variables = listed(source(hosts="clusters", url=emulator.url, filters={"region": "default_region"}))
    assert groups["ocp_clusters"]["hosts"] == ["orders", "payments"]
    assert {(own["ocp_server_count"], own["ocp_tenant_count"]) for own in variables.values()} == {(6, 2), (3, 2)}
    shown = variables["payments"]["ocp_servers"]
    assert shown == ([f"10.0.0.{last}:2882" for last in (7, 8, 9)] if "--cluster-servers" in options else None)
    assert len(emulator.requests("GET")) == 1


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"cluster": "payments"}, hosts(7, 8, 9)),
        ({"cluster": ["orders", 2], "zone": "zone3", "status": ["RUNNING"]}, hosts(5, 6, 9)),
        ({"server": "10.0.0.2:2882"}, hosts(2)),
        ({"idc": "elsewhere"}, []),
    ],
)
def test_filters_select_servers(listed, source, filters, found):
    _groups, variables = listed(source(filters=filters))
    assert sorted(variables) == found


def test_constructed_options_add_groups_and_variables(listed, source):
    groups, variables = listed(
        source(
            filters={"cluster": "payments"},
            groups={"roots": "ocp_with_rootserver"},
            keyed_groups=[{"key": "ocp_zone", "prefix": "everywhere"}],
            compose={"sql_address": "ansible_host ~ ':' ~ ocp_sql_port"},
        )
    )
    assert (groups["roots"]["hosts"], groups["everywhere_zone2"]["hosts"]) == (hosts(7), hosts(8))
    assert variables["10.0.0.9_2882"]["sql_address"] == "10.0.0.9:2881"


def test_failing_expression_is_an_error_only_when_strict(command, listed, source):
    compose = {"nothing": "not_there ~ 'x'"}
    _groups, variables = listed(source(compose=compose))
    assert "nothing" not in variables["10.0.0.1_2882"]
    done = command("ansible-inventory", "-i", source(compose=compose, strict=True), "--list")
    assert done.returncode != 0
    assert "nothing" in done.stderr


@pytest.mark.parametrize("password", ["{{ 'ocp-demo' ~ '-1' }}"], ids=["template"])
def test_the_password_may_be_a_template(listed, source, password):
    _groups, variables = listed(source(password=password))
    assert len(variables) == 9


def test_the_connection_comes_from_the_environment_over_https(
    ansible, listed, source, start_emulator, tls_options, ca_path
):
    emulator = start_emulator(*tls_options)
    ansible.environment = {
        "OCP_URL": emulator.url,
        "OCP_CA_PATH": ca_path,
        **{f"OCP_{name.upper()}": value for name, value in ACCESS_KEY.items()},
    }
    _groups, variables = listed(source(url=None, username=None, password=None))
    assert len(variables) == 9


@pytest.mark.nightly
def test_cache_saves_requests_and_stores_no_secret(emulator, listed, source, tmp_path):
    cached = {"cache": True, "cache_plugin": "jsonfile", "cache_connection": str(tmp_path / "kept")}
    first, again = (listed(source(**cached)) for _run in range(2))
    assert first == again
    # The list of clusters, and the servers of both.
    assert len(emulator.requests("GET")) == 3
    assert BASIC["password"] not in "".join(path.read_text() for path in (tmp_path / "kept").iterdir())
    for _run in range(2):
        _groups, variables = listed(source(hosts="clusters", **cached))
        assert sorted(variables) == ["orders", "payments"]
    assert len(emulator.requests("GET")) == 4
    _groups, variables = listed(source(filters={"cluster": "orders"}, **cached))
    assert len(variables) == 6
    assert len(emulator.requests("GET")) == 6


def test_only_ocp_yml_and_ocp_yaml_files_are_read(command, source):
    done = command("ansible-inventory", "-i", source("fleet.yml"), "--list")
    assert done.returncode != 0
    done = command("ansible-inventory", "-i", source("fleet.ocp.yaml"), "--list")
    assert done.returncode == 0, done.stderr


# What Ansible may go on without, as it does with any source that it cannot read.
UNREADABLE = [
    ({"url": "http://127.0.0.1:9"}, "http://127.0.0.1:9/api/v2/ob/clusters cannot be reached: Connection refused"),
    ({"hosts": "cluster"}, "servers, clusters"),
]
# What ends the command.
WRONG = {
    "password": ({"password": "hidden-secret"}, "was refused with status 401"),
    "cluster of servers": (
        {"filters": {"cluster": ["orders", "paiments"]}},
        "filters.cluster: paiments matches nothing",
    ),
    "cluster": (
        {"hosts": "clusters", "filters": {"cluster": "paiments"}},
        "Did you mean payments? Check the name or id.",
    ),
    "credentials": (
        {"access_key_id": "key", "access_key_secret": "hidden-secret"},
        "Both kinds of credentials are given",
    ),
    "no address": ({"url": None}, "url: is not given; give the address of an OCP with url or OCP_URL"),
    "address": ({"url": "ftp://127.0.0.1"}, "url: ftp://127.0.0.1 is not the address of an OCP"),
    "template": ({"password": "hidden-secret {{"}, "password: cannot be templated"),
    "range": ({"timeout": 0}, "timeout: 0 is out of range"),
    "number": ({"request_timeout": "abc"}, "request_timeout: 'abc' is not valid; give a number."),
    "kind": ({"hosts": "cluster"}, "hosts: 'cluster' is not valid; give one of servers, clusters."),
    "choice": ({"filters": {"status": "RUNING"}}, "Got no match for: RUNING found in filters"),
    "choice of the other kind": (
        {"hosts": "clusters", "filters": {"status": "UNAVAILABLE"}},
        "Got no match for: UNAVAILABLE found in filters",
    ),
    "filter": ({"filters": {"zones": "zone1"}}, "There is no option filters.zones"),
    "filter of the other kind": (
        {"hosts": "clusters", "filters": {"server": "10.0.0.1:2882"}},
        "There is no option filters.server",
    ),
    "empty filter": ({"filters": {"zone": []}}, "zone: is empty"),
    "option": ({"filter": {"zone": "zone1"}}, "filter: is not an option of oceanbase.ocp.ocp"),
}


def test_errors_show_neither_traceback_nor_secret(command, source):
    sources = [source(f"{number}.ocp.yml", **options) for number, (options, _message) in enumerate(UNREADABLE)]
    done = command("ansible-inventory", *(f"--inventory={path}" for path in sources), "--list", "-vvv")
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert [message for _options, message in UNREADABLE if message not in said] == [], done.stderr
    assert "hidden" not in done.stdout + done.stderr
    assert "module_utils" not in done.stderr


# Without the settings of the fixture, as a user has it: a source that cannot be read is a warning for Ansible.
@pytest.mark.parametrize(("options", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_in_the_file_is_the_last_and_only_error(command, ansible, source, emulator, options, words):
    ansible.environment["ANSIBLE_INVENTORY_UNPARSED_FAILED"] = "false"
    path = source(**options)
    done = command("ansible-playbook", "-i", path, "oceanbase.ocp.rolling_restart", "-e", "rolling_restart_change=m-1")
    assert done.returncode == 4
    lines = done.stderr.strip().splitlines()
    assert [line for line in lines if line.startswith("[")] == lines[:1]
    assert lines[0].startswith(f"[ERROR]: {path}: ")
    assert words in done.stderr
    assert "hidden" not in done.stderr
    assert "PLAY" not in done.stdout
    assert emulator.log.count("POST") == 0


@pytest.mark.parametrize(
    ("playbook", "given", "words"),
    [
        ("rolling_restart", [], "rolling_restart_clusters: is not given, and the inventory could not be read. "),
        (
            "fleet_restart",
            ["-e", "fleet_restart_group=ocp_servers"],
            "fleet_restart_group: ocp_servers is not a group of the inventory with hosts, since the inventory could "
            "not be read. ",
        ),
    ],
)
def test_playbook_without_hosts_says_why_it_could_not_be_read(command, ansible, source, playbook, given, words):
    ansible.environment["ANSIBLE_INVENTORY_UNPARSED_FAILED"] = "false"
    path = source(url="http://127.0.0.1:9")
    name = f"oceanbase.ocp.{playbook}"
    done = command("ansible-playbook", "-i", path, name, "-e", f"{playbook}_change=m-1", *given)
    assert done.returncode == 2
    last = next(line for line in (done.stdout + done.stderr).splitlines() if words in line)
    assert f"{words}{path}: http://127.0.0.1:9/api/v2/ob/clusters cannot be reached: Connection refused." in last


def test_unencrypted_password_causes_a_warning(command, source):
    done = command("ansible-inventory", "-i", source(url="http://0.0.0.0:9"), "--list")
    assert "The password of admin is sent unencrypted to 0.0.0.0:9" in " ".join(done.stderr.split())


def test_response_without_envelope_is_reported(command, emulator, source):
    emulator.post("/emulator/faults", {"kind": "http", "action": "html", "status": 200, "when": "after", "times": None})
    done = command("ansible-inventory", "-i", source(), "--list")
    assert done.returncode != 0
    assert "is not an OCP response envelope" in done.stderr
    assert "Traceback" not in done.stderr


def test_plugin_examples_work(ansible, emulator, listed, tmp_path):
    ansible.environment = {
        "OCP_URL": emulator.url,
        "OCP_USERNAME": "admin",
        "OCP_PASSWORD": "ocp-demo-1",
        "MY_OCP_PASSWORD": "ocp-demo-1",
    }
    all_of_it, orders, of_clusters = (
        EXAMPLES.replace(EXAMPLE_URL, emulator.url).replace("~/", f"{tmp_path}/").split("---\n")
    )
    for number, (example, servers) in enumerate([(all_of_it, 9), (orders, 6)]):
        path = tmp_path / f"{number}.ocp.yml"
        path.write_text(example)
        groups, variables = listed(path)
        assert len(variables) == servers
    assert groups["root_servers"]["hosts"] == hosts(1)
    assert variables["10.0.0.1_2882"]["sql_address"] == "10.0.0.1:2881"
    path.write_text(of_clusters)
    groups, variables = listed(path)
    assert sorted(variables) == ["orders", "payments"]
    for group in ("of_4_3", "clusters_idc_default_idc"):
        assert groups[group]["hosts"] == ["orders", "payments"]


# A hostile service


GOOD = {"id": 1, "ip": "10.1.0.1", "port": 2882, "hostId": 1, "zoneName": "zone1", "status": "RUNNING", "sqlPort": 2881}


@pytest.fixture
def hostile():
    """The address of a service with these servers in a cluster of this name."""
    servers, cluster = [], {"id": 1, "name": "orders"}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            contents = servers if "/servers" in self.path else [{**cluster, "zones": []}]
            data = {"contents": contents, "page": {"totalPages": 1}}
            body = json.dumps({"successful": True, "status": 200, "traceId": "trace", "data": data}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", servers, cluster
    server.shutdown()
    thread.join()
    server.server_close()


NO_ADDRESSES = ["../evilhost", "-oProxyCommand=x", ".ssh", "10.1.0.1/..", "a b", "a\nb", "{{ 1 }}", "", None, 7, ["x"]]


def test_server_whose_address_is_no_address_is_left_out_with_a_warning(command, source, hostile):
    url, servers, _cluster = hostile
    servers += [GOOD, *({**GOOD, "id": number, "ip": ip} for number, ip in enumerate(NO_ADDRESSES, 2))]
    done = command("ansible-inventory", "-i", source(url=url), "--list")
    assert done.returncode == 0, done.stderr
    assert list(plain(json.loads(done.stdout))["_meta"]["hostvars"]) == ["10.1.0.1_2882"]
    said = " ".join(done.stderr.split())
    # A null and a list are both no address, and Ansible shows the same warning once.
    left_out = len(NO_ADDRESSES) - 1
    assert said.count("of cluster orders (id 1) is left out of the inventory: its address is not") == left_out


def test_keyed_group_of_a_hostile_name_reads_no_file(command, source, hostile, tmp_path):
    url, servers, _cluster = hostile
    (tmp_path / "group_vars/x").mkdir(parents=True)
    (tmp_path / "evil.yml").write_text("evil: was read")
    servers.append({**GOOD, "idcName": "/../../evil"})
    made = source(url=url, keyed_groups=[{"key": "ocp_idc", "prefix": "x", "separator": ""}])
    done = command("ansible-inventory", "-i", made, "--list", "--export")
    assert "x_______evil" in json.loads(done.stdout)
    assert "was read" not in done.stdout


# Without connection: local


@pytest.fixture
def ssh(ansible, tmp_path):
    """Stand in for ssh; returns a file that is there once somebody has called it."""
    called = tmp_path / "ssh was called"
    program = tmp_path / "ssh"
    program.write_text(f"#!/bin/sh\ntouch '{called}'\nexit 255\n")
    program.chmod(0o755)
    ansible.environment["ANSIBLE_SSH_EXECUTABLE"] = str(program)
    return called


NOT_BY_SSH = {
    "module": {
        "oceanbase.ocp.server_restart": {
            "cluster": "{{ ocp_cluster }}",
            "server": "{{ ocp_server }}",
            "freeze_server": False,
        }
    },
    "task_wait": {
        "ansible.builtin.include_role": {"name": "oceanbase.ocp.wait_for_restart"},
        "vars": {"wait_for_restart_tasks": 1001},
    },
    "rolling_restart": {
        "ansible.builtin.include_role": {"name": "oceanbase.ocp.rolling_restart"},
        "vars": {"rolling_restart_clusters": ["orders"], "rolling_restart_started_before": "1777834921"},
    },
}
BY_VARIABLE = {"connection": "local", "vars": {"ansible_connection": "ssh"}}


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("task", "connection"),
    [
        *(
            pytest.param(task, {}, id=name, marks=[pytest.mark.nightly] * (name == "task_wait"))
            for name, task in NOT_BY_SSH.items()
        ),
        *(
            pytest.param(task, BY_VARIABLE, id=f"{name}, by variable", marks=[pytest.mark.nightly] * (name != "module"))
            for name, task in NOT_BY_SSH.items()
        ),
    ],
)
@pytest.mark.usefixtures("environment")
def test_nothing_goes_by_ssh_to_a_database_server(command, emulator, source, ssh, tmp_path, task, connection):
    play = {"hosts": "ocp_zone_orders_zone1", "gather_facts": False, **connection, "tasks": [task]}
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    done = command("ansible-playbook", "-i", source(), "play.yml")
    assert done.returncode == 2, done.stdout
    _of_the_switch, message = blocks("docs/where-modules-run.md", "text")
    assert message.strip() in done.stdout
    assert not ssh.exists()
    assert emulator.requests("POST") == []


# The page


@pytest.fixture
def change():
    """An instant before the test; what the service shows of a start is cut off to the second."""
    return (datetime.now(UTC) - timedelta(seconds=2)).isoformat()


def as_the_page_says(command, line, change):
    _prompt, name, *arguments = shlex.split(line.replace("2026-05-04T03:00:00+08:00", change))
    return command(name, *arguments)


def asked_for(emulator):
    """The ids of the servers, in the order in which restarts were asked for."""
    seen = emulator.get("/emulator/requests?method=POST&path=*/restart&size=100")["contents"]
    return [int(request["path"].split("/")[-2]) for request in seen]


@pytest.mark.nightly
@pytest.mark.usefixtures("environment", "page")
def test_documented_rolling_restart_goes_once_zone_by_zone(command, emulator, change):
    first, again = (as_the_page_says(command, RESTART, change) for _run in range(2))
    assert (first.returncode, again.returncode) == (0, 0), first.stdout + first.stderr + again.stdout + again.stderr
    asked = asked_for(emulator)
    assert [sorted(asked[:2]), sorted(asked[2:4]), asked[4:]] == [[3, 4], [5, 6], [2, 1]]


@pytest.mark.nightly
@pytest.mark.usefixtures("environment", "page")
def test_documented_rolling_restart_stops_at_a_failure_and_resumes(command, emulator, change):
    emulator.fail_subtask("Start observer process")
    failed = as_the_page_says(command, RESTART, change)
    assert failed.returncode != 0
    assert sorted(asked_for(emulator)) == [3, 4]
    [task] = emulator.get("/api/v2/tasks/instances?status=FAILED")["contents"]
    emulator.post(f"/api/v2/tasks/instances/{task['id']}/retry")
    while emulator.get(f"/api/v2/tasks/instances/{task['id']}")["status"] == "RUNNING":
        emulator.advance(1)
    rest = as_the_page_says(command, RESTART, change)
    assert rest.returncode == 0, rest.stdout + rest.stderr
    assert emulator.restarts("OB_SERVER") == {f"10.0.0.{last}:2882": 1 for last in range(1, 7)}


@pytest.mark.usefixtures("environment", "page")
def test_collection_playbook_restarts_an_inventory_group(command, emulator, change):
    done = as_the_page_says(command, RESTART_GROUP, change)
    assert done.returncode == 0, done.stdout + done.stderr
    assert emulator.restarts("OB_SERVER") == {"10.0.0.5:2882": 1, "10.0.0.6:2882": 1}


@pytest.mark.usefixtures("environment", "page")
def test_documented_play_over_clusters_restarts_those_of_the_limit(command, emulator, ssh, change, tmp_path):
    """Also where a group of all hosts says ssh."""
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "group_vars/all.yml").write_text("ansible_connection: ssh\nansible_python_interpreter: /nowhere\n")
    done = as_the_page_says(command, RESTART_CLUSTERS, change)
    assert done.returncode == 0, done.stdout + done.stderr
    assert emulator.restarts("OB_SERVER") == {f"10.0.0.{last}:2882": 1 for last in (7, 8, 9)}
    assert not ssh.exists()
