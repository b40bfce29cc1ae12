# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A fake OCP with the methods of OcpApi: a fleet, tasks that move with a fake clock, and faults on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import Clock
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    NotFound,
    PermissionDenied,
    RateLimited,
    RequestRefused,
    ResponseLost,
    ResponseUnreadable,
    ServiceError,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.envelope import ApiResponse
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.sign_reads import LAG
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.offline_budget import PARAMETER
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import (
    BEGINNING,
    URL,
    FakeClock,
    chain,
    clock_ahead,
    response,
    step,
)

SERVER, ZONE, CLUSTER = "Restart OB server", "Restart OB zone", "Restart OB cluster"
AGENTS, ARBITRATION = "Batch restart OCP agent", "Restart arbitration service"
# As in a document, which calls another task so.
OBPROXIES = "Offline obproxy"
FULL3 = "FULL{1}@zone1, FULL{1}@zone2, FULL{1}@zone3"


def refused(status: int) -> RequestRefused:
    kind = {401: AuthenticationFailed, 403: PermissionDenied, 404: NotFound, 429: RateLimited}.get(
        status, RequestRefused
    )
    return kind(
        f"Refused with {status}.", status=status, reason="", url=URL, trace_id="trace-no", may_have_run=status >= 500
    )


def lost() -> ResponseLost:
    return ResponseLost("Lost.", url=URL, may_have_run=True)


def unreadable() -> ResponseUnreadable:
    """An answer without an OCP envelope, such as the page of a proxy."""
    return ResponseUnreadable("Unreadable.", url=URL, may_have_run=True).without_envelope()


@dataclass
class Thing:
    """A server, agent, arbitration service or OBProxy; ``started`` is seconds since BEGINNING, None is not shown.

    ``status`` is None if all is well. ``shown_before`` is the start and pid that are shown until then.
    """

    id: int
    host: int
    zone: str = ""
    started: float | None = -3600.0
    pid: int = 100
    operated_by: int | None = None
    status: str | None = None
    inner_status: str | None = None
    host_agent_status: str | None = None
    host_status: str | None = None
    stopped: tuple[str, ...] = ()
    root_server: bool | None = None
    shown_before: tuple[float, float | None, int] | None = None


@dataclass
class Job:
    """A task: what it restarts, its begin, its duration and its end.

    ``end`` is SUCCESSFUL, FAILED (at its second step), REFUSED (FAILED at its first one), ROLLBACK or any other word.
    ``word`` is its status until then; ``skipped`` are the steps that were skipped. ``second`` is the name of that step.
    """

    id: int
    name: str
    things: list[Thing]
    started_at: float
    seconds: float = 10.0
    end: str = "SUCCESSFUL"
    applied: bool = False
    whole_cluster: bool = False
    hidden_start: bool = False
    rolling_back: bool = False
    word: str = "RUNNING"
    creator: str | None = None
    skipped: tuple[int, ...] = ()
    second: str = "Start it"
    of_cluster: int | None = None


@dataclass
class StaticParameter:
    """Was set to ``new`` at that many seconds since BEGINNING; a server runs with it from its next start on.

    ``shown_late``: for so many seconds after a start the value of before is shown. ``at_once``: every server shows it
    before any restart. ``never``: it does not take effect. ``servers`` are those of which a value is shown.
    """

    old: str
    new: str
    set_at: float = -600.0
    shown_late: float = 0.0
    at_once: bool = False
    never: bool = False
    servers: tuple[int, ...] = (41, 42, 43)
    metadata: dict[str, Any] = field(default_factory=lambda: {"needRestart": True})

    def shown(self, thing: Thing, now: float) -> str:
        """The value that is shown of a server."""
        has_started = thing.started is not None and thing.started >= self.set_at
        is_shown = has_started and not self.never and now >= (thing.started or 0.0) + self.shown_late
        return self.new if self.at_once or is_shown else self.old


@dataclass
class FakeOcp:
    """One cluster, its hosts, an arbitration service and an OBProxy cluster; tests set the fields.

    ``posts`` are the POSTs received, ``jobs`` the tasks started by them or by ``begin``. ``moved_to`` has another
    address for some servers, by id. ``list_lags`` and ``list_lacks`` are the seconds for which lists show an old status
    of a task, or no task at all;
    ``start_shown_late`` those after a restart in which the old start is shown. ``ignored`` are the filters without
    effect. ``after_restart`` is called when a task has ended. ``units`` are the ids of the servers of a tenant by zone,
    ``tenant_fields`` what is shown of a tenant besides;
    ``arbitrated`` are tenants that use the arbitration service, with their degraded log streams. ``lag`` is seconds,
    None where the service has no samples. ``parameters`` are those of the cluster, by name.
    """

    time: FakeClock
    names_operations: bool = True
    tags: bool = True
    arbitration_tags: bool = True
    obproxy_tags: bool = True
    clock_offset: float = 0.0
    other_offsets: tuple[float, ...] = ()  # by other answers
    hosts_ahead: float = 0.0  # of the clock of the service
    timeout: float = 20.0
    retry_after: float = 0.0
    room: int | None = None
    trace_id: str | None = "trace-last"
    busy: int | str | None = None  # a status, or REFUSED: a task that FAILS at its first step
    seconds: float = 10.0
    end: str = "SUCCESSFUL"
    restarts_really: bool = True
    posts: list[tuple[str, Any]] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    lose_before: list[ServiceError] = field(default_factory=list)
    lose_after: list[ServiceError] = field(default_factory=list)
    failing: dict[str, list[ServiceError]] = field(default_factory=dict)
    url: str = URL
    user: str | None = None
    ignores_host_filter: bool = False
    finds_by_host: bool = False
    names_in_another_language: bool | None = None
    client: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(paused=None))
    slow: dict[str, float] = field(default_factory=dict)
    list_lags: float = 0.0
    moved_to: dict[int, str] = field(default_factory=dict)
    list_lacks: float = 0.0
    start_shown_late: float = 0.0
    ignored: tuple[str, ...] = ()
    before_post: Callable[[], Any] = lambda: None
    after_list: Callable[[], Any] = lambda: None
    after_restart: Callable[[], Any] = lambda: None
    localities: dict[str, str] = field(default_factory=lambda: {"sys": FULL3})
    units: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    tenant_fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    tenant_count: int | None = None
    arbitrated: dict[str, list[int]] = field(default_factory=dict)
    alarms: list[dict[str, Any]] = field(default_factory=list)
    lag: float | None = 0.05
    # The value of a metric at an instant, in seconds.
    metric: Any = lambda _name, _at: 0.0
    backups: list[dict[str, Any]] = field(default_factory=list)
    restores: list[dict[str, Any]] = field(default_factory=list)
    cluster_name: str = "orders"
    compaction: str = "IDLE"
    versions: dict[int, str] = field(default_factory=dict)  # by the id of a server
    idcs: dict[int, str] = field(default_factory=dict)  # by the id of a server
    offline_time: str = "3600s"
    parameters: dict[str, StaticParameter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.servers_there = [Thing(41, 51, "zone1"), Thing(42, 52, "zone2"), Thing(43, 53, "zone3")]
        self.agents_there = [Thing(51, 51), Thing(52, 52), Thing(53, 53)]
        self.arbitration = [Thing(61, 51, started=None)]
        self.obproxies_there = [Thing(number, number - 30, started=None) for number in (81, 82, 83)]
        self.cluster_operated_by: int | None = None
        self._opened = self.time.time

    @property
    def now(self) -> float:
        """Seconds since BEGINNING by the clock of the service, which is ``clock_offset`` ahead of the test clock."""
        return self.time.time - self._opened + self.clock_offset

    @property
    def service_clock(self) -> ServiceClock:
        return clock_ahead(self.clock_offset, *self.other_offsets)

    # For tests, behind the back of the code

    def begin(self, name: str, things: list[Thing], *, ago: float = 0.0, **more: Any) -> Job:
        """Another user starts a task."""
        number = 1001 + len(self.jobs)
        job = Job(number, name, things, self.now - ago, whole_cluster=name == CLUSTER, **more)
        self.jobs.append(job)
        if job.end != "REFUSED":
            for thing in things:
                thing.operated_by = number
            if job.whole_cluster:
                self.cluster_operated_by = number
        self._move_on()
        return job

    def passes(self, seconds: float) -> None:
        """Let time pass, and tasks with it."""
        self.time.time += seconds
        self._move_on()

    # OcpApi

    def restart_server(self, cluster_id: int, server_id: int, *, freeze_server: bool, force: bool) -> ApiResponse:
        return self._post("server", (cluster_id, server_id, freeze_server, force), SERVER, self._server(server_id))

    def restart_cluster(self, cluster_id: int) -> ApiResponse:
        return self._post("cluster", cluster_id, CLUSTER, self.servers_there)

    def restart_zone(self, cluster_id: int, zone: str) -> ApiResponse:
        things = [thing for thing in self.servers_there if thing.zone == zone]
        return self._post("zone", (cluster_id, zone), ZONE, things)

    def restart_agents(self, host_ids: list[int]) -> ApiResponse:
        things = [thing for thing in self.agents_there if thing.id in host_ids]
        return self._post("agents", sorted(host_ids), AGENTS, things)

    def restart_arbitration_service(self, service_id: int) -> ApiResponse:
        return self._post("arbitration", service_id, ARBITRATION, self.arbitration)

    def restart_obproxies(self, cluster_id: int, obproxy_ids: list[int]) -> ApiResponse:
        things = [thing for thing in self.obproxies_there if thing.id in obproxy_ids]
        return self._post("obproxies", (cluster_id, obproxy_ids), OBPROXIES, things)

    def task(self, task_id: int) -> dict[str, Any]:
        self._called("task")
        found = next((job for job in self.jobs if job.id == task_id), None)
        if found is None:
            raise refused(404)
        return self._record(found)

    def page_of_tasks(self, size: int, **filters: Any) -> list[dict[str, Any]]:
        return self.tasks(size, **filters)

    def tasks(self, limit: int | None = None, above: int = 0, **filters: Any) -> list[dict[str, Any]]:
        self._called("tasks")
        unknown = filters.keys() - {"clusterId", "hostId", "status", "name"}
        assert not unknown, f"no such filter: {unknown}"
        there = [job for job in reversed(self.jobs) if self.now >= job.started_at + self.list_lacks]
        found = [job for job in there if job.id > above and self._passes(job, filters)]
        records = [self._record(job, self.list_lags) for job in found][:limit]
        if filters.keys() <= {"clusterId", "name"}:
            self.after_list()
        return records

    def subtask_log(self, task_id: int, subtask_id: int) -> str:
        self._called("subtask_log")
        return f"log of {subtask_id} of {task_id}\n"

    def cluster(self, cluster_id: int) -> dict[str, Any]:
        self._called("cluster")
        zones = [
            {"id": number, "name": name, "status": "RUNNING"}
            for number, name in enumerate(dict.fromkeys(thing.zone for thing in self.servers_there), start=71)
        ]
        operating = self._operating(self.cluster_operated_by)
        count = {} if self.tenant_count is None else {"tenantCount": self.tenant_count}
        whole = {"id": cluster_id, "name": self.cluster_name, "status": "RUNNING", "compactionStatus": self.compaction}
        return {**whole, "zones": zones, **count, **operating}

    def clusters(self, name: str = "") -> list[dict[str, Any]]:
        self._called("clusters")
        return [self.cluster(31)] if name in self.cluster_name else []

    def zones(self, cluster_id: int) -> list[dict[str, Any]]:
        return self.cluster(cluster_id)["zones"]

    def servers(self, cluster_id: int) -> list[dict[str, Any]]:
        self._called("servers")
        return [
            {
                "id": thing.id,
                "ip": self.moved_to.get(thing.id, f"10.1.0.{thing.id - 40}"),
                "port": 2882,
                "hostId": thing.host,
                "zoneName": thing.zone,
                "status": thing.status or "RUNNING",
                **({} if thing.inner_status is None else {"innerStatus": thing.inner_status}),
                **({} if thing.root_server is None else {"withRootserver": thing.root_server}),
                "startTime": _instant_text(self._shown(thing)[0]),
                "version": self.versions.get(thing.id, "4.2.1.8"),
                **({"idcName": self.idcs[thing.id]} if thing.id in self.idcs else {}),
                **self._operating(thing.operated_by),
            }
            for thing in self.servers_there
            if cluster_id == 31
        ]

    def tenants(self, cluster_id: int) -> list[dict[str, Any]]:
        self._called("tenants")
        return [
            {
                "id": number,
                "name": name,
                "clusterId": cluster_id,
                "locality": locality,
                **self.tenant_fields.get(name, {}),
            }
            for number, (name, locality) in enumerate(self.localities.items(), start=501)
        ]

    def tenant(self, cluster_id: int, tenant_id: int) -> dict[str, Any]:
        self._called("tenant")
        found = next(one for one in self.tenants(cluster_id) if one["id"] == tenant_id)
        placed = self.units.get(found["name"], {})
        zones = [
            {"name": zone, "units": [{"serverId": number, "zoneName": zone} for number in numbers]}
            for zone, numbers in placed.items()
        ]
        return {**found, "zones": zones}

    def active_alarms(self) -> list[dict[str, Any]]:
        self._called("active_alarms")
        return [{"status": "Active", "level": 2, **alarm} for alarm in self.alarms]

    def lag_samples(self, cluster: str, since: datetime, until: datetime) -> list[dict[str, Any]]:
        self._called("lag_samples")
        assert (cluster, until - since) == (self.cluster_name, timedelta(seconds=120))
        return [] if self.lag is None else [{"timestamp": 1, LAG: 0.05}, {"timestamp": 2, LAG: self.lag}]

    def newest_metrics(self, cluster: str, names: Any, since: datetime, until: datetime) -> list[dict[str, Any]]:
        self._called("newest_metrics")
        return self._metric_samples(cluster, names, since, until)

    def metric_samples(self, cluster: str, names: Any, since: datetime, until: datetime) -> list[dict[str, Any]]:
        self._called("metric_samples")
        return self._metric_samples(cluster, names, since, until)

    def _metric_samples(self, cluster: str, names: Any, since: datetime, until: datetime) -> list[dict[str, Any]]:
        assert cluster == self.cluster_name
        instants = range(int(since.timestamp()) // 5 * 5, int(until.timestamp()) + 1, 5)
        return [{"timestamp": at, **{name: self.metric(name, at) for name in names}} for at in instants]

    def data_backups(self, cluster_id: int, since: datetime) -> list[dict[str, Any]]:
        self._called("data_backups")
        assert (cluster_id, since < at(self.now)) == (31, True)
        return [{"taskId": number, **backup} for number, backup in enumerate(self.backups, start=1)]

    def tenant_restores(self, cluster_id: int, since: datetime) -> list[dict[str, Any]]:
        self._called("tenant_restores")
        assert (cluster_id, since < at(self.now)) == (31, True)
        return [{"id": number, **restore} for number, restore in enumerate(self.restores, start=1)]

    def cluster_parameters(self, cluster_id: int) -> list[dict[str, Any]]:
        self._called("cluster_parameters")
        assert cluster_id == 31
        values = [
            {"svrIp": f"10.1.0.{server.id - 40}", "svrPort": 2882, "value": self.offline_time}
            for server in self.servers_there
        ]
        return [
            {"name": PARAMETER, "currentValue": {"obParameters": values}},
            *(
                {"name": name, **each.metadata, "currentValue": {"obParameters": self._values(each)}}
                for name, each in self.parameters.items()
            ),
        ]

    def set_cluster_parameters(self, cluster_id: int, wanted: dict[str, str]) -> ApiResponse:
        self._called("set_cluster_parameters")
        assert (cluster_id, [*wanted]) == (31, [PARAMETER])
        self.offline_time = wanted[PARAMETER]
        return response(None)

    def hosts(self) -> list[dict[str, Any]]:
        self._called("hosts")
        return [
            {
                "id": thing.id,
                "innerIpAddress": f"10.1.0.{thing.id - 50}",
                **({} if thing.host_agent_status is None else {"hostAgentStatus": thing.host_agent_status}),
                **({} if thing.host_status is None else {"status": thing.host_status}),
            }
            for thing in self.agents_there
        ]

    def host_agent(self, host_id: int) -> dict[str, Any]:
        self._called("host_agent")
        [thing] = [thing for thing in self.agents_there if thing.id == host_id]
        started, pid = self._shown(thing)
        process: dict[str, Any] = {"alias": "ocp_agentd", "pid": pid}
        if started is not None:
            seen_at = _instant_text(self.now, "milliseconds")
            process |= {"lastActiveTime": seen_at, "elapsedTime": int(self.now - started)}
        stopped = [{"alias": alias, "status": "STOPPED", "pid": 0} for alias in thing.stopped]
        running = [] if "ocp_agentd" in thing.stopped else [process]
        return {"status": thing.status or "AVAILABLE", "processes": [*running, *stopped]}

    def arbitration_services(self) -> list[dict[str, Any]]:
        self._called("arbitration_services")
        [thing] = self.arbitration
        tenants = [{"name": name, "degradedLsIdList": streams} for name, streams in self.arbitrated.items()]
        clusters = [{"id": 31, "tenants": tenants}] if tenants else []
        service = {"id": 61, "svrIp": "10.1.0.8", "svrPort": 2888, "status": thing.status or "RUNNING"}
        return [{**service, "clusters": clusters}]

    def arbitration_service(self, service_id: int) -> dict[str, Any]:
        self._called("arbitration_service")
        [thing] = self.arbitration
        return {"id": service_id, "status": thing.status or "RUNNING", **self._operating(thing.operated_by)}

    def obproxy_clusters(self) -> list[dict[str, Any]]:
        self._called("obproxy_clusters")
        return [self._obproxy_cluster()]

    def obproxy_cluster(self, cluster_id: int) -> dict[str, Any]:
        self._called("obproxy_cluster")
        assert cluster_id == 91
        return self._obproxy_cluster()

    @property
    def account(self) -> str:
        return self.user or "key"

    @property
    def sent(self) -> int:
        return len(self.calls)

    def wait_for_room(self, requests: int, clock: Clock) -> None:
        if self.room is not None and self.room < requests:
            clock.sleep(self.retry_after)
            self.room = None

    def wait_to_send(self, clock: Clock) -> None:
        if self.room == 0:
            clock.sleep(self.retry_after)
            self.room = None

    # Internals

    def _values(self, parameter: StaticParameter) -> list[dict[str, Any]]:
        there = [thing for thing in self.servers_there if thing.id in parameter.servers]
        return [
            {"svrIp": f"10.1.0.{thing.id - 40}", "svrPort": 2882, "value": parameter.shown(thing, self.now)}
            for thing in there
        ]

    def _obproxy_cluster(self) -> dict[str, Any]:
        proxies = [
            {
                "id": thing.id,
                "hostId": thing.host,
                "ip": f"10.1.0.{thing.id - 80}",
                "sqlPort": 2883,
                "status": thing.status or "RUNNING",
                "operateStatus": "OPERATING" if self.names_operations and thing.operated_by else "NORMAL",
            }
            for thing in self.obproxies_there
        ]
        return {"id": 91, "name": "entry", "obproxies": proxies}

    def _server(self, server_id: int) -> list[Thing]:
        return [thing for thing in self.servers_there if thing.id == server_id]

    def _called(self, name: str) -> None:
        self.calls.append(name)
        self.time.time += self.slow.get(name, 0.0)
        self._move_on()
        if self.failing.get(name):
            raise self.failing[name].pop(0)

    def _post(self, call: str, sent: Any, name: str, things: list[Thing]) -> ApiResponse:
        self.posts.append((call, sent))
        self.before_post()
        self._called(call)
        if self.lose_before:
            raise self.lose_before.pop(0)
        held = any(thing.operated_by for thing in things)
        if held and isinstance(self.busy, int):
            raise refused(self.busy)
        end = "REFUSED" if held and self.busy == "REFUSED" else self.end
        job = self.begin(name, things, seconds=self.seconds, end=end)
        if self.lose_after:
            raise self.lose_after.pop(0)
        return ApiResponse(self._record(job), URL, "trace-post")

    def _move_on(self) -> None:
        for job in self.jobs:
            if job.applied or self.now < job.started_at + self._lasts(job):
                continue
            job.applied = True
            if job.end == "SUCCESSFUL" and self.restarts_really:
                for thing in job.things:
                    if self.start_shown_late:
                        late_until = job.started_at + job.seconds + self.start_shown_late
                        thing.shown_before = late_until, thing.started, thing.pid
                    thing.pid += 1
                    if thing not in [*self.arbitration, *self.obproxies_there]:
                        thing.started = job.started_at + job.seconds / 2 + self.hosts_ahead
            if job.end in ("SUCCESSFUL", "ROLLBACK"):
                for thing in job.things:
                    thing.operated_by = None if thing.operated_by == job.id else thing.operated_by
                if self.cluster_operated_by == job.id:
                    self.cluster_operated_by = None
            self.after_restart()

    def _shown(self, thing: Thing) -> tuple[float | None, int]:
        if thing.shown_before is None or self.now >= thing.shown_before[0]:
            return thing.started, thing.pid
        return thing.shown_before[1:]

    def _lasts(self, job: Job) -> float:
        return min(job.seconds, 1.0) if job.end == "REFUSED" else job.seconds

    def _state(self, job: Job, lag: float = 0.0) -> str:
        if self.now - lag < job.started_at + self._lasts(job):
            return job.word
        return {"REFUSED": "FAILED", "ROLLBACK": "SUCCESSFUL"}.get(job.end, job.end)

    def _record(self, job: Job, lag: float = 0.0) -> dict[str, Any]:
        state = self._state(job, lag)
        ended = self.now - lag >= job.started_at + self._lasts(job)
        first = "RUNNING" if not ended else "FAILED" if job.end == "REFUSED" else "SUCCESSFUL"
        second = {"SUCCESSFUL": "SUCCESSFUL", "FAILED": "FAILED"}.get(job.end, "PENDING") if ended else "PENDING"
        steps = chain(step(1, "Stop it", first), step(2, job.second, second))
        ends = [job.started_at + self._lasts(job) * share for share in (0.0, 0.5, 1.0)]
        for place, one in enumerate(steps):
            if ended and one["status"] != "PENDING":
                one["startTime"], one["finishTime"] = (
                    _instant_text(time, "milliseconds") for time in ends[place : place + 2]
                )
        for number in job.skipped:
            steps[number - 1]["operation"] = "SKIP"
        undoes = job.rolling_back or (ended and job.end == "ROLLBACK")
        tags = [
            {"serverId": thing.id, "hostId": thing.host, "zoneName": thing.zone}
            if thing in self.servers_there
            else {"arbitrationServiceId": thing.id}
            if job.name == ARBITRATION
            else {"obproxyId": thing.id}
            if thing in self.obproxies_there
            else {"hostId": thing.host}
            for thing in job.things
        ]
        tagged = {ARBITRATION: self.arbitration_tags, OBPROXIES: self.obproxy_tags}.get(job.name, self.tags)
        return {
            "id": job.id,
            "name": job.name,
            "status": state,
            "operation": "ROLLBACK" if undoes else "EXECUTE",
            "startTime": None if job.hidden_start else _instant_text(job.started_at, "milliseconds"),
            "finishTime": _instant_text(job.started_at + self._lasts(job), "milliseconds") if ended else None,
            "subtasks": steps,
            **({} if job.creator is None else {"creator": job.creator}),
            **({} if job.of_cluster is None else {"clusterId": job.of_cluster}),
            **({"tags": tags} if tagged else {}),
        }

    def _passes(self, job: Job, filters: dict[str, Any]) -> bool:
        filters = {name: value for name, value in filters.items() if name not in self.ignored}
        of_servers = job.name in (SERVER, ZONE, CLUSTER) or any(thing in self.servers_there for thing in job.things)
        on_cluster = of_servers and job.of_cluster in (None, 31)
        return (
            (filters.get("clusterId") is None or (filters["clusterId"] == 31 and on_cluster))
            and (filters.get("hostId") is None or filters["hostId"] in [thing.host for thing in job.things])
            and (filters.get("status") is None or self._state(job, self.list_lags) in filters["status"].split(","))
            and (filters.get("name") is None or filters["name"] in job.name)
        )

    def _operating(self, task_id: int | None) -> dict[str, Any]:
        return {"operatingTaskInstanceId": task_id} if self.names_operations else {}


def at(seconds: float) -> datetime:
    """The instant by the clock of the service."""
    return BEGINNING + timedelta(seconds=seconds)


def _instant_text(seconds: float | None, precision: str = "seconds") -> str | None:
    return None if seconds is None else at(seconds).isoformat(timespec=precision)
