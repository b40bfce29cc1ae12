# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The switches for differences between versions of OCP, and the profiles 4.2 and 4.3, which are sets of them.

docs/emulator-reference.md says where each value comes from. Only the command line knows profiles: all other code reads
single switches.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, get_args, get_type_hints

ClusterAnswer = Literal["tasks", "subtasks"]
FreezeServer = Literal["required", "optional", "unknown"]
ParametersIn = Literal["either", "query", "body"]
AgentPaths = Literal["both", "plain", "prefixed"]
ServerRestartSteps = Literal["13", "11"]
Visibility = Literal["shown", "absent"]
Served = Literal["served", "unknown"]
RollbackAnswer = Literal["empty", "task"]
TenantPaths = Literal["both", "clusters", "cluster"]
PreCheck = Literal["off", "refuse"]
StopServer = Literal["off", "refuse"]
WrongState = Literal["refuse", "accept"]
ReportedVersion = Literal["4.3.5", "4.2.2"]
RecordFields = Literal["newest", "older"]
ClusterServers = Literal["empty", "complete"]
UnknownUrl = Literal["400", "404", "405", "500", "html"]
TimeAnswer = Literal["envelope", "text"]
SignedQuery = Literal["rfc3986", "url_encoder", "either"]
LockoutAttempts = Literal["5", "20"]
ParameterValues = Literal["in_effect", "set"]
StaticParameters = Literal["at_start", "never"]


@dataclass(frozen=True)
class Switches:
    """The value of each switch; the defaults are those of the specification."""

    cluster_answer: Annotated[ClusterAnswer, "where the answer of a cluster's restart has its subtasks"] = "tasks"
    freeze_server: Annotated[FreezeServer, "the parameter freezeServer of a server's restart"] = "required"
    parameters_in: Annotated[ParametersIn, "where freezeServer, force and type are read from"] = "either"
    agent_paths: Annotated[AgentPaths, "paths of agents without /api/v2 (plain) and with it (prefixed)"] = "both"
    server_restart_steps: Annotated[ServerRestartSteps, "steps and form of a server's restart"] = "13"
    task_tags: Annotated[Visibility, "tags of tasks, and the fields that came with them"] = "shown"
    operating_task: Annotated[Visibility, "operatingTaskInstanceId of clusters, zones, servers and services"] = "shown"
    arbitration: Annotated[Served, "the API of arbitration services"] = "served"
    tenant_paths: Annotated[TenantPaths, "one tenant and its units are below ob/clusters, or below ob/cluster"] = "both"
    pre_check: Annotated[PreCheck, "a restart or stop that would leave a tenant without its majority"] = "off"
    stop_server: Annotated[StopServer, "a stop of servers that the database does not allow"] = "off"
    wrong_state: Annotated[WrongState, "a start of what runs, a stop of what is stopped, and the like"] = "refuse"
    rollback_answer: Annotated[RollbackAnswer, "the answer to the rollback of a task"] = "empty"
    reported_version: Annotated[ReportedVersion, "the version that /api/v2/info reports"] = "4.3.5"
    record_fields: Annotated[RecordFields, "fields of clusters, zones, servers, agents, events, alarms"] = "newest"
    zone_ids: Annotated[Visibility, "ids of zones in the list of clusters"] = "absent"
    cluster_servers: Annotated[ClusterServers, "the servers within the list of clusters"] = "empty"
    cluster_detail: Annotated[Served, "the read of one cluster"] = "unknown"
    unknown_url: Annotated[UnknownUrl, "the answer to an unknown URL or method"] = "400"
    time_answer: Annotated[TimeAnswer, "the form of the answer of /api/v2/time"] = "envelope"
    signed_query: Annotated[SignedQuery, "how the query is encoded in a signature"] = "url_encoder"
    lockout_attempts: Annotated[LockoutAttempts, "wrong passwords that lock a user"] = "5"
    parameter_metadata: Annotated[Visibility, "what parameters show besides their values"] = "shown"
    parameter_servers: Annotated[Visibility, "the value of each server in the parameters of a cluster"] = "shown"
    parameter_values: Annotated[ParameterValues, "parameters show what servers run with, or what was set"] = "in_effect"
    static_parameters: Annotated[StaticParameters, "when static parameters take effect"] = "at_start"


DEFAULT_PROFILE = "4.3"
PROFILES: Mapping[str, Switches] = {
    DEFAULT_PROFILE: Switches(),
    "4.2": Switches(
        freeze_server="unknown",
        server_restart_steps="11",
        task_tags="absent",
        operating_task="absent",
        arbitration="unknown",
        rollback_answer="task",
        reported_version="4.2.2",
        record_fields="older",
        unknown_url="html",
        time_answer="text",
        signed_query="rfc3986",
        lockout_attempts="20",
    ),
}

_HINTS = get_type_hints(Switches, include_extras=True)
# The values that each switch takes, and its description.
CHOICES: Mapping[str, tuple[str, ...]] = {name: get_args(get_args(hint)[0]) for name, hint in _HINTS.items()}
DESCRIPTIONS: Mapping[str, str] = {name: get_args(hint)[1] for name, hint in _HINTS.items()}
