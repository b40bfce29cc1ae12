# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which signs of trouble prevent a restart, and which of them a wait may end: pure functions of what was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from .._base.cli_hints import Hints, sentence
from .._base.parsing import Record
from .._base.text import in_seconds, join_names, one_line
from .._targets.serving import is_in_flight
from .._targets.target import PlacedServer
from .alarm_rules import alarm_words, alarms_of, is_explained, is_harmless, is_of_clock, may_be_of_restart
from .metric_limit import MetricLimit

# The words of docs/dev/contract.md, "Backups", for one that has not ended.
RUNNING_BACKUP = ("BEGINNING", "INITIALIZING", "DOING", "CANCELING")
# For a restore many words say what it does now, and two that it has ended.
ENDED_RESTORE = ("RESTORE_SUCCESS", "RESTORE_FAIL")
IDLE = "IDLE"


class Sign(StrEnum):
    """A sign of trouble; the options ``stop_on``."""

    ALARMS = "alarms"
    LAG = "lag"
    BACKUP = "backup"
    MERGE = "merge"
    VERSIONS = "versions"
    NTP = "ntp"
    METRICS = "metrics"


@dataclass(frozen=True)
class Watch:
    """Which signs stop.

    ``max_lag`` is seconds, ``alarms_before`` are the ids of alarms that are known already. ``metrics_before`` are the
    medians of metrics before the change, None if they are not known yet.
    """

    signs: frozenset[Sign]
    max_lag: float
    alarms_before: frozenset[int] = frozenset()
    limits: Sequence[MetricLimit] = ()
    metrics_before: Mapping[str, float] | None = None

    @property
    def checked(self) -> frozenset[Sign]:
        """The signs that are checked: metrics only if there are limits of them."""
        return self.signs if self.limits else self.signs - {Sign.METRICS}


@dataclass(frozen=True)
class Readings:
    """What was read of a cluster ``at`` a time of the service: None for what was not requested, or is not shown.

    ``lag`` is seconds, ``metrics`` are samples, ``metrics_before`` the medians of metrics before the change.
    """

    at: datetime
    alarms: Sequence[Record] | None = None
    lag: float | None = None
    backups: Sequence[Record] | None = None
    restores: Sequence[Record] | None = None
    metrics: Sequence[Record] | None = None
    metrics_before: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Trouble:
    """A sign that prevents a restart, in words. ``passes``: a wait may end it."""

    sign: Sign
    text: str
    passes: bool

    @property
    def words(self) -> str:
        """The text with the name of the sign, by which it can be switched off."""
        return f"{self.text} (stop_on: {self.sign.value})"


def troubles(
    cluster: str,
    placed: Sequence[PlacedServer],
    readings: Readings,
    watch: Watch,
    listed: Iterable[Record] = (),
) -> list[Trouble]:
    """The signs of the cluster with this name, whose servers are ``placed``, and whose tasks are ``listed``."""
    found = [
        *_alarms(alarms_of(readings.alarms or (), cluster, placed), placed, watch, readings.at),
        *_lag(cluster, placed, readings.lag, watch),
        *(
            Trouble(Sign.BACKUP, f"{_backup_words(backup)} of {cluster} is {backup.get('status')}", True)
            for backup in readings.backups or ()
            if is_running(backup)
        ),
        *(
            Trouble(Sign.BACKUP, _restore_words(restore, cluster), True)
            for restore in readings.restores or ()
            if is_restoring(restore)
        ),
        *_merge(cluster, placed),
        *_versions(cluster, placed),
        *_metrics(cluster, placed, readings, watch, listed),
    ]
    return [trouble for trouble in found if trouble.sign in watch.checked]


def is_running(backup: Record) -> bool:
    """Whether a backup has not ended."""
    return str(backup.get("status")).upper() in RUNNING_BACKUP


def is_restoring(restore: Record) -> bool:
    """Whether a restore has not ended, as far as that is shown."""
    if restore.get("finished") is not None:
        return not restore["finished"]
    status = restore.get("status")
    return status is not None and restore.get("finishTime") is None and status.upper() not in ENDED_RESTORE


def allowing_words(found: Sequence[Trouble], watch: Watch | None, hints: Hints) -> str:
    """How to go on regardless: ask for the other signs, if there are any, with the option as the caller gives it."""
    left_out = {trouble.sign for trouble in found}
    signs = frozenset[Sign]() if watch is None else watch.checked
    others = [sign.value for sign in Sign if sign in signs and sign not in left_out]
    if given := hints.given("stop_on", ",".join(others)) if others else "":
        return sentence(f"To go on regardless, ask for {given}")
    names = join_names(sign.value for sign in Sign if sign in left_out)
    return f"To go on regardless, leave {names} out of {hints.named('stop_on')}."


def _alarms(alarms: Iterable[Record], placed: Sequence[PlacedServer], watch: Watch, now: datetime) -> Iterator[Trouble]:
    for alarm in alarms:
        words = f"{alarm_words(alarm)} is active" if not alarm.get("summary") else alarm_words(alarm)
        if is_of_clock(alarm) and Sign.NTP in watch.signs:
            yield Trouble(Sign.NTP, words, True)
        elif not (is_harmless(alarm) or is_explained(alarm, placed, now) or alarm.get("id") in watch.alarms_before):
            yield Trouble(Sign.ALARMS, words, may_be_of_restart(alarm, placed))


def _lag(cluster: str, placed: Iterable[PlacedServer], lag: float | None, watch: Watch) -> Iterator[Trouble]:
    """While a server restarts, its replicas lag."""
    if lag is not None and lag > watch.max_lag and not _moves(placed):
        words = f"replicas of {cluster} lag {in_seconds(lag)} behind, more than max_lag={watch.max_lag:g}"
        yield Trouble(Sign.LAG, words, True)


def _metrics(
    cluster: str, placed: Iterable[PlacedServer], readings: Readings, watch: Watch, listed: Iterable[Record]
) -> Iterator[Trouble]:
    """While a server restarts, it disturbs them."""
    if readings.metrics is None or _moves(placed):
        return
    from .metric_rules import last_restart, metric_words

    found = metric_words(
        cluster, watch.limits, readings.metrics, readings.metrics_before, readings.at, last_restart(listed)
    )
    yield from (Trouble(Sign.METRICS, words, True) for words in found)


def _moves(placed: Iterable[PlacedServer]) -> bool:
    return any(is_in_flight(server.member.status) for server in placed)


def _backup_words(backup: Record) -> str:
    tenant = one_line(backup.get("tenantName"))
    return f"backup {backup.get('taskId')}" + (f" of tenant {tenant}" if tenant else "")


def _restore_words(restore: Record, cluster: str) -> str:
    tenant, status = one_line(restore.get("restoreTenantName")), one_line(restore.get("status"))
    whom = f" of tenant {tenant}" if tenant else ""
    return f"restore {restore.get('id')}{whom} of {cluster} " + (f"is {status}" if status else "has not ended")


def _merge(cluster: str, placed: Iterable[PlacedServer]) -> Iterator[Trouble]:
    words = {word for server in placed for word in server.compaction if word.upper() != IDLE}
    if words:
        yield Trouble(Sign.MERGE, f"cluster {cluster} is merging: its compaction is {join_names(sorted(words))}", True)


def _versions(cluster: str, placed: Iterable[PlacedServer]) -> Iterator[Trouble]:
    servers: dict[str, list[str]] = {}
    for server in placed:
        if server.version is not None:
            servers.setdefault(server.version, []).append(server.member.name)
    if len(servers) > 1:
        shown = "; ".join(f"{version} ({join_names(names)})" for version, names in servers.items())
        yield Trouble(Sign.VERSIONS, f"the servers of {cluster} have different versions: {shown}", False)
