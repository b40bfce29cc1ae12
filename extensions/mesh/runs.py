# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What runs over the mesh, and what each run has to show: one worker, three, a job killed, a restart that fails."""

from __future__ import annotations

import json
import resource
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import service as emulator
from history import History, once_problems, slice_problems, stop_problems
from jobs import Job
from nodes import CONTROL, PROGRAMS, Mesh, MeshFailed
from slices import Slice, cut, cut_problems, write_folder
from traces import cpu_seconds, exposed, files_with

CLUSTERS, FORKS, SECONDS = 12, 4, 5.2
# In the second wave of three slices that restart one cluster after another.
FAILING = 5
# ansible-runner sends back everything in this folder, including the file with the outcomes.
RESULTS = "{{ lookup('ansible.builtin.env', 'AWX_ISOLATED_DATA_DIR') }}"
# Seconds for a run.
PATIENCE = 600


@dataclass(frozen=True)
class Cost:
    """What a run took: seconds, and seconds of processor of all workers and of the control node."""

    wall: float
    workers: float
    control: float


class Check:
    """What is promised: each is shown with yes or NO."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.failed = 0

    def __call__(self, promise: str, problems: Sequence[object]) -> None:
        """Show a promise; it is kept if there are no problems."""
        self.failed += bool(problems)
        self.say(f"  {promise}: {'NO' if problems else 'yes'}")
        for problem in problems[:10]:
            self.say(f"    {problem}")
        if len(problems) > 10:
            self.say(f"    and {len(problems) - 10} more")


@dataclass
class Run:
    """One run: its service, its slices, each with a folder on the control node, and their jobs."""

    mesh: Mesh
    check: Check
    name: str
    service: emulator.Service
    slices: list[Slice]
    folders: list[Path]
    hosts: dict[str, int]
    forks: int

    def start(self, number: int, worker: str, name: str = "job") -> Job:
        """Send a slice to a worker."""
        job = Job(self.mesh, worker, self.folders[number], name, self.forks)
        job.start()
        return job

    def start_all(self) -> list[Job]:
        """Send each slice to a worker of its own."""
        return [self.start(number, self.mesh.workers[number]) for number in range(len(self.slices))]

    def follow(self, jobs: Sequence[Job], until: Callable[[], bool] = lambda: False) -> None:
        """Wait until all jobs have ended, or earlier. Raises MeshFailed if that takes too long."""
        stop = time.monotonic() + PATIENCE
        while any(job.is_followed for job in jobs) and not until():
            if time.monotonic() > stop:
                raise MeshFailed(f"{self.name}: the jobs have not ended within {PATIENCE} s")
            if found := exposed(self.mesh.run, self.passwords):
                raise MeshFailed(f"{self.name}: a password is in the command line of {found[0]}")
            time.sleep(0.25)

    @property
    def passwords(self) -> list[str]:
        """Those of the slices and of the service's administrator."""
        return [self.service.password, *(part.password for part in self.slices)]

    @property
    def users(self) -> list[str]:
        """Those of the slices."""
        return [part.user for part in self.slices]

    def judge_slices(self, history: History) -> None:
        """Each cluster is in one slice, and only this slice has restarted its servers."""
        problems: list[object] = [*cut_problems((part.hosts for part in self.slices), self.hosts)]
        owned = {part.user: [self.hosts[host] for host in part.hosts] for part in self.slices}
        self.check("slices disjoint and complete", [*problems, *slice_problems(history, owned)])

    def judge_once(self, history: History) -> None:
        """Each server was restarted once."""
        servers = emulator.servers_of(CLUSTERS)
        problems = once_problems(history, servers)
        self.check(f"each of {len(servers)} servers restarted exactly once, by one POST", problems)

    def judge_workers(self) -> None:
        """Nothing is left on any node."""
        found = [path for worker in self.mesh.workers for path in files_with(self.mesh.folder / worker, self.passwords)]
        places = [path for worker in self.mesh.workers for path in (self.mesh.folder / worker / "jobs").iterdir()]
        units = [f"unit {unit} on {node}" for node in (CONTROL, *self.mesh.workers) for unit in self.mesh.units(node)]
        self.check("no password, no folder of a job and no unit of work left", [*found, *places, *units])
        shown = [path for folder in self.folders for path in files_with(folder, self.passwords)]
        self.check("no password in what came back", [path for path in shown if path.parent.name != "env"])


def plain(mesh: Mesh, check: Check, workers: int) -> Cost:
    """All clusters in as many slices as there are workers; what it took."""
    with _prepared(mesh, check, f"{workers} worker{'s' if workers > 1 else ''}", workers, FORKS) as run:
        before = _processor(mesh)
        began = time.monotonic()
        jobs = run.start_all()
        run.follow(jobs)
        wall = time.monotonic() - began
        for job in jobs:
            job.end()
        after = _processor(mesh)
        check("every job successful", [_ended(job) for job in jobs if job.status != "successful"])
        history = run.service.history()
        run.judge_slices(history)
        run.judge_once(history)
        run.judge_workers()
    return Cost(wall, after[0] - before[0], after[1] - before[1])


def killed(mesh: Mesh, check: Check) -> None:
    """A job is killed with restarts in flight, and another worker gets its slice."""
    lost, heir = 1, mesh.workers[2]
    with _prepared(mesh, check, "a job killed", len(mesh.workers), FORKS) as run:
        jobs = run.start_all()
        user = run.slices[lost].user

        def in_flight() -> bool:
            history = run.service.history()
            mine = [post for post in history.posts if post.user == user]
            return len(mine) > FORKS and len(history.in_flight(_instant(run.service.now()), [user])) >= 2

        run.follow(jobs, until=in_flight)
        job = jobs[lost]
        count = job.kill()
        at = _instant(run.service.now())
        run.follow([job])
        state = mesh.await_unit(job.unit)
        job.end()
        left = files_with(job.place, run.passwords)
        check(
            f"{count} processes of the job on {job.worker} killed by kill -9, its unit {state['StateName']}",
            [] if count and state["StateName"] == "Failed" and not job.status else [f"{state}, status {job.status!r}"],
        )
        check("the killed job left its folder with the password", [] if left else ["it did not: nothing was shown"])
        job.clean_up()
        again = run.start(lost, heir, "again")
        jobs[lost] = again
        run.follow(jobs)
        for ended in jobs:
            ended.end()
        check(
            f"its slice given to {heir}; every job successful",
            [_ended(job) for job in jobs if job.status != "successful"],
        )
        history = run.service.history()
        flying = history.in_flight(at, [user])
        check(f"{len(flying)} of its restarts were in flight", [] if flying else ["none was"])
        run.judge_slices(history)
        run.judge_once(history)
        run.judge_workers()


def stopped(mesh: Mesh, check: Check) -> None:
    """A restart fails, and all slices stop."""
    # One cluster after another in each slice: so the last look of a user is that of its request.
    with _prepared(mesh, check, "a restart fails", len(mesh.workers), 1) as run:
        run.service.fail(FAILING)
        jobs = run.start_all()
        run.follow(jobs)
        for job in jobs:
            job.end()
        for job in jobs:
            check.say(f"  {_ended(job)}")
        check("every job failed", [_ended(job) for job in jobs if job.status != "failed"])
        history = run.service.history()
        servers = len(emulator.servers_of(CLUSTERS))
        check.say(f"  {len(history.posts)} of {servers} servers begun")
        check("no restart began after a look that could see the failure", stop_problems(history, run.users, servers))
        run.judge_workers()


def unsigned(mesh: Mesh, check: Check) -> None:
    """Unsigned work is refused, and leaves nothing on any node."""
    check.say("work without a signature")
    try:
        problem, refusal = [f"unit {mesh.submit(mesh.workers[0], '--version', sign=False)} was accepted"], ""
    except MeshFailed as error:
        refusal = str(error).rpartition("ERROR: ")[2]
        problem = [] if "signature" in refusal else [str(error)]
    check(f"refused ({refusal})", problem)
    # The control node keeps what it could not send.
    for kept in mesh.units(CONTROL):
        mesh.release(kept)
    left = {node: mesh.units(node) for node in (CONTROL, *mesh.workers)}
    check("no unit of work is left", [f"{unit} on {node}" for node, units in left.items() for unit in units])


@contextmanager
def _prepared(mesh: Mesh, check: Check, name: str, slices: int, forks: int) -> Iterator[Run]:
    """A fresh service with all clusters, and a folder for each slice of its inventory."""
    check.say(name)
    folder = mesh.folder / CONTROL / name.replace(" ", "-")
    folder.mkdir()
    # Each slice has its own user, so that the history of the service shows which slice asked; AWX has one for all.
    parts = [Slice((), f"slice{number}", secrets.token_urlsafe(16)) for number in range(1, slices + 1)]
    admin = secrets.token_urlsafe(16)
    with emulator.serving(folder / "service", mesh.run, CLUSTERS, SECONDS, admin, parts) as service:
        listed = _inventory(mesh, folder, service, parts[0])
        hosts = {host: facts["ocp_cluster_id"] for host, facts in listed["_meta"]["hostvars"].items()}
        dealt = [Slice(some, part.user, part.password) for some, part in zip(cut(hosts, slices), parts, strict=True)]
        # The instant of the change: one for all slices, and for a slice that is sent again.
        variables = {"rolling_restart_started_before": service.now(), "rolling_restart_folder": RESULTS}
        folders = [folder / part.user for part in dealt]
        for part, place in zip(dealt, folders, strict=True):
            write_folder(place, part, service.url, listed, variables)
        yield Run(mesh, check, name, service, dealt, folders, hosts, forks)


def _inventory(mesh: Mesh, folder: Path, service: emulator.Service, part: Slice) -> dict[str, Any]:
    """Clusters as hosts, read once on the control node."""
    source = folder / "fleet.ocp.yml"
    source.write_text(json.dumps({"plugin": "oceanbase.ocp.ocp", "hosts": "clusters"}))
    connection = {"OCP_URL": service.url, "OCP_USERNAME": part.user, "OCP_PASSWORD": part.password}
    strict = {"ANSIBLE_INVENTORY_UNPARSED_FAILED": "true"}
    done = subprocess.run(
        [PROGRAMS / "ansible-inventory", "--inventory", source, "--list"],
        env={**mesh.environment(CONTROL), **connection, **strict},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise MeshFailed(f"ansible-inventory failed: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)


def _processor(mesh: Mesh) -> tuple[float, float]:
    """Seconds of processor so far: of all workers, and of the control node with its programs that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    control = cpu_seconds(mesh.run, CONTROL) + ended.ru_utime + ended.ru_stime
    return sum(cpu_seconds(mesh.run, worker) for worker in mesh.workers), control


def _ended(job: Job) -> str:
    counted = ", ".join(f"{count} {word}" for word, count in job.outcomes.items())
    return f"{job.folder.name} on {job.worker}: {job.status or 'no status'}; clusters: {counted or 'not told'}"


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
