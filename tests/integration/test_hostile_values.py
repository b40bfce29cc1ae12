# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A service that says templates in every field: none runs, whatever Ansible does with what it says."""

from __future__ import annotations

import asyncio
import json
import os
import re
import runpy
import subprocess
from contextlib import suppress
from html.parser import HTMLParser

import pytest
import yaml
from credentials import BASIC
from execution_path import ORDINARY
from hostile_ocp import OTHER_TASK, REFUSED, HostileOcp, serve
from hostile_strings import CONTAINERS, STRINGS, Canaries
from jinja2.nativetypes import NativeEnvironment
from repository import REPOSITORY

# Minutes in all.
pytestmark = pytest.mark.nightly


SOURCE = REPOSITORY / "extensions/eda/plugins/event_source/ocp_tasks.py"
RULEBOOK = REPOSITORY / "extensions/eda/rulebooks/failed_restart.yml"
# In `make test` some of them, in `make matrix` and at night all.
SOME, ALL = 8, len(STRINGS)
AT_LENGTH = [pytest.mark.smoke, pytest.mark.nightly]
how_many = pytest.mark.parametrize("count", [SOME, pytest.param(ALL, marks=AT_LENGTH)])


@pytest.fixture
def canaries(tmp_path):
    return Canaries(tmp_path / "canaries")


@pytest.fixture
def service(canaries, count):
    """The address of the service; ``count`` strings stand in each field of as many things."""
    fields = ("id", "hostId", "zoneName", "status", "innerStatus", "sqlPort", "regionName", "idcName", "version")
    others = ("withRootserver", "startTime", "operatingTaskInstanceId")
    wrapped = [
        {
            **{name: canaries.in_container(f"wrapped-{name}", number) for name in (*fields, *others)},
            "ip": f"10.2.0.{number}",
            "port": 2882,
        }
        for number in range(len(CONTAINERS))
    ]
    with serve(HostileOcp(canaries.string, count, wrapped).answer) as url:
        yield url


@pytest.fixture
def command(ansible, commands, tmp_path):
    """Run one of Ansible's commands as a user does."""

    def run(name, *arguments):
        return subprocess.run(
            [commands / name, *map(str, arguments)],
            env={**os.environ, "ANSIBLE_INVENTORY_UNPARSED_FAILED": "true", **ansible.variables()},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def play(*tasks, hosts="localhost", **keywords):
    return {"hosts": hosts, "connection": "local", "gather_facts": False, **keywords, "tasks": list(tasks)}


def debug(text, **keywords):
    return {"ansible.builtin.debug": {"msg": text}, **keywords}


# The strings themselves


@pytest.mark.smoke
@pytest.mark.nightly
def test_strings_run_where_they_are_trusted(ansible, canaries):
    """What none of the other tests may see happen."""
    trusted = {f"string_{number}": canaries.string("trusted", number) for number in range(ALL)}
    # Some versions end a loop at what is no template at all.
    templates = [name for name, text in trusted.items() if not text.startswith("}}")]
    shown = debug("{{ lookup('ansible.builtin.vars', item) }}", loop=templates, ignore_errors=True)
    ansible.tasks(shown, vars=trusted)
    # Newer versions evaluate in a sandbox, and know no header in a variable.
    assert len(canaries.seen) >= ALL / 2
    assert len(set(trusted.values())) == ALL == 200


# The inventory

FIELDS = ["cluster", "cluster_id", "server_id", "host_id", "zone", "region", "idc", "status", "inner_status", "version"]
FIELDS += ["with_rootserver", "sql_port", "start_time", "task_id"]
EVERY_VARIABLE = "{{ groups.ocp_servers | map('extract', hostvars, 'ocp_FIELD') | list }}"
OVER_THE_INVENTORY = [
    play(
        debug({name: EVERY_VARIABLE.replace("FIELD", name) for name in FIELDS}),
        debug("{{ groups }}"),
        {"ansible.builtin.set_fact": {"kept": "{{ groups.ocp_servers[-5:] | map('extract', hostvars) | list }}"}},
        debug("{{ kept }} {{ [kept, again] | to_json }}", vars={"again": "{{ kept | map(attribute='ocp_idc') }}"}),
        {"ansible.builtin.debug": {"var": "kept"}},
    ),
    play(
        debug(f"{{{{ [{', '.join(f'ocp_{name}' for name in FIELDS)}, composed, text] }}}} {{{{ group_names }}}}"),
        hosts="ocp_servers",
    ),
]


@pytest.mark.parametrize(
    ("cached", "count"),
    [(False, SOME), pytest.param(True, SOME, marks=pytest.mark.smoke), pytest.param(False, ALL, marks=AT_LENGTH)],
)
def test_no_host_variable_is_evaluated(command, canaries, service, tmp_path, cached, count):
    options = {
        "compose": {"composed": "ocp_idc", "text": "ocp_sql_port ~ ocp_idc"},
        "keyed_groups": [{"key": "ocp_idc | string", "prefix": "idc"}],
        "groups": {"somewhere": "ocp_idc is string"},
    }
    if cached:
        options |= {"cache": True, "cache_plugin": "jsonfile", "cache_connection": str(tmp_path / "kept")}
    inventory = tmp_path / "fleet.ocp.yml"
    inventory.write_text(yaml.safe_dump({"plugin": "oceanbase.ocp.ocp", "url": service, **BASIC, **options}))
    (tmp_path / "play.yml").write_text(yaml.safe_dump(OVER_THE_INVENTORY))
    ends = [
        command("ansible-inventory", "-i", inventory, "--list"),
        command("ansible-inventory", "-i", inventory, "--host", "10.1.0.7_2882"),
        command("ansible-playbook", "-i", inventory, "play.yml"),
    ]
    assert canaries.seen == []
    assert [end.stdout[-3000:] + end.stderr for end in ends if end.returncode != 0] == []
    # All of it was there to be evaluated.
    shown = ends[-1].stdout
    assert f"10.2.0.{len(CONTAINERS) - 1}_2882" in shown
    assert {*range(1, count + 1)} <= {int(number) for number in re.findall(r"/canaries/server-status-(\d+)", shown)}


FACTS = ["cluster", "cluster_id", "ob_cluster_id", "type", "status", "version", "start_time", "task_id", "regions"]
FACTS += ["idcs", "zones", "server_count", "tenant_count", "servers", "url"]
OVER_CLUSTERS = [
    play(
        debug({name: EVERY_VARIABLE.replace("ocp_servers", "ocp_clusters").replace("FIELD", name) for name in FACTS}),
        debug("{{ groups }}"),
        {"ansible.builtin.set_fact": {"kept": "{{ groups.ocp_clusters | map('extract', hostvars) | list }}"}},
        debug("{{ kept }} {{ kept | to_json }}"),
    ),
    play(
        debug(f"{{{{ [{', '.join(f'ocp_{name}' for name in FACTS)}, composed, text] }}}} {{{{ group_names }}}}"),
        hosts="ocp_clusters",
    ),
]


@how_many
def test_no_variable_of_a_cluster_is_evaluated(command, canaries, service, tmp_path, count):
    """Names of hosts are made of names of clusters, and groups of what their zones say."""
    options = {
        "hosts": "clusters",
        "compose": {"composed": "ocp_zones", "text": "ocp_type ~ ocp_regions"},
        "keyed_groups": [{"key": "ocp_idcs", "prefix": "idc"}, {"key": "ocp_cluster", "prefix": "named"}],
        "groups": {"somewhere": "ocp_cluster is string"},
    }
    inventory = tmp_path / "clusters.ocp.yml"
    inventory.write_text(yaml.safe_dump({"plugin": "oceanbase.ocp.ocp", "url": service, **BASIC, **options}))
    (tmp_path / "play.yml").write_text(yaml.safe_dump(OVER_CLUSTERS))
    ends = [
        command("ansible-inventory", "-i", inventory, "--list", "--export"),
        command("ansible-inventory", "-i", inventory, "--graph", "--vars"),
        command("ansible-playbook", "-i", inventory, "play.yml", "--limit", "*+[0-9]*+127.0.0.1+*,orders,localhost"),
    ]
    assert canaries.seen == []
    assert [end.stdout[-3000:] + end.stderr for end in ends if end.returncode != 0] == []
    shown = ends[-1].stdout
    for field in ("cluster-name", "cluster-obVersion", "zone-regionName", "zone-idcName"):
        assert {*range(1, count + 1)} <= {int(number) for number in re.findall(rf"/canaries/{field}-(\d+)", shown)}, (
            field
        )
    listed = json.loads(ends[0].stdout)["ocp_clusters"]["hosts"]
    assert len(listed) == count + 1
    # The only one whose own name is harmless as that of a host.
    assert [
        name for name in listed if not re.fullmatch(r"[A-Za-z0-9_%][\w.~%-]*\+[0-9]+\+127\.0\.0\.1\+[0-9]+", name)
    ] == ["orders"]


# Registered results

CLUSTER = {"cluster": "orders"}
SERVER = {**CLUSTER, "server": "10.9.0.2:2882", "freeze_server": False}
WAIT = {"wait": True, "wait_timeout": 30, "wait_interval": 0.5}
FLEET_SERVER = {**CLUSTER, "server": "10.9.0.2:2882"}
BEFORE = {"started_before": "2026-05-05T00:00:00+00:00"}
CALLS = {
    "clusters": ("cluster_info", {}),
    "servers": ("server_info", {}),
    "hosts": ("host_info", {}),
    "services": ("arbitration_service_info", {}),
    "obproxies": ("obproxy_info", {}),
    "parameters": ("cluster_parameter_info", {"cluster": "orders"}),
    "setting": ("cluster_parameter", {"cluster": "orders", "parameters": {"stack_size": "5M"}, "settle_time": 1}),
    "check": ("ocp_info", {}),
    "tasks": ("task_info", {"limit": ALL}),
    "plan": ("cluster_rolling_restart_info", {"clusters": ["orders"], **BEFORE}),
    "fleet": ("fleet_restart_info", {"servers": [FLEET_SERVER], **BEFORE}),
    "health": ("cluster_wait", {**CLUSTER, "min_zones": 9, "wait_timeout": 1}),
    "refusal": ("task_wait", {"task_ids": [REFUSED], "wait_timeout": 1}),
    "failures": ("task_wait", {"task_ids": [*range(OTHER_TASK + 1, OTHER_TASK + 9)], "wait_timeout": 2}),
    "action": ("task", {"task_id": OTHER_TASK + 1, "state": "retried"}),
    "server": ("server_restart", {**SERVER, **WAIT}),
    "zone": ("zone_restart", {**CLUSTER, "zone": "{{ servers.servers[-1].zone }}", **WAIT}),
    "cluster": ("cluster_restart", {**CLUSTER, **WAIT}),
    "agents": ("agent_restart", {"hosts": "10.9.0.1", **WAIT}),
    "service": ("arbitration_service_restart", {"arbitration_service": "10.9.0.9:2888", **WAIT}),
    "obproxy": ("obproxy_restart", {"obproxy_cluster": "9041", "obproxies": ["9042"], **WAIT}),
}
# As an ordinary module, whose result is read as JSON.
ORDINARILY = ("clusters", "tasks", "agents")


def calls():
    for name, (module, options) in CALLS.items():
        call = {"name": name, f"oceanbase.ocp.{module}": options, "register": name, "ignore_errors": True}
        yield call
        if name in ORDINARILY:
            yield {**call, "name": f"{name} again", **ORDINARY}


EACH = {name: f"{{{{ {name} }}}}" for name in CALLS}
AGAIN = {f"again_{name}": value for name, value in EACH.items()}
KEPT = {f"kept_{name}": value for name, value in EACH.items()}
# What a playbook does with registered results.
USES = [
    debug(EACH),
    debug(f"{{{{ [{', '.join([*CALLS, *AGAIN])}] | to_json }}}}", vars=AGAIN),
    {"ansible.builtin.set_fact": KEPT},
    debug(f"{{{{ [{', '.join(KEPT)}] }}}}"),
    {"ansible.builtin.debug": {"var": "kept_tasks"}},
    {"ansible.builtin.template": {"src": "{{ folder }}/used.j2", "dest": "{{ folder }}/used.txt"}},
]
TEMPLATE = "\n".join([*EACH.values(), *(f"{{{{ {name} | string | length }}}}" for name in KEPT)])
TASK_NAMES = "{{ tasks.tasks | map(attribute='name') }}"
LOOPS = [
    debug("{{ item }}", loop=TASK_NAMES, when="item is string and item != tasks.msg | default('')"),
    debug("{{ item.name }}", loop="{{ clusters.clusters }}", loop_control={"label": "{{ item.zones[0].region }}"}),
    # Whoever writes this evaluates text; that it comes from the service is what Ansible has to know.
    debug("x", loop=TASK_NAMES, when="{{ item }}", ignore_errors=True),
    {"ansible.builtin.assert": {"that": "{{ item }}"}, "loop": TASK_NAMES, "ignore_errors": True},
]
FILTERED = "{{ [tasks, failures, server, action] | oceanbase.ocp.FILTER }}"
SHOWN = [
    debug(FILTERED.replace("FILTER", "task_table")),
    {
        "ansible.builtin.copy": {
            "content": FILTERED.replace("FILTER", "task_timeline"),
            "dest": "{{ folder }}/page.html",
        }
    },
]
REPORTED = [
    {
        "ansible.builtin.include_role": {"name": "oceanbase.ocp.wait_for_restart"},
        "vars": {
            "wait_for_restart_tasks": [*range(OTHER_TASK + 1, OTHER_TASK + 9)],
            "wait_for_restart_report": "{{ folder }}/waited.html",
        },
    },
]
ROLLING = [
    {
        "ansible.builtin.include_role": {"name": "oceanbase.ocp.rolling_restart"},
        "vars": {
            "rolling_restart_clusters": ["orders"],
            "rolling_restart_started_before": BEFORE["started_before"],
            "rolling_restart_gate_timeout": 2,
        },
    },
]


def apart(*tasks):
    """What goes on after a failure."""
    return {"block": list(tasks), "rescue": [debug("{{ ansible_failed_result }}")]}


FAILED = {"health", "refusal", "failures"}


@how_many
def test_no_registered_result_is_evaluated(ansible, canaries, service, tmp_path):
    (tmp_path / "used.j2").write_text(TEMPLATE)
    outcome = ansible.tasks(
        *calls(),
        *USES,
        *LOOPS,
        *SHOWN,
        apart(*REPORTED),
        apart(*ROLLING),
        vars={"folder": str(tmp_path)},
        module_defaults={"group/oceanbase.ocp.ocp": {"url": service, **BASIC}},
    )
    assert canaries.seen == []
    assert {name for name in CALLS if outcome.results[name].get("failed", "msg" in outcome.results[name])} == FAILED
    assert_harmless(outcome.output)
    for page in ("page", "waited"):
        assert_harmless((tmp_path / f"{page}.html").read_text(), html=True)


class Tags(HTMLParser):
    """The elements of a page, and all of their attributes."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.attributes = set(), set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes.update(name for name, _value in attrs)


def assert_harmless(text, html=False):
    """Nothing in it steers a terminal; as a page, it neither runs nor loads anything."""
    assert not set(text) & set("\x1b\x07\x9b\u202e\u2028")
    if html:
        assert "canaries/task-name-" in text
        tags = Tags(text)
        assert not tags.elements & {"script", "img", "iframe", "object", "embed", "base", "form"}
        assert not {name for name in tags.attributes if name.startswith("on")} | tags.attributes & {"src"}


# Events, and what the rulebook hands over


def events_of(url, newest, until):
    """The events of all tasks, up to the end of the task with the id ``until``."""
    options = {"url": url, "interval": 0.5, "newer_than": newest, **BASIC}

    async def follow():
        queue = asyncio.Queue()
        source = asyncio.create_task(runpy.run_path(str(SOURCE))["main"](queue, options))
        heard = []
        while not heard or (heard[-1]["change"], heard[-1]["task"]["id"]) != ("finished", until):
            heard.append(await asyncio.wait_for(queue.get(), 60))
        source.cancel()
        with suppress(asyncio.CancelledError):
            await source
        return heard

    return asyncio.run(follow())


@how_many
def test_no_event_is_evaluated(ansible, canaries, service, tmp_path, count):
    events = events_of(service, OTHER_TASK, OTHER_TASK + count)
    # A rulebook shows an event, or hands it to a playbook as a whole, as JSON.
    (tmp_path / "events.json").write_text(json.dumps(events))
    assert {type(event["task"]["id"]) for event in events} == {int}
    [rule] = yaml.safe_load(RULEBOOK.read_text())[0]["rules"]
    assert rule["condition"] == 'event.change == "finished" and event.task.succeeded == false'
    [value] = rule["action"]["run_playbook"]["extra_vars"].values()
    finished = [event for event in events if event["change"] == "finished" and not event["task"]["succeeded"]]
    handed = [NativeEnvironment().from_string(value).render(event=event) for event in finished]
    assert handed == [OTHER_TASK + number for number in range(1, count + 1)]
    ansible.environment = {
        "OCP_URL": service,
        "OCP_REPORTS": str(tmp_path),
        **{f"OCP_{name.upper()}": value for name, value in BASIC.items()},
    }
    # As ansible-rulebook does: what is in this file is trusted.
    reported = next(event["task"]["id"] for event in finished if "<script>" in event["task"]["name"])
    (tmp_path / "extra_vars.json").write_text(json.dumps({"task_report_id": reported}))
    outcome = ansible.playbook("oceanbase.ocp.task_report", arguments=f"-e @{tmp_path / 'extra_vars.json'}")
    assert outcome.rc == 0, outcome.output
    assert canaries.seen == []
    assert_harmless(outcome.output)
    assert_harmless((tmp_path / f"task-{reported}.html").read_text(), html=True)


@pytest.mark.smoke
def test_rulebook_hands_over_no_string(canaries):
    [rule] = yaml.safe_load(RULEBOOK.read_text())[0]["rules"]
    [value] = rule["action"]["run_playbook"]["extra_vars"].values()
    template = NativeEnvironment().from_string(value)
    for number in range(ALL):
        for string in (canaries.string("id", number), canaries.in_container("id", number)):
            assert template.render(event={"task": {"id": string}}) == 0
    assert canaries.seen == []
