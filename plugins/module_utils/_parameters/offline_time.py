# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How long a server may be offline, raised for the length of a run: noted before it is set, put back whoever raised it.

The note goes only after the old value was read back, so a run that is killed leaves one, or has changed nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol
from uuid import uuid4

from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import OcpError, OfflineTimeRaised, OptionError
from .._base.text import join_names
from .._journal.folder_lifetime import check_folder_lasts
from .._journal.journal import Journal
from .._journal.open_journal import open_journal
from .._ocp.endpoints import OcpApi
from .._targets.lookup import find_cluster
from .parameter import Parameter
from .parameter_value import OFFLINE_TIME, Kind, microseconds_of, same_value
from .read_parameters import ClusterParameters, read_cluster_parameters
from .wanted_parameters import check_wanted

Facts = dict[str, Any]

FACT = "offline time"
OPTION = "raise_offline_time"
# Seconds. A new value reaches all servers within some; others keep the lock while they note and set.
SETTLE_TIME, PAUSE, LOCK_TIMEOUT = 30.0, 1.0, 120.0
COMMAND = "ansible localhost -m oceanbase.ocp.cluster_offline_time -a 'state=restored'"


@dataclass(frozen=True)
class RaisedRow:
    """What the journal has of a cluster whose offline time is raised.

    ``servers`` are its addresses, which tell it from a cluster of another service with the same id. ``old`` is the
    value to put back, ``ours`` are those that runs of this journal have set. ``token`` is of whoever wrote the row
    last. ``at`` is when it was raised first, in UTC.
    """

    cluster: str
    servers: tuple[str, ...]
    old: str
    ours: tuple[str, ...]
    token: str
    at: str

    def is_known(self, value: str) -> bool:
        """Whether the cluster shows this because of the rows, or did before them."""
        return any(same_value(value, each, Kind.TIME) for each in (self.old, *self.ours))


def offline_time_journal(
    journal_url: str | None, *, raises: bool, read_only: bool, option: str = OPTION, clock: Clock = SYSTEM_CLOCK
) -> Journal:
    """The journal for the rows. If the time is to be raised, it has to last. Raises OptionError and JournalError."""
    if raises and not journal_url:
        check_folder_lasts(f"{option}: it", "")
    return open_journal(journal_url, read_only=read_only, is_required=raises, warnings=[], clock=clock)


class OfflineTime:
    """The offline time of one cluster, which is given by its id. ``say`` gets a line for each change.

    ``value`` is what it is raised to; None if this run does not raise it, and only puts back what another one left.
    """

    def __init__(
        self,
        api: OcpApi,
        journal: Journal,
        cluster_id: int,
        value: str | None,
        say: Callable[[str], None],
        clock: Clock = SYSTEM_CLOCK,
        option: str = OPTION,
    ) -> None:
        self._api = api
        self._journal = journal
        self._id = cluster_id
        self._value = value
        self._say = say
        self._clock = clock
        self._option = option
        self._token = ""
        self._is_high_enough = False
        # Addresses of the servers, as they were read last.
        self.servers: tuple[str, ...] = ()

    @property
    def is_noted(self) -> bool:
        """Whether the journal has a row for a cluster with this id."""
        return bool(self._rows())

    def keep(self) -> bool:
        """Raise it, unless this run has and nobody has written the row since; returns whether something was set.

        Raises OptionError, OcpError, JournalError and ServiceError.
        """
        if (
            self._value is None
            or self._is_high_enough
            or (self._token and any(row.token == self._token for row in self._rows()))
        ):
            return False
        with self._locked():
            found = self._read()
            row = self._own(found)
            shown = _shown(found)
            if row is not None and not all(map(row.is_known, shown)):
                self._say(self._others_words(row, shown))
                self._drop(row)
                row = None
            row = self._raised_row(found, row, shown)
            if row is None:
                self._is_high_enough = True
                return False
            self._note(row)
            if all(_at_least(value, self._value) for value in shown):
                return False
            self._say(f"{OFFLINE_TIME} of {row.cluster} is raised from {row.old} to {self._value} for this run")
            self._set(self._value)
        self._settled(found, self._value)
        return True

    def restore(self) -> str:
        """Put back the old value if there is a row; returns what was done in words, empty if there is none.

        Raises OfflineTimeRaised if the old value does not show; JournalError and ServiceError.
        """
        if not self.is_noted:
            return ""
        with self._locked():
            found = self._read()
            row = self._own(found)
            if row is None:
                return ""
            shown = _shown(found)
            if not shown:
                raise self._left(row, "The service does not show it now")
            if not all(map(row.is_known, shown)):
                self._drop(row)
                return self._told(self._others_words(row, shown))
            row = replace(row, token=uuid4().hex)
            self._note(row)
            # Also where all show the old value: the request of a run that was killed may not have reached them yet.
            self._set(row.old)
        if not self._settled(found, row.old):
            raise self._left(
                row, f"It was set to {row.old}, and does not show on all servers after {SETTLE_TIME:g} seconds"
            )
        with self._locked():
            # Another run may have raised it meanwhile.
            if any(each.token == row.token for each in self._rows()):
                self._drop(row)
        return self._told(f"{OFFLINE_TIME} of {row.cluster} is {row.old} again")

    def carried_out(self) -> str:
        """Raise it, or put it back without a value; returns what was done in words. Raises what these raise."""
        if self._value is None:
            return self.restore()
        return f"{OFFLINE_TIME} of cluster {self._id} is {self._value} now" if self.keep() else ""

    def foretold(self) -> str:
        """What this run would do, in words; empty if nothing. Raises OptionError and ServiceError."""
        found = self._read()
        row, shown = self._own(found), _shown(found)
        if row is not None and self._value is None:
            return f"would put {OFFLINE_TIME} of {row.cluster} back to {row.old}"
        if self._value is None:
            return ""
        raised = self._raised_row(found, row, shown)
        is_there = raised is None or all(_at_least(value, self._value) for value in shown)
        if is_there:
            return "" if row is None else f"would put {OFFLINE_TIME} of {row.cluster} back to {row.old} in the end"
        old = row.old if row is not None else shown[0]
        name = found.cluster_name
        return f"would raise {OFFLINE_TIME} of {name} from {old} to {self._value}, and put it back in the end"

    def _raised_row(self, found: ClusterParameters, row: RaisedRow | None, shown: tuple[str, ...]) -> RaisedRow | None:
        """The row to note before the value is set; None if it is raised anyhow. Raises OptionError."""
        value, name = self._value or "", found.cluster_name
        check_wanted(self._option, {OFFLINE_TIME: value}, found.by_name, name)
        self._token = uuid4().hex
        if row is not None:
            return replace(row, ours=tuple(dict.fromkeys([*row.ours, value])), token=self._token)
        if not shown:
            raise OptionError(
                f"{self._option}: the service does not show {OFFLINE_TIME} of cluster {name}, so it could not be put "
                "back; leave the option out. Nothing was sent."
            )
        if any(not same_value(shown[0], each, Kind.TIME) for each in shown):
            raise OptionError(
                f"{self._option}: the servers of cluster {name} have different values of {OFFLINE_TIME} "
                f"({join_names(dict.fromkeys(shown))}), and OCP sets one for all, so they could not be put back; leave "
                "the option out, or give all the same value. Nothing was sent."
            )
        if _at_least(shown[0], value):
            return None
        at = datetime.fromtimestamp(self._clock.wall(), UTC).isoformat(timespec="seconds")
        return RaisedRow(name, found.servers, shown[0], (value,), self._token, at)

    def _read(self) -> ClusterParameters:
        found = read_cluster_parameters(self._api, str(self._id))
        self.servers = found.servers
        return found

    def _set(self, value: str) -> None:
        # A lease that was lost ends here.
        self._journal.renew()
        self._api.set_cluster_parameters(self._id, {OFFLINE_TIME: value})

    def _settled(self, found: ClusterParameters, value: str) -> bool:
        """Whether all servers show the value, within ``SETTLE_TIME``."""
        began = self._clock.now()
        while True:
            shown = _shown(found.read_again(self._api))
            if shown and all(same_value(each, value, Kind.TIME) for each in shown):
                return True
            if self._clock.now() - began >= SETTLE_TIME:
                return False
            self._clock.sleep(PAUSE)

    def _left(self, row: RaisedRow, why: str) -> OfflineTimeRaised:
        return OfflineTimeRaised(
            f"The parameter {OFFLINE_TIME} of cluster {row.cluster} was {row.old} before a run raised it. {why}. The "
            f"journal keeps this, and the next run puts it back. Or run: {COMMAND}"
        )

    def _others_words(self, row: RaisedRow, shown: tuple[str, ...]) -> str:
        return (
            f"{OFFLINE_TIME} of {row.cluster} is {join_names(dict.fromkeys(shown))}, which no run has set, so somebody "
            f"else has; it is left as it is, and not put back to {row.old}"
        )

    def _told(self, words: str) -> str:
        self._say(words)
        return words

    # The rows

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._journal.lock([f"{FACT} of cluster {self._id}"], self._clock, LOCK_TIMEOUT):
            yield

    @property
    def _key(self) -> tuple[str, int]:
        # Controllers that share a journal may reach a service by different addresses.
        return ("" if self._journal.is_shared else self._api.url, self._id)

    def _rows(self) -> list[RaisedRow]:
        return _rows(self._journal.recall(FACT, self._key))

    def _own(self, found: ClusterParameters) -> RaisedRow | None:
        """The row of this cluster, whatever its name was then."""
        return next((row for row in self._rows() if set(row.servers) & set(found.servers)), None)

    def _note(self, row: RaisedRow) -> None:
        """Write it in place of the row of the same cluster."""
        self._write([*(each for each in self._rows() if not set(each.servers) & set(row.servers)), row])

    def _drop(self, row: RaisedRow) -> None:
        self._write([each for each in self._rows() if not set(each.servers) & set(row.servers)])

    def _write(self, rows: list[RaisedRow]) -> None:
        if rows:
            self._journal.remember(FACT, self._key, json.dumps([asdict(row) for row in rows]))
        else:
            self._journal.forget(FACT, self._key)


class Held(Protocol):
    """What is raised and put back: the offline time of one cluster, or of many."""

    def keep(self) -> object:
        """See ``OfflineTime.keep``."""

    def restore(self) -> object:
        """See ``OfflineTime.restore``."""


@contextmanager
def raised_while(held: Held) -> Iterator[None]:
    """Raise it, and put it back in the end, whatever happens. What another run left raised is put back too.

    Raises what ``OfflineTime`` raises. The error of the body comes first; that of the end is its advice.
    """
    try:
        held.keep()
        yield
    except BaseException as error:
        try:
            held.restore()
        except OcpError as left:
            if isinstance(error, OcpError):
                error.add_advice(str(left))
        raise
    held.restore()


def change_offline_time(
    api: OcpApi,
    cluster: str | None,
    value: str | None,
    journal_url: str | None,
    *,
    check_mode: bool,
    say: Callable[[str], None],
    clock: Clock = SYSTEM_CLOCK,
) -> Facts:
    """The result of the module: the cluster is raised to the ``value``, or put back without one.

    Without ``cluster`` all are put back that the journal has as raised. Raises an OcpError, once all were tried.
    """
    option = "raise_to"
    journal = offline_time_journal(
        journal_url, raises=value is not None, read_only=check_mode, option=option, clock=clock
    )
    numbers = noted_clusters(journal, api.url) if cluster is None else [find_cluster(api, cluster)["id"]]
    done: list[str] = []
    servers: list[str] = []
    failed: list[OcpError] = []
    for number in numbers:
        held = OfflineTime(api, journal, number, value, say, clock, option)
        try:
            words = held.foretold() if check_mode else held.carried_out()
        except OcpError as error:
            failed.append(error)
            continue
        done += [words] if words else []
        servers += held.servers if words else ()
    if failed:
        failed[0].facts["changed"] = bool(done) and not check_mode
        raise failed[0]
    nothing = f"{OFFLINE_TIME} is not raised by a run." if value is None else f"{OFFLINE_TIME} is at least {value}."
    return {"changed": bool(done), "reason": f"{'; '.join(done)}." if done else nothing, "servers": servers}


def noted_clusters(journal: Journal, url: str) -> list[int]:
    """The ids of the clusters whose offline time the journal has as raised, at the service with this address."""
    service = "" if journal.is_shared else url
    keys = [each["key"] for each in journal.entries()["facts"] if each["kind"] == FACT]
    return [int(number) for of, number in keys if of == service]


def _rows(kept: str | None) -> list[RaisedRow]:
    found = json.loads(kept) if kept else []
    return [RaisedRow(**{**each, "servers": tuple(each["servers"]), "ours": tuple(each["ours"])}) for each in found]


def _shown(found: ClusterParameters) -> tuple[str, ...]:
    """The values that servers show, or the cluster where no server is shown; empty if nothing is."""
    parameter: Parameter | None = found.by_name.get(OFFLINE_TIME)
    if parameter is None:
        return ()
    of_servers = [value for value in parameter.values.values() if value is not None]
    return tuple(of_servers or parameter.cluster_values)


def _at_least(value: str, wanted: str) -> bool:
    one, other = microseconds_of(value), microseconds_of(wanted)
    return one is not None and other is not None and one >= other
