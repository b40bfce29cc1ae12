# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A masked recording: nothing of an original survives in any form, the same stays the same, the harmless stays."""

from __future__ import annotations

import base64
import json
from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import pairwise
from urllib.parse import quote

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.censor import Censor
from ansible_collections.oceanbase.ocp.plugins.module_utils._masking.documented_words import is_documented
from ansible_collections.oceanbase.ocp.plugins.module_utils._masking.mask_answers import masked
from hypothesis import example, given
from hypothesis import strategies as st

TIME = "2026-11-21T12:00:00.123+08:00"

# Letters that no documented word has side by side.
NAMES = st.text("qzjkvQZJK\u00e9\u6f22789 -_.", min_size=5, max_size=20).filter(
    lambda text: text == text.strip(" .") and sum(letter in "qzjkvQZJK" for letter in text) >= 4
)
ADDRESSES = st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6))
IDS = st.integers(1, 10**15)
UNTOUCHED = Censor().clean


def mask(*answers, secrets=()):
    return masked(answers, Censor(secrets).clean)


def dumped(value):
    return json.dumps(value, ensure_ascii=False)


def forms(name):
    """A text as it is, and as others write it."""
    encoded = name.encode()
    yield from (name, name.upper(), name.lower(), quote(name), quote(name, safe=""), json.dumps(name)[1:-1])
    # Of a text that begins anywhere in another, what does not depend on its neighbours.
    yield from (base64.b64encode(b"x" * shift + encoded)[4:-4].decode() for shift in range(3) if len(encoded) > 8)
    yield base64.b64encode(encoded).decode()


def places(name):
    """A text wherever a service may show one."""
    encoded = base64.b64encode(name.encode()).decode()
    return {
        "name": name,
        "clusterName": name,
        "description": f"Restart server {name}: {name}_old, pre{name}post",
        "message": f"Stop {name}:2882 at https://user:pass@{name}/path?x={quote(name)} ({encoded})",
        "locality": f"FULL{{1}}@{name}, READONLY{{1}}@other",
        "log": f"[{TIME}] cluster={name!r}\npassword: {name}",
        "password": name,
        "status": name,
        "version": f"4.2.2-{name}",
        "obVersion": name,
        "unknownField": [name, {name: [f"{name}:1"]}],
        "currentValue": {"valueToServers": {name: ["a"]}},
        "url": quote(name),
        "serial": encoded,
        "subtasks": [{"name": f"Restart {name}", "operation": "EXECUTE"}],
    }


@given(NAMES)
@example("qz jk vq")
@example("qzjkv.jkqz.example")
@example("kjqz-7")
@example("QZJKV")
def test_no_form_of_a_name_survives(name):
    text = dumped(mask(places(name), {"data": {"contents": [places(name)]}}))
    # What the service itself writes around it.
    assert [form for form in forms(name) if form in text] == []


@given(st.lists(NAMES, min_size=2, max_size=5, unique=True))
def test_the_same_name_has_the_same_replacement_everywhere(names):
    found = mask(
        [{"name": name, "id": 1} for name in names],
        [{"clusterName": name, "message": f"Restart cluster {name}, please"} for name in names],
    )
    shown = [each["name"] for each in found[0]]
    assert len(set(shown)) == len(names)
    assert [each["clusterName"] for each in found[1]] == shown
    assert all(f"cluster {new}, " in each["message"] for new, each in zip(shown, found[1], strict=True))


@given(st.lists(IDS, min_size=2, unique=True))
@example([1001, 5, 1002])
def test_ids_stay_numbers_in_their_order(ids):
    [contents, text] = mask(
        [{"id": number, "hostId": str(number), "operatingTaskInstanceId": number} for number in ids],
        {"message": " ".join(f"task {number}." for number in ids)},
    )
    shown = [each["id"] for each in contents]
    assert all(isinstance(number, int) for number in shown)
    assert [new for _old, new in sorted(zip(ids, shown, strict=True))] == sorted(set(shown))
    assert not {*ids} & {*shown}
    assert [int(each["hostId"]) for each in contents] == shown
    assert text["message"] == " ".join(f"task {number}." for number in shown)


@given(st.lists(ADDRESSES, min_size=1, unique=True))
@example([IPv4Address("198.18.0.2"), IPv4Address("10.0.0.1"), IPv6Address("2001:db8::1")])
def test_addresses_are_replaced_in_their_order(addresses):
    [contents, text] = mask(
        [
            {"ip": str(address), "target": f"{address}" if address.version == 6 else f"{address}:2882"}
            for address in addresses
        ],
        {"message": " and ".join(f"[{address.exploded}]" for address in addresses)},
    )
    shown = [ip_address(each["ip"]) for each in contents]
    for family in (IPv4Address, IPv6Address):
        own = sorted((old, new) for old, new in zip(addresses, shown, strict=True) if isinstance(old, family))
        assert all(isinstance(new, family) and new != old for old, new in own)
        assert all(first[1] < second[1] for first, second in pairwise(own))
    assert not {*addresses} & {*shown}
    assert text["message"] == " and ".join(f"[{address}]" for address in shown)
    assert [each["target"].removesuffix(":2882") for each in contents] == [str(address) for address in shown]


@given(st.text(min_size=6, max_size=30).filter(lambda text: len(set(text)) > 3 and text.strip()))
@example("Start server")
@example("RUNNING")
def test_no_secret_survives_whatever_it_is_made_of(secret):
    places = {"message": f"login with {secret} failed", "summary": secret, "log": f"x{secret}y", "values": [secret]}
    shown = mask(places, secrets=[secret])[0]
    kept = " ".join(str(value) for value in shown.values())
    # The words of the test itself are no secret.
    assert secret not in kept or secret in "login with failed ********"


HARMLESS = {
    "status": "RUNNING",
    "innerStatus": "ACTIVE",
    "replicaType": "FULL",
    "operation": "execute",
    "architecture": "x86_64",
    "hostAgentStatus": "SOME_NEW_STATUS",
    "version": "4.2.1.8",
    "buildVersion": "4.2.2-20250319-SNAPSHOT",
    "startTime": TIME,
    "gmtCreate": "2020-12-03T01:44:04.048708Z",
    "port": 2882,
    "sqlPort": 2881,
    "sql_port": 2881,
    "pid": 4711,
    "elapsedTime": 2601817,
    "serverCount": 6,
    "withRootserver": True,
    "finishTime": None,
    "parallelIdx": -1,
    "alias": "ocp_monagent",
    "alarmType": "observer_process_stop",
    "page": {"number": 1, "size": 2000, "totalElements": 30, "totalPages": 1},
    "error": {"code": 10002, "message": "Cluster does not exist."},
    "clusterId": 0,
    "tenantName": "sys",
}


def test_what_is_harmless_stays():
    assert mask(HARMLESS) == [HARMLESS]


@pytest.mark.parametrize(
    "name",
    [
        "Restart OB server",
        "Batch restart OCP agent",
        "Restart arbitration service",
        "Start observer process",
        "Wait node",
    ],
)
def test_documented_task_names_stay(name):
    task = {"id": 7, "operation": "EXECUTE", "name": name, "description": name}
    assert mask(task) == [{**task, "id": 1001}]


@pytest.mark.parametrize("name", ["server", "Restart OB server", "RUNNING", "sql", "test-zone"])
def test_a_name_of_documented_words_is_still_a_name(name):
    [shown] = mask({"clusters": [{"name": name, "message": f"Stop {name} now"}]})
    [cluster] = shown["clusters"]
    assert cluster["name"].startswith(("cluster_x", "x"))
    assert cluster["name"] != name
    assert f" {cluster['name']} " in cluster["message"]
    assert name not in cluster["message"]


@pytest.mark.parametrize("name", ["zone_x", "x1", "cluster_x1", "zone_x1", "x", "CLUSTER_X"])
def test_no_replacement_holds_an_original(name):
    [shown] = mask({"clusters": [{"name": name}, {"name": "other"}], "zones": [{"name": "third"}]})
    names = [each["name"] for each in (*shown["clusters"], *shown["zones"])]
    assert len(set(names)) == 3
    assert not any(name in new for new in names)


def test_a_recording_can_be_masked_again():
    names = [{"name": f"{kind}_x{number}"} for kind in ("cluster", "name", "zone") for number in range(1, 100)]
    [once] = mask({"clusters": names})
    [twice] = mask(once)
    assert len({each["name"] for each in twice["clusters"]}) == len(names)
    assert not {each["name"] for each in once["clusters"]} & {each["name"] for each in twice["clusters"]}


def test_locality_and_addresses_keep_their_grammar():
    [shown] = mask(
        {
            "zones": [{"name": "zone1"}, {"name": "zone2"}],
            "locality": "FULL{1}@zone1, READONLY{2}@zone2",
            "primaryZone": "zone1,zone2",
            "message": "10.0.0.1:2882, [fd00::1]:2882 and orders:101 at 10:20:30.123",
            "rootServers": [{"address": "10.0.0.1:2882"}],
        }
    )
    first, second = (each["name"] for each in shown["zones"])
    assert shown["locality"] == f"FULL{{1}}@{first}, READONLY{{2}}@{second}"
    assert shown["primaryZone"] == f"{first},{second}"
    assert shown["message"].startswith("198.18.0.1:2882, [2001:db8::1]:2882 and ")
    assert shown["message"].endswith(" at 10:20:30.123")
    assert shown["rootServers"] == [{"address": "198.18.0.1:2882"}]


@pytest.mark.parametrize("key", ["password", "accessKeySecret", "sshPasswd", "apiToken", "Authorization", "privateKey"])
@pytest.mark.parametrize("value", ["ready", 12345, ["server"], {"value": "server"}])
def test_the_value_of_a_secret_key_is_gone(key, value):
    [shown] = mask({key: value, "other": None})
    assert "********" in dumped(shown)
    assert not any(word in dumped(list(shown.values())) for word in ("ready", "12345", "server"))


@pytest.mark.parametrize("text", ["password=start server", "token: wait node", "Authorization: Basic start"])
def test_what_a_text_calls_a_secret_is_gone(text):
    [shown] = mask({"log": f"Wait node\n{text}\nStart server"})
    assert shown["log"].splitlines()[1].endswith("********")
    assert (shown["log"].splitlines()[0], shown["log"].splitlines()[2]) == ("Wait node", "Start server")


def test_unknown_keys_stay_if_their_words_are_documented():
    [shown] = mask({"serverRestartTime": 5, "acmeCorpField": 5})
    assert shown.pop("serverRestartTime") == 5
    assert [key for key in shown if "acme" in key.lower()] == []


@pytest.mark.parametrize(
    ("word", "known"),
    [("obServers", True), ("READONLY", True), ("ocp_agentd", True), ("orders", False), ("zone1", False), ("", False)],
)
def test_documented_words(word, known):
    assert is_documented(word) is known


def test_a_secret_of_documented_words_is_gone():
    [shown] = mask({"log": "Wait with: Start server, update"}, secrets=["Start server"])
    assert shown["log"] == "Wait with: ********, update"
