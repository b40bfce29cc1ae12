# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A service that repeats the credentials in all that it sends: nothing that Ansible shows or keeps has them."""

from __future__ import annotations

import asyncio
import base64
import html
import json
import os
import runpy
import subprocess
from contextlib import suppress
from urllib.parse import quote, quote_plus

import pytest
import yaml
from execution_path import ORDINARY
from hostile_ocp import OTHER_TASK, REFUSED, HostileOcp, serve
from raw_service import packed
from raw_service import serve as serve_raw
from repository import REPOSITORY

# Minutes in all.
pytestmark = pytest.mark.nightly


SOURCE = REPOSITORY / "extensions/eda/plugins/event_source/ocp_tasks.py"
CREDENTIALS = {
    "password": {"username": "admin", "password": 'Zk7Qh2/Wv"9 \xf6+<&>Jw5Rg1'},
    "access key": {"access_key_id": "key-1", "access_key_secret": 'Bn4Yd8/Mc"3 \xe9+<&>Hs6Uf0'},
}
# Where texts are cut: labels, reasons, values of tasks, texts of records. So many characters of a form are left.
CUTS, LEFT = (200, 500, 1000, 10_000), 12
LONGEST_LOG = 64 * 1024


class Echo:
    """The forms of one credential; what the service says with them, and what must not be seen."""

    def __init__(self, credentials):
        name, secret = credentials.values()
        login = base64.b64encode(f"{name}:{secret}".encode()).decode()
        own = base64.b64encode(secret.encode()).decode()
        self.forms = {
            "raw": secret,
            "Authorization": f"Basic {login}",
            "base64 of the login": login.rstrip("="),
            "base64": own,
            "base64 for URLs": base64.urlsafe_b64encode(secret.encode()).decode(),
            "URL": quote(secret, safe=""),
            "form": quote_plus(secret),
            "URL, twice": quote(quote(secret, safe=""), safe=""),
            "base64 in a URL": quote(login, safe=""),
            "JSON": json.dumps(secret)[1:-1],
            "HTML": html.escape(secret),
        }
        if "password" not in credentials:
            # A secret that is not sent has no login.
            self.forms = {form: text for form, text in self.forms.items() if "login" not in form and login not in text}
            del self.forms["base64 in a URL"]
        assert len(self.forms) >= 8
        self.every = " ".join(self.forms.values())
        self._cut = [
            "x" * (length - LEFT) + form.removeprefix("Basic ") for length in CUTS for form in self.forms.values()
        ]
        # The first six characters are alike in most forms, and so are the last six.
        self._unseen = {secret[:6], secret[-6:], own[:LEFT], own[-LEFT:], *self.forms.values()}
        if "password" in credentials:
            self._unseen |= {login[:LEFT], login[-LEFT:]}
        self.log = "\n".join([self.every, secret + "x" * (LONGEST_LOG - 3 - len(secret[-LEFT:].encode()))])

    @property
    def number(self):
        return len(self._cut)

    def say(self, where, number):
        """All forms, or one of them at a place where texts are cut."""
        if where == "log":
            return self.log
        return self._cut[number - 1] if 0 < number <= len(self._cut) else self.every

    def seen(self, text):
        """What is there of the credential, and how often."""
        return {piece: text.count(piece) for piece in self._unseen if piece in text}


paths = pytest.mark.parametrize("path", ["in-process", pytest.param("ordinary", marks=pytest.mark.nightly)])


@pytest.fixture(params=["password", pytest.param("access key", marks=pytest.mark.nightly)])
def credentials(request):
    return CREDENTIALS[request.param]


@pytest.fixture
def echo(credentials):
    return Echo(credentials)


@pytest.fixture
def vault(credentials, tmp_path):
    """A file of variables with the credentials: where a task fails, Ansible quotes the lines of a play."""
    path = tmp_path / "vault.yml"
    path.write_text(yaml.safe_dump({f"ocp_{name}": value for name, value in credentials.items()}))
    return path


def from_vault(credentials):
    return {name: f"{{{{ ocp_{name} }}}}" for name in credentials}


@pytest.fixture
def kept(tmp_path):
    """All that ansible-runner has kept, as one text."""

    def read():
        files = [path for path in tmp_path.rglob("artifacts/**/*") if path.is_file()]
        assert {"stdout", "command"} <= {path.name for path in files}
        return "\n".join(path.read_text() for path in files)

    return read


WAIT = {"wait_timeout": 5, "wait_interval": 0.5}
SERVER = {"cluster": "orders", "server": "10.9.0.2:2882", "freeze_server": False}
FLEET_SERVER = {"cluster": "orders", "server": "10.9.0.2:2882"}
BEFORE = {"started_before": "2026-05-05T00:00:00+00:00"}
RESTART = {"wait": True, **WAIT}
CALLS = {
    "clusters": ("cluster_info", {}),
    "servers": ("server_info", {}),
    "hosts": ("host_info", {}),
    "services": ("arbitration_service_info", {}),
    "obproxies": ("obproxy_info", {}),
    "parameters": ("cluster_parameter_info", {"cluster": "orders"}),
    "setting": ("cluster_parameter", {"cluster": "orders", "parameters": {"stack_size": "5M"}, "settle_time": 1}),
    "check": ("ocp_info", {}),
    "tasks": ("task_info", {"limit": 100}),
    "plan": ("cluster_rolling_restart_info", {"clusters": ["orders"], **BEFORE}),
    "fleet": ("fleet_restart_info", {"servers": [FLEET_SERVER], **BEFORE}),
    "health": ("cluster_wait", {"cluster": "orders", "min_zones": 9, **WAIT, "wait_timeout": 1}),
    "refusal": ("task_wait", {"task_ids": [REFUSED], "wait_timeout": 1}),
    "failures": ("task_wait", {"task_ids": [*range(OTHER_TASK + 1, OTHER_TASK + 4)], **WAIT}),
    "details": ("task_wait", {"task_ids": [*range(OTHER_TASK + 1, OTHER_TASK + 4)], **WAIT, "detail": "full"}),
    "action": ("task", {"task_id": OTHER_TASK + 1, "state": "retried"}),
    "server": ("server_restart", {**SERVER, **RESTART}),
    "zone": ("zone_restart", {"cluster": "orders", "zone": "nowhere", **RESTART}),
    "cluster": ("cluster_restart", {"cluster": "orders", **RESTART}),
    "agents": ("agent_restart", {"hosts": "10.9.0.1", **RESTART}),
    "service": ("arbitration_service_restart", {"arbitration_service": "10.9.0.9:2888", **RESTART}),
    "obproxy": ("obproxy_restart", {"obproxy_cluster": "9041", "obproxies": ["9042"], **RESTART}),
}
FAILED = {"health", "refusal", "failures", "details", "zone"}
FILTERED = "{{ [tasks, failures, details, server] | oceanbase.ocp.FILTER }}"


def called(name, **keywords):
    module, options = CALLS[name]
    return {
        "name": name,
        f"oceanbase.ocp.{module}": options,
        "register": name,
        "diff": True,
        "ignore_errors": True,
        **keywords,
    }


@paths
def test_no_module_shows_what_is_repeated(ansible, credentials, echo, vault, kept, tmp_path, path):
    page = {"content": FILTERED.replace("FILTER", "task_timeline"), "dest": str(tmp_path / "page.html")}
    headers = {"Server": quote(echo.every), "RateLimit-Remaining": quote(echo.every)}
    with serve(HostileOcp(echo.say, echo.number).answer, headers) as url:
        outcome = ansible.tasks(
            *(called(name, **(ORDINARY if path == "ordinary" else {})) for name in CALLS),
            {"ansible.builtin.debug": {"msg": FILTERED.replace("FILTER", "task_table")}},
            {"ansible.builtin.copy": page},
            arguments="-vvvv",
            vars_files=[str(vault)],
            module_defaults={"group/oceanbase.ocp.ocp": {"url": url, **from_vault(credentials)}},
        )
    results = {name: outcome.results[name] for name in CALLS}
    assert {name for name, result in results.items() if result.get("failed", "msg" in result)} == FAILED
    shown = [outcome.output, json.dumps(results), json.dumps(results, ensure_ascii=False), kept()]
    shown.append((tmp_path / "page.html").read_text())
    assert [echo.seen(text) for text in shown] == [{}] * len(shown)
    # What has been removed was there.
    assert shown[1].count("********") > 1000
    assert "x" * (LONGEST_LOG // 2) in shown[1]


def answers(echo):
    """Answers that are refused in other ways, each with the credentials in it."""
    place = f"https://{echo.forms['URL']}@x/{quote(echo.every)}"
    for status in (302, 400, 401, 403, 404, 409, 429, 500):
        page = f"<html><title>{echo.every}</title>{html.escape(echo.every)}</html>"
        yield packed(page.encode(), f"Location: {place}", status=status)
        envelope = {"successful": False, "status": status, "traceId": echo.every}
        error = {"code": echo.every, "message": echo.every, "target": echo.every}
        yield packed(json.dumps({**envelope, "error": error}).encode(), status=status)
    for name in ("Content-Type", "Content-Encoding", "Transfer-Encoding"):
        yield packed(b"no JSON", f"{name}: {echo.every}")
    # In place of a version, of a status, of a header, of the size of a chunk.
    yield f"{echo.every} 200 OK\r\nContent-Length: 0\r\n\r\n".encode()
    yield f"HTTP/1.1 {echo.every}\r\nContent-Length: 0\r\n\r\n".encode()
    yield f"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{echo.every}\r\n\r\n".encode()
    yield f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{echo.every}\r\n".encode()


@paths
def test_no_refusal_shows_what_is_repeated(ansible, credentials, echo, vault, kept, path):
    replies = [*answers(echo)]
    with serve_raw(lambda target: [replies[int(target.split("/")[1])]]) as service:
        outcome = ansible.tasks(
            {
                "name": "refused",
                "oceanbase.ocp.task_info": {"url": f"http://{service}/{{{{ item }}}}", "task_id": 1, "timeout": 1},
                "loop": [*range(len(replies))],
                "ignore_errors": True,
                **(ORDINARY if path == "ordinary" else {}),
            },
            arguments="-vvvv",
            vars_files=[str(vault)],
            module_defaults={"group/oceanbase.ocp.ocp": from_vault(credentials)},
        )
    results = outcome.result["results"]
    assert [result for result in results if "crashed" in result.get("msg", "")] == []
    shown = [outcome.output, json.dumps(results), json.dumps(results, ensure_ascii=False), kept()]
    assert [echo.seen(text) for text in shown] == [{}] * len(shown)


def test_no_event_or_its_log_shows_what_is_repeated(credentials, echo, caplog):
    async def follow(url):
        queue = asyncio.Queue()
        options = {"url": url, "interval": 0.5, "newer_than": OTHER_TASK, **credentials}
        source = asyncio.create_task(runpy.run_path(str(SOURCE))["main"](queue, options))
        heard = []
        while not heard or (heard[-1]["change"], heard[-1]["task"]["id"]) != ("finished", OTHER_TASK + echo.number):
            heard.append(await asyncio.wait_for(queue.get(), 60))
        broken.append(True)
        with suppress(asyncio.TimeoutError):
            while True:
                await asyncio.wait_for(asyncio.shield(source), 1)
        source.cancel()
        with suppress(asyncio.CancelledError):
            await source
        return heard

    broken = []
    ocp = HostileOcp(echo.say, echo.number)
    with serve(lambda method, target: ocp.answer(method, "/nothing" if broken else target)) as url:
        events = asyncio.run(follow(url))
    assert len(events) >= 2 * echo.number
    assert "Polling the tasks failed" in caplog.text
    for text in (json.dumps(events), json.dumps(events, ensure_ascii=False), caplog.text):
        assert echo.seen(text) == {}


def test_no_inventory_shows_what_is_repeated(ansible, credentials, echo, commands, tmp_path):
    good, bad = tmp_path / "good.ocp.yml", tmp_path / "bad.ocp.yml"
    with serve(HostileOcp(echo.say, echo.number).answer) as url:
        for path, address in ((good, url), (bad, f"{url}/nothing")):
            path.write_text(yaml.safe_dump({"plugin": "oceanbase.ocp.ocp", "url": address, **credentials}))
        command = [commands / "ansible-inventory", "-i", good, "-i", bad, "--list", "-vvvv"]
        done = subprocess.run(
            command, env={**os.environ, **ansible.variables()}, capture_output=True, text=True, check=True
        )
    assert f"10.1.0.{echo.number}_2882" in done.stdout
    assert "was refused with status 400" in " ".join(done.stderr.split())
    assert [echo.seen(text) for text in (done.stdout, done.stderr)] == [{}, {}]
