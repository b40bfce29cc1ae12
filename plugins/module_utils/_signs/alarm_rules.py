# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which alarms are about a cluster or its hosts, which are about clocks, and which a restart has raised itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from ipaddress import ip_address

from .._base.parsing import Record, instant
from .._base.service_clock import HOST_UNCERTAINTY
from .._base.text import one_line
from .._targets.serving import is_in_flight
from .._targets.target import PlacedServer

# Documented: how long the service takes to raise an alarm, and to clear it once its cause is gone.
RAISED_WITHIN, CLEARED_WITHIN = timedelta(seconds=60), timedelta(seconds=300)
# Caution and reminder: nobody is paged for them.
HARMLESS_LEVELS = (4, 5)
LEVELS = {1: "stopped", 2: "critical", 3: "warning", 4: "caution", 5: "reminder"}
ACTIVE = "ACTIVE"

_CLUSTER_IN_TARGET = re.compile(r"\bob_cluster=([^:]+)")
_NUMBER = re.compile(r"-\d+$")


def alarms_of(alarms: Iterable[Record], cluster: str, placed: Sequence[PlacedServer]) -> list[Record]:
    """The active alarms of the cluster with this name: those that name it, or name no cluster but one of its hosts."""
    hosts = {_host(server) for server in placed}
    active = [alarm for alarm in alarms if str(alarm.get("status") or ACTIVE).upper() == ACTIVE]
    return [
        alarm for alarm in active if cluster in (names := _cluster_names(alarm)) or (not names and _ip(alarm) in hosts)
    ]


def is_of_clock(alarm: Record) -> bool:
    """Whether it is about the clock of a host, as ``host_ntp_offset_too_large`` is."""
    return "ntp" in str(alarm.get("alarmType")).lower().split("_")


def is_harmless(alarm: Record) -> bool:
    """Whether it is a caution or a reminder."""
    return alarm.get("level") in HARMLESS_LEVELS


def servers_named(alarm: Record, placed: Sequence[PlacedServer]) -> list[PlacedServer]:
    """The servers that an alarm is about, by their address; empty if it names none."""
    ip, port = _ip(alarm), _labels(alarm).get("svr_port")
    return [server for server in placed if _host(server) == ip and port in (None, _port(server))]


def is_explained(alarm: Record, placed: Sequence[PlacedServer], now: datetime) -> bool:
    """Whether it is only about servers that are restarting, or restarted just before ``now`` and serve.

    The service takes a while to clear it. An alarm that stays longer is not explained.
    """
    named = servers_named(alarm, placed)
    return bool(named) and all(
        is_in_flight(server.member.status)
        or (server.member.serves and _began_before(alarm, server) and _is_new(server, now))
        for server in named
    )


def may_be_of_restart(alarm: Record, placed: Sequence[PlacedServer]) -> bool:
    """Whether a restart may have raised it, so that it clears by itself.

    A server that it is about, or any if it names none, has started since or is being restarted. An alarm that was
    raised longer after the start than the service takes to raise one is about the process that runs now. The clock of
    the host, which shows the start, may be behind that of the service.
    """
    return any(
        is_in_flight(server.member.status) or _began_before(alarm, server, behind=HOST_UNCERTAINTY)
        for server in servers_named(alarm, placed) or placed
    )


def _began_before(alarm: Record, server: PlacedServer, behind: float = 0.0) -> bool:
    """Whether it may be about the time before the server has started.

    The clock of its host may be ``behind`` that of the service by so many seconds.
    """
    raised, started = instant(alarm.get("activeAt")), server.member.started
    latest = RAISED_WITHIN + timedelta(seconds=behind)
    return raised is not None and started is not None and raised <= started + latest


def _is_new(server: PlacedServer, now: datetime) -> bool:
    started = server.member.started
    return started is not None and now <= started + CLEARED_WITHIN


def alarm_words(alarm: Record) -> str:
    """As in ``alarm 12 (observer_process_stop, critical): the process has stopped``."""
    kind = [one_line(alarm.get("alarmType")), LEVELS.get(alarm.get("level") or 0)]
    known = ", ".join(word for word in kind if word)
    summary = one_line(alarm.get("summary"))
    return f"alarm {alarm.get('id')} ({known or 'of an unknown type'})" + (f": {summary}" if summary else "")


def _labels(alarm: Record) -> Record:
    return alarm.get("labels") or {}


def _ip(alarm: Record) -> str | None:
    labels = _labels(alarm)
    found = labels.get("svr_ip") or labels.get("host_ip")
    return _plain(str(found)) if found else None


def _cluster_names(alarm: Record) -> set[str]:
    """The names of the cluster that it shows, which versions write in different places; empty if it shows none."""
    labels = _labels(alarm)
    numbered = [labels.get("ob_cluster"), *_CLUSTER_IN_TARGET.findall(str(alarm.get("target")))]
    plain = [labels.get("ob_cluster_name"), labels.get("obregion")]
    return {name for name in plain if name} or {_NUMBER.sub("", name) for name in numbered if name}


def _host(server: PlacedServer) -> str:
    return _plain(server.member.name.rpartition(":")[0])


def _plain(host: str) -> str:
    """A host as its labels have it: an IPv6 address without brackets, in its shortest form."""
    bare = host.strip("[]")
    try:
        return str(ip_address(bare))
    except ValueError:
        return bare


def _port(server: PlacedServer) -> int | None:
    port = server.member.name.rpartition(":")[2]
    return int(port) if port.isdigit() else None
