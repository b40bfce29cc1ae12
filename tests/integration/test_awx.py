# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Jobs as AWX runs them: by ansible-runner, with the credential type of the page on AWX, cut into slices."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.connection_options import (
    CONNECTION_OPTIONS,
    JOURNAL_OPTION,
)
from credentials import ACCESS_KEY, BASIC
from documentation_blocks import blocks
from jinja2.sandbox import ImmutableSandboxedEnvironment
from mutual_tls import gate
from repository import REPOSITORY

INPUTS, INJECTORS, SCHEDULED = blocks("docs/awx.md", "yaml")
OF_CREDENTIAL = {**CONNECTION_OPTIONS, **JOURNAL_OPTION}
EXAMPLE = REPOSITORY / "examples/awx_survey"
PLAYBOOK, INVENTORY = ((EXAMPLE / name).read_text() for name in ("playbook.yml", "inventory.yml"))
DEFINITION = REPOSITORY / "extensions/ee/execution-environment.yml"
FLEET = yaml.safe_load(INVENTORY)["all"]["hosts"]
SERVERS = {server: 1 for cluster in FLEET.values() for server in cluster["ocp_servers"]}


# Execution environment


@pytest.fixture
def clone(executables, tmp_path):
    """A folder as a clone is after ``make build``, as far as the page needs it."""
    built = tmp_path / ".build"
    subprocess.run([REPOSITORY / "tools/copy-collection", built / "copy"], cwd=REPOSITORY, check=True)
    subprocess.run(
        [executables / "ansible-galaxy", "collection", "build", "--output-path", built / "dist"],
        cwd=built / "copy/ansible_collections/oceanbase/ocp",
        check=True,
        capture_output=True,
    )
    (tmp_path / "extensions/ee").mkdir(parents=True)
    shutil.copy(DEFINITION, tmp_path / "extensions/ee")
    return tmp_path


@pytest.mark.nightly
def test_image_installs_the_collection_only_from_its_tarball(clone, executables):
    """The commands of the page, up to the context: what comes then needs a registry."""
    [commands] = [block for block in blocks("docs/awx.md", "console") if "ansible-builder" in block]
    make, *lines, build, push = [line.removeprefix("$ ") for line in commands.splitlines()]
    assert (make, push.split()[:2]) == ("make build", ["podman", "push"])
    image = build.removeprefix("ansible-builder build --tag ")
    assert push.endswith(f" {image}")
    # It has no file name of its own where docker is installed.
    create = "ansible-builder create --output-filename Containerfile"
    environment = {"PATH": f"{executables}:/usr/bin:/bin", "HOME": str(clone)}
    script = "\n".join(["set -eu", *lines, create])
    done = subprocess.run(
        ["bash", "-c", script], cwd=clone, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    context = clone / ".build/ee/context"
    assert "python3.12" in (context / "Containerfile").read_text()
    # As its Containerfile does in the image, but with no server that could be asked.
    install = ["ansible-galaxy", "collection", "install", "--force", "-r", "requirements.yml", "-p", clone / "image"]
    offline = {**environment, "ANSIBLE_GALAXY_SERVER": "http://127.0.0.1:1"}
    done = subprocess.run(
        [executables / install[0], *install[1:]],
        cwd=context / "_build",
        env=offline,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    installed = clone / "image/ansible_collections/oceanbase/ocp"
    assert (installed / "plugins/modules/server_restart.py").exists()


def test_ansible_builder_finds_the_collection_requirements(executables, tmp_path):
    installed = tmp_path / "ansible_collections/oceanbase/ocp"
    for file in ("galaxy.yml", "meta/execution-environment.yml", "requirements.txt"):
        (installed / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / file, installed / file)
    command = [executables / "ansible-builder", "introspect", tmp_path]
    found = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    own = (REPOSITORY / "requirements.txt").read_text()
    [requests] = [line for line in own.splitlines() if line.startswith("requests")]
    assert f"{requests}  # from collection oceanbase.ocp" in found


def test_image_has_the_tested_package_versions():
    groups = (REPOSITORY / "pyproject.toml").read_text()
    definition = yaml.safe_load(DEFINITION.read_text())["dependencies"]
    for package in ("ansible_core", "ansible_runner"):
        assert f'"{definition[package]["package_pip"]}"' in groups


# Credential type


def environment(folder, **credential):
    """The variables that AWX makes of a credential: what is empty is not there for the templates."""
    injectors = yaml.safe_load(INJECTORS)
    renderer = ImmutableSandboxedEnvironment()
    given = {field: value for field, value in credential.items() if value != ""}
    files = {name.removeprefix("template."): text for name, text in injectors["file"].items()}
    for name, text in files.items():
        (folder / f"{name}.pem").write_text(renderer.from_string(text).render(**given))
    given["tower"] = {"filename": {name: str(folder / f"{name}.pem") for name in files}}
    return {name: renderer.from_string(text).render(**given) for name, text in injectors["env"].items()}


def test_credential_type_sets_every_variable_the_modules_read():
    inputs, injectors = yaml.safe_load(INPUTS), yaml.safe_load(INJECTORS)
    read = {variable for option in OF_CREDENTIAL.values() for variable in option["fallback"][1]}
    # How long to wait for an answer, and which way to take, are not part of a credential.
    assert set(injectors["env"]) == read - {"OCP_TIMEOUT", "OCP_USE_PROXY"}
    fields = {field["id"]: field for field in inputs["fields"]}
    assert set(inputs["required"]) <= set(fields)
    # The option client_key is the path of what is secret here.
    secrets = {name for name, option in OF_CREDENTIAL.items() if option.get("no_log")} | {"client_key"}
    assert {name for name, field in fields.items() if field.get("secret")} == secrets
    unused = [name for name in fields if name not in INJECTORS]
    assert unused == []


@pytest.mark.parametrize(
    "credentials", [pytest.param(BASIC, id="password", marks=pytest.mark.nightly), pytest.param(ACCESS_KEY, id="key")]
)
@pytest.mark.parametrize("trust", ["certificates", pytest.param("any", marks=pytest.mark.nightly)])
def test_a_credential_connects(ansible, start_emulator, tls_options, ca_path, tmp_path, credentials, trust):
    emulator = start_emulator(*tls_options)
    certificates = Path(ca_path).read_text() if trust == "certificates" else ""
    ansible.environment = environment(
        tmp_path,
        url=emulator.url,
        ca_certificates=certificates,
        skip_certificate_check=trust == "any",
        **{"username": "", "password": "", **credentials},
    )
    assert ansible.module("task_info")["rc"] == 0


def test_a_credential_with_a_client_certificate_connects(ansible, emulator, authority, ca_path, tmp_path):
    made = authority.issue_cert("ops@example.com")
    with gate(authority, emulator.url) as server:
        ansible.environment = environment(
            tmp_path,
            url=server.url,
            ca_certificates=Path(ca_path).read_text(),
            client_cert=made.cert_chain_pems[0].bytes().decode(),
            client_key=made.private_key_pem.bytes().decode(),
            **BASIC,
        )
        assert ansible.module("task_info")["rc"] == 0


def test_credential_verifies_certificates_by_default(ansible, start_emulator, tls_options, tmp_path):
    emulator = start_emulator(*tls_options)
    ansible.environment = environment(tmp_path, url=emulator.url, **BASIC)
    refused = ansible.module("task_info")
    assert refused["rc"] == 2
    assert "certificate" in refused["msg"]


# Jobs


@pytest.fixture
def job(ansible, tmp_path, executables):
    """Run a job as AWX does: a private data folder, and ansible-runner as a process of its own."""

    def run(name, playbook, inventory, variables, emulator, **settings):
        folder = tmp_path / name
        credential = tmp_path / f"{name}-credential"
        credential.mkdir()
        files = {
            "project/playbook.yml": playbook,
            "inventory/hosts.yml": inventory,
            "env/envvars": json.dumps(
                {**ansible.variables(), **environment(credential, url=emulator.url, **ACCESS_KEY)}
            ),
            "env/extravars": json.dumps(variables),
            "env/settings": json.dumps({"pexpect_timeout": 1, "suppress_env_files": True, **settings}),
        }
        for file, text in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        done = subprocess.run(
            [executables / "ansible-runner", "run", folder, "--playbook", "playbook.yml", "--ident", "1"],
            env={**os.environ, **ansible.variables()},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done, folder / "artifacts/1"

    return run


def events(artifacts):
    files = sorted((artifacts / "job_events").glob("[0-9]*-*.json"), key=lambda file: int(file.name.split("-")[0]))
    return [json.loads(file.read_text()) for file in files]


@pytest.fixture
def fleet(start_emulator):
    return start_emulator("--step-seconds", "0.05")


@pytest.fixture
def instant():
    return {"started_before": datetime.now(UTC).isoformat()}


def test_job_events_and_artifacts_contain_no_secret(job, fleet, instant):
    done, artifacts = job("job", PLAYBOOK, INVENTORY, instant, fleet)
    assert done.returncode == 0, done.stdout
    assert (artifacts / "status").read_text() == "successful"
    assert fleet.restarts("OB_SERVER") == SERVERS
    seen = events(artifacts)
    results = [event["event_data"]["res"] for event in seen if event["event"] == "runner_item_on_ok"]
    assert sorted(result["target"]["name"] for result in results) == sorted(SERVERS)
    # Lines of progress are events too, so AWX shows them while the job runs.
    texts = [event["stdout"] for event in seen if event["event"] == "verbose"]
    assert sum(" (Restart OB server 10." in text and ") SUCCESSFUL" in text for text in texts) == len(SERVERS)
    # In "command" ansible-runner itself notes the environment; AWX hides there what is secret.
    for file in artifacts.rglob("*"):
        if file.is_file() and file.name != "command":
            assert ACCESS_KEY["access_key_secret"] not in file.read_text(), file


@pytest.mark.nightly
def test_job_stops_at_the_first_failed_node_and_a_relaunch_continues_when_it_is_mended(job, fleet, instant):
    # After the process has started, so its start time says nothing against it.
    fleet.fail_subtask("Wait observer active")
    only = yaml.safe_dump({"all": {"hosts": {"orders": FLEET["orders"]}}})
    done, _artifacts = job("first", PLAYBOOK, only, instant, fleet)
    assert done.returncode != 0
    assert len(fleet.requests("POST")) == 1, done.stdout
    too_early, _artifacts = job("too early", PLAYBOOK, only, instant, fleet)
    assert too_early.returncode != 0
    assert len(fleet.requests("POST")) == 1, too_early.stdout
    # A person mends it; the job is launched again as it was.
    fleet.post("/api/v2/tasks/instances/1001/retry")
    again, _artifacts = job("again", PLAYBOOK, only, instant, fleet)
    assert again.returncode == 0, again.stdout
    assert fleet.restarts("OB_SERVER") == dict.fromkeys(FLEET["orders"]["ocp_servers"], 1)


@pytest.mark.nightly
def test_three_job_slices_restart_each_target_once(job, fleet, instant):
    hosts = {f"node{number}": {"server": server} for number, server in enumerate(FLEET["orders"]["ocp_servers"])}
    play = {
        "hosts": "all",
        "connection": "local",
        "gather_facts": False,
        "tasks": [
            {
                "oceanbase.ocp.server_restart": {
                    "cluster": "orders",
                    "server": "{{ server }}",
                    "freeze_server": True,
                    "started_before": "{{ started_before }}",
                    "safety": "none",
                    "wait": True,
                }
            }
        ],
    }
    slices = [[*hosts][number::3] for number in range(3)]
    assert_restarted_once(job, fleet, instant, yaml.safe_dump([play]), [
        yaml.safe_dump({"all": {"hosts": {host: hosts[host] for host in part}}}) for part in slices
    ])  # fmt: skip


@pytest.mark.nightly
def test_three_jobs_over_the_same_targets_restart_each_once(job, fleet, instant):
    assert_restarted_once(job, fleet, instant, PLAYBOOK, [INVENTORY] * 3)


def assert_restarted_once(job, fleet, instant, playbook, inventories):
    with ThreadPoolExecutor(len(inventories)) as controllers:
        jobs = [
            controllers.submit(job, f"slice{number}", playbook, inventory, instant, fleet)
            for number, inventory in enumerate(inventories)
        ]
    for done, _artifacts in (running.result() for running in jobs):
        assert done.returncode == 0, done.stdout
    restarts = fleet.restarts("OB_SERVER")
    assert set(restarts.values()) == {1}
    assert set(restarts) >= set(FLEET["orders"]["ocp_servers"])
    tasks = fleet.get("/api/v2/tasks/instances?size=2000")["contents"]
    assert len(tasks) == len(restarts)


WAIT = """
- hosts: localhost
  gather_facts: false
  tasks:
    - oceanbase.ocp.arbitration_service_restart:
        arbitration_service: 10.0.0.10:2888
        wait: true
        show_progress: "{{ shown }}"
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("shown", "status"), [(True, "successful"), pytest.param(False, "timeout", marks=pytest.mark.nightly)]
)
def test_progress_prevents_the_idle_timeout_of_a_job(job, start_emulator, shown, status):
    emulator = start_emulator("--step-seconds", "2.4")  # five of them
    done, artifacts = job("job", WAIT, "all: {}", {"shown": shown}, emulator, idle_timeout=7)
    assert (artifacts / "status").read_text() == status, done.stdout


def test_the_scheduled_playbook_restarts_once_a_month(ansible, fleet):
    ansible.environment = {"OCP_URL": fleet.url, "OCP_USERNAME": "admin", "OCP_PASSWORD": "ocp-demo-1"}
    first, again = (ansible.playbook(yaml.safe_load(SCHEDULED)) for _run in range(2))
    assert (first.rc, again.rc) == (0, 0), first.output + again.output
    assert again.result["changed"] is False
