# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a check of a service requests, in which order, and for which cluster, host and task: only GET."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from .._base.errors import OptionError
from .._base.parsing import Record, integer, records
from .._ocp.endpoints import PLAIN, VERSIONED
from .._ocp.records import servers_in_record
from .._ocp.service_reads import ServiceReads
from .._targets.lookup import exactly_one, find_host
from .._targets.serving import RUNNING
from .findings import Findings
from .interview import Interview
from .task_list_filters import check_filters

# As many as a restart looks at.
NEWEST_TASKS = 30
RESTART_WORD = "Restart"


@dataclass(frozen=True)
class Samples:
    """The cluster (name or id) and the host (id or inner IP address) to look at; None for any."""

    cluster: str | None = None
    host: str | None = None

    def check(self) -> None:
        """Raise OptionError for an empty name, which may be an unset variable."""
        for option, value in (("cluster", self.cluster), ("host", self.host)):
            if value == "":
                raise OptionError(f"{option}: is empty; leave it out to let the module choose one.")


def ask_service(reads: ServiceReads, samples: Samples) -> Findings:
    """Ask all that the modules rely on. Raises OptionError and TargetError for a sample that cannot be."""
    samples.check()
    interview = Interview(reads)
    found = interview.findings
    interview.ask("time", reads.time, public=True)
    # The first request with credentials. If they are rejected, the check ends before another one is sent.
    found.clusters = interview.ask("clusters", reads.clusters)
    interview.end_unless_ocp("time", "clusters")
    found.version = interview.ask("version", reads.version)
    _ask_cluster(interview, samples.cluster)
    _ask_host(interview, samples.host)
    _ask_arbitration(interview)
    _ask_obproxies(interview)
    _ask_tasks(interview)
    found.alarms = interview.ask("alarms", reads.alarms)
    return found


def _ask_cluster(interview: Interview, wanted: str | None) -> None:
    reads, found = interview.reads, interview.findings
    cluster = _sample_cluster(found.clusters or [], wanted)
    number = None if cluster is None else integer(cluster.get("id"))
    if cluster is None or number is None:
        why = _nothing("clusters", found.clusters)
        interview.skip_all(("cluster_detail", "zones", "servers", "tenants", "parameters"), why)
        return
    found.cluster = interview.ask("cluster_detail", partial(reads.cluster_detail, number)) or cluster
    zones = interview.ask("zones", partial(reads.zones, number))
    servers = interview.ask("servers", partial(reads.servers, number))
    found.zones = records(found.cluster.get("zones")) or zones or []
    found.servers = servers_in_record(found.cluster) or servers or []
    found.tenants = interview.ask("tenants", partial(reads.tenants, number))
    found.parameters = interview.ask("parameters", partial(reads.parameters, number))


def _ask_host(interview: Interview, wanted: str | None) -> None:
    reads, found = interview.reads, interview.findings
    found.hosts = interview.ask("hosts", reads.hosts)
    found.host = _sample_host(found, wanted)
    number = None if found.host is None else integer(found.host.get("id"))
    if number is None:
        interview.skip_all(("agent", "agent_plain"), _nothing("hosts", found.hosts))
        return
    versioned = interview.ask("agent", partial(reads.agent_below, VERSIONED, number))
    plain = interview.ask("agent_plain", partial(reads.agent_below, PLAIN, number))
    found.agent = plain if versioned is None else versioned


def _ask_arbitration(interview: Interview) -> None:
    reads, found = interview.reads, interview.findings
    found.services = interview.ask("arbitration_services", reads.arbitration_services)
    ids = [number for service in found.services or () if (number := integer(service.get("id"))) is not None]
    if ids:
        interview.ask("arbitration_service", partial(reads.arbitration_service, ids[0]))
    else:
        interview.skip("arbitration_service", _nothing("arbitration services", found.services))


def _ask_obproxies(interview: Interview) -> None:
    reads, found = interview.reads, interview.findings
    found.obproxy_clusters = interview.ask("obproxy_clusters", reads.obproxy_clusters)
    ids = [number for each in found.obproxy_clusters or () if (number := integer(each.get("id"))) is not None]
    if ids:
        interview.ask("obproxy_cluster", partial(reads.obproxy_cluster, ids[0]))
    else:
        interview.skip("obproxy_cluster", _nothing("OBProxy clusters", found.obproxy_clusters))


def _ask_tasks(interview: Interview) -> None:
    reads, found = interview.reads, interview.findings
    found.tasks = interview.ask("tasks", partial(reads.first_tasks, NEWEST_TASKS))
    if found.tasks:
        found.restarts, _read = interview.ask_aside(partial(reads.tasks, NEWEST_TASKS, name=RESTART_WORD))
    ids = [number for task in found.restarts or found.tasks or () if (number := integer(task.get("id"))) is not None]
    task = interview.ask("task", partial(reads.task, ids[0])) if ids else None
    if not ids:
        interview.skip("task", _nothing("tasks", found.tasks))
    steps = records((task or {}).get("subtasks"))
    step = next((number for step in steps if (number := integer(step.get("id"))) is not None), None)
    if step is None:
        interview.skip("subtask_log", "no subtask is shown")
    else:
        interview.ask("subtask_log", partial(reads.subtask_log, ids[0], step))
    found.filters = check_filters(interview, found.tasks)


def _nothing(things: str, found: list[Record] | None) -> str:
    """Why there is no sample of these objects."""
    return f"the {things} could not be read" if found is None else f"the service shows no {things}"


def _sample_cluster(clusters: list[Record], wanted: str | None) -> Record | None:
    if not clusters:
        return None
    if wanted is not None:
        matches = [cluster for cluster in clusters if wanted in (str(cluster.get("id")), cluster.get("name"))]
        return exactly_one("cluster", wanted, matches, [cluster.get("name") for cluster in clusters])
    return next((cluster for cluster in clusters if cluster.get("status") == RUNNING), clusters[0])


def _sample_host(found: Findings, wanted: str | None) -> Record | None:
    """The host that is ``wanted``, or else one of the servers that were read, or any."""
    hosts = found.hosts or []
    if hosts and wanted is not None:
        number, _address = find_host("host", hosts, wanted)
        return next(host for host in hosts if host.get("id") == number)
    of_servers = {server.get("hostId") for server in found.servers}
    return next((host for host in hosts if host.get("id") in of_servers), next(iter(hosts), None))
