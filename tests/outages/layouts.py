# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Random layouts with what OCP shows of them: the rule of the modules against the truth about each log stream."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotFound
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.layout import Layout
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.server_states import OwnRestart, server_states
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.verdict import Taken, judge
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import placed_servers
from ansible_collections.oceanbase.ocp.tests.outages.log_streams import (
    Arbitration,
    LogStream,
    Server,
    Voter,
    is_stopped,
    reason,
)

CLUSTER, SERVICE = 1, 7
BATCH = 500
# Status and inner status, each shown by servers that are up, that are down, and by both.
UP = (("RUNNING", "ACTIVE"), ("RUNNING", None), (None, "ACTIVE"))
DOWN = (("UNAVAILABLE", "INACTIVE"), ("STOPPED", "INACTIVE"), ("UNAVAILABLE", None), ("DELETED", None))
VAGUE = (
    ("UNAVAILABLE", "ACTIVE"),
    ("STOPPED", "ACTIVE"),
    ("RUNNING", "INACTIVE"),
    ("ABNORMAL", "INACTIVE"),
    ("UNKNOWN", None),
    (None, "INACTIVE"),
)
MOVING = ("RESTARTING", "STARTING", "STOPPING")
SPELLINGS = {"FULL": ("FULL{1}", "F", "full"), "LOGONLY": ("LOGONLY{1}", "L"), "READONLY": ("READONLY{1}", "R{2}")}
FORMS = ("three full", "2F1A", "4F1A", "two full", "five full", "with log-only", "with read-only", "of any types")


@dataclass
class Shown:
    """What the service answers, and that restarts of this controller run."""

    servers: list[dict[str, Any]] = field(default_factory=list)
    listed: list[dict[str, Any]] = field(default_factory=list)
    tenant_list: list[dict[str, Any]] = field(default_factory=list)
    details: dict[int, dict[str, Any]] = field(default_factory=dict)
    services: list[dict[str, Any]] | None = field(default_factory=list)
    own: list[OwnRestart] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)

    def tenants(self, _cluster: int) -> list[dict[str, Any]]:
        """The list of tenants."""
        self.asked["tenants"] += 1
        return self.tenant_list

    def tenant(self, _cluster: int, number: int) -> dict[str, Any]:
        """A tenant with its units. Raises NotFound if these are not shown."""
        self.asked["units"] += 1
        if number not in self.details:
            raise _not_there()
        return self.details[number]

    def tasks(self, **_filters: Any) -> list[dict[str, Any]]:
        """Those of arbitration services: the status shows them."""
        return []

    def arbitration_services(self) -> list[dict[str, Any]]:
        """All arbitration services. Raises NotFound if the service has no such call."""
        self.asked["arbitration services"] += 1
        if self.services is None:
            raise _not_there()
        return self.services


@dataclass
class World:
    """A cluster in truth, what is shown of it, and what a restart takes: servers, or the arbitration service."""

    servers: dict[str, Server]
    zones: dict[str, list[str]]
    streams: list[LogStream]
    forms: dict[str, str]
    shown: Shown
    taken: frozenset[str]
    takes_service: bool


@dataclass(frozen=True)
class Finding:
    """What the rule and the truth say about one tenant."""

    tenant: str
    form: str
    refused: bool
    stopped: bool
    why: str = ""


@dataclass
class Tally:
    """Numbers of tenants: by what became of them, by form, and why what was safe is refused."""

    layouts: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    forms: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    unsafe: list[tuple[int, str]] = field(default_factory=list)
    unexplained: list[tuple[int, str]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add what others came to."""
        self.layouts += other.layouts
        self.counts.update(other.counts)
        self.forms.update(other.forms)
        self.reasons.update(other.reasons)
        self.unsafe += other.unsafe
        self.unexplained += other.unexplained


def random_world(random: Random) -> World:
    """A cluster of 1 to 5 zones with 1 to 4 tenants beside sys, in any state."""
    shown = Shown()
    zones = {f"z{zone}": [] for zone in range(random.choices((1, 2, 3, 4, 5), (5, 25, 30, 25, 15))[0])}
    servers: dict[str, Server] = {}
    ill = random.choice((0.0, 0.15, 0.3, 0.6))
    for zone, names in zones.items():
        for _place in range(random.choice((1, 1, 2, 3))):
            server = _random_server(random, shown, len(servers) + 1, zone, ill)
            servers[server.name] = server
            names.append(server.name)
    service = _random_service(random, shown, ill)
    takes_service = bool(shown.services) and random.random() < 0.15
    zone = random.choice(list(zones))
    some = [name for name in servers if random.random() < 0.4]
    taken = random.choice(([random.choice(list(servers))], [random.choice(list(servers))], zones[zone], some))
    world = World(servers, zones, [], {}, shown, frozenset() if takes_service else frozenset(taken), takes_service)
    for number in range(1, 2 + random.randint(1, 4)):
        _add_tenant(random, world, number, service)
    return world


def findings(world: World) -> Iterator[Finding]:
    """What the rule and the truth say about each tenant."""
    shown = world.shown
    placed = placed_servers({"zones": []}, shown.servers)
    states = server_states(placed, shown.listed, shown.own, world.taken)
    own = frozenset().union(*(each.arbiters for each in shown.own))
    taken = Taken(placed, states, SERVICE if world.takes_service else None, own)
    verdict = judge(Layout(shown, CLUSTER), taken, ())  # type: ignore[arg-type]
    refused = {outage.tenant.name for outage in verdict.refused}
    for tenant, form in world.forms.items():
        streams = [stream for stream in world.streams if stream.tenant == tenant]
        stopped = any(is_stopped(stream, world.servers, world.taken) for stream in streams)
        needs_reason = tenant in refused and not stopped
        why = reason(streams, world.servers, world.taken) if needs_reason else ""
        yield Finding(tenant, form, tenant in refused, stopped, why)


def tally_of(seeds: Iterable[int]) -> Tally:
    """The layouts of some seeds."""
    tally = Tally()
    for seed in seeds:
        world = random_world(Random(seed))
        tally.layouts += 1
        for found in findings(world):
            kind = _kind(found)
            tally.counts[kind] += 1
            tally.forms[found.form, kind] += 1
            if found.why:
                tally.reasons[found.why] += 1
            if found.stopped and not found.refused:
                tally.unsafe.append((seed, found.tenant))
            if found.why == "none of these":
                tally.unexplained.append((seed, found.tenant))
    return tally


def _kind(found: Finding) -> str:
    if found.stopped:
        return "refused, rightly" if found.refused else "allowed though a log stream stops"
    return "refused though safe" if found.refused else "allowed, rightly"


def report(tally: Tally) -> Iterator[str]:
    """The figures for a person."""
    counts = tally.counts
    yield f"{tally.layouts} layouts, {counts.total()} tenants in them"
    for kind in ("allowed, rightly", "refused, rightly", "refused though safe", "allowed though a log stream stops"):
        yield f"  {kind:36}{counts[kind]:9}"
    yield "  safe, but what is shown would fit with an outage, too, for want of certainty about:"
    for why, number in tally.reasons.most_common():
        yield f"    {why:34}{number:9}"
    yield "  by form: allowed rightly, refused rightly, refused though safe, unsafe"
    for form in FORMS:
        kinds = ("allowed, rightly", "refused, rightly", "refused though safe", "allowed though a log stream stops")
        yield f"    {form:20}" + "".join(f"{tally.forms[form, kind]:9}" for kind in kinds)
    for seed, tenant in tally.unsafe[:5]:
        yield f"  SEED {seed}: tenant {tenant} would lose a log stream, and the restart is allowed"
    for seed, tenant in tally.unexplained[:5]:
        yield f"  SEED {seed}: tenant {tenant} is refused, and nothing explains it"


def main() -> int:
    """0 if no restart is allowed that stops a log stream, and each refusal is explained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layouts", type=int, default=200_000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first (default: %(default)s)")
    options = parser.parse_args()
    began, tally = time.monotonic(), Tally()
    end = options.seed + options.layouts
    jobs = [range(first, min(first + BATCH, end)) for first in range(options.seed, end, BATCH)]
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for part in pool.imap(tally_of, jobs):
            tally.add(part)
    print("\n".join(report(tally)))
    print(f"  in {time.monotonic() - began:.0f} s", flush=True)
    return int(bool(tally.unsafe or tally.unexplained))


# Servers and arbitration services


def _random_server(random: Random, shown: Shown, number: int, zone: str, ill: float) -> Server:
    ip = f"10.0.0.{number}"
    record = {"id": number, "ip": ip, "port": 2882, "hostId": 100 + number, "zoneName": zone}
    up = random.random() >= ill / 2
    status, inner = random.choice(UP if up else DOWN)
    kind = random.choices(("clear", "vague", "moves"), (1 - ill, ill / 2, ill / 2))[0]
    if kind == "vague":
        status, inner = random.choice(VAGUE)
    elif kind == "moves":
        way = random.choice(("status", "task", "own"))
        if way == "status":
            status = random.choice(MOVING)
        elif way == "task":
            tags = [{"serverId": number}]
            shown.listed.append({"id": number, "name": "Restart OB server", "status": "RUNNING", "tags": tags})
        else:
            shown.own.append(OwnRestart(None, frozenset({f"{ip}:2882"}), frozenset()))
    if kind == "clear" and random.random() < 0.01:
        del record["zoneName"]
    shown.servers.append({**record, "status": status, "innerStatus": inner})
    return Server(f"{ip}:2882", up, moves=kind == "moves", vague=kind == "vague")


def _random_service(random: Random, shown: Shown, ill: float) -> Arbitration | None:
    """The arbitration service of the cluster; it may serve another one, too."""
    is_shown = random.random() >= 0.15
    if random.random() < 0.3:
        shown.services = [] if is_shown else None
        return None
    up = random.random() >= ill / 2
    status = random.choice(("RUNNING", None) if up else ("UNAVAILABLE", "STOPPED"))
    kind = random.choices(("clear", "vague", "moves"), (1 - ill / 2, ill / 4, ill / 4))[0]
    if kind == "vague":
        status = random.choice(("ABNORMAL", "OFFLINE"))
    elif kind == "moves":
        if random.random() < 0.5:
            status = random.choice(MOVING)
        else:
            shown.own.append(OwnRestart(None, frozenset(), frozenset({SERVICE})))
    record = {"id": SERVICE, "svrIp": "10.0.9.1", "svrPort": 2888, "status": status}
    others = [{"id": 2, "name": "other", "tenants": [{"name": "t2", "degradedLsIdList": [1]}]}]
    here: dict[str, Any] = {random.choice(("id", "clusterId")): CLUSTER, "tenants": []}
    if random.random() < 0.05:
        del here["tenants"]
    assert shown.services is not None
    shown.services.append({**record, "clusters": [*(others if random.random() < 0.4 else []), here]})
    if not is_shown:
        shown.services = None
    return Arbitration(up, moves=kind == "moves", vague=kind == "vague")


# Tenants


@dataclass(frozen=True)
class _Replica:
    """The replica of a tenant in a zone: its type as it is written, and whether it votes and has the data in truth."""

    zone: str
    word: str
    votes: bool
    full: bool
    named: bool = True


def _add_tenant(random: Random, world: World, number: int, service: Arbitration | None) -> None:
    name = "sys" if number == 1 else f"t{number}"
    form, replicas = _random_replicas(random, list(world.zones), has_service=service is not None)
    is_arbitrated = form in ("2F1A", "4F1A")
    record: dict[str, Any] = {"id": number, "name": name, "clusterId": CLUSTER}
    if random.random() < 0.05:
        replicas = [_Replica(each.zone, each.word, each.votes, each.full, named=False) for each in replicas]
        record["zoneList"] = ";".join(each.zone for each in replicas)
    else:
        record["locality"] = ", ".join(_spelt(random, each) for each in replicas)
    world.shown.tenant_list.append(record)
    world.forms[name] = form
    units, places = _random_units(random, world, number, replicas)
    arbitration = _arbitration(world, service if is_arbitrated else None)
    degraded = []
    for stream in range(1, 1 + random.choice((1, 2, 3))):
        voters = tuple(
            Voter(random.choice(units[each.zone]), each.full, places[each.zone], each.named)
            for each in replicas
            if each.votes
        )
        imagined = tuple(
            Voter(units[each.zone][0], True, places[each.zone], named=False)
            for each in replicas
            if not each.votes and not each.named
        )
        half: frozenset[int] = frozenset()
        if is_arbitrated and _here(world) is not None and random.random() < 0.25:
            half = frozenset(random.sample(range(len(voters)), len(voters) // 2))
            degraded.append(1000 + stream)
        world.streams.append(LogStream(name, voters, half, arbitration, imagined))
    here = _here(world)
    if is_arbitrated and here is not None:
        key = random.choice(({"name": name}, {"tenantName": name}, {"tenantId": number}, {"id": number}))
        here.append({**key, "degradedLsIdList": degraded})


def _arbitration(world: World, service: Arbitration | None) -> Arbitration | None:
    """The service of a tenant in truth; vague, also if there is none, if it is not shown which tenants have one."""
    if world.shown.services == []:
        return None
    is_shown, taken = _here(world) is not None, world.takes_service
    if service is None:
        return None if is_shown else Arbitration(up=False, taken=taken, vague=True)
    return Arbitration(service.up, service.moves, taken, vague=service.vague or not is_shown)


def _here(world: World) -> list[dict[str, Any]] | None:
    """The tenants that the arbitration service shows for the cluster; None if they are not shown."""
    services = world.shown.services
    return services[0]["clusters"][-1].get("tenants") if services else None


def _random_replicas(random: Random, zones: list[str], *, has_service: bool) -> tuple[str, list[_Replica]]:
    random.shuffle(zones)
    count = len(zones)
    forms = {
        "2F1A": has_service and count >= 2,
        "4F1A": has_service and count >= 4,
        "three full": count >= 3,
        "two full": count >= 2,
        "five full": count >= 5,
        "with log-only": count >= 2,
        "with read-only": count >= 2,
    }
    possible = [form for form, holds in forms.items() if holds]
    form = random.choice([*possible, *(each for each in ("2F1A", "4F1A") if each in possible), "of any types"])
    full = {"2F1A": 2, "4F1A": 4, "three full": 3, "two full": 2, "five full": 5}.get(form)
    if full is not None:
        learners = zones[full:] if random.random() < 0.3 else []
        words = ["FULL"] * full + ["READONLY"] * len(learners)
    else:
        more = {"with log-only": ("FULL", "LOGONLY"), "with read-only": ("FULL", "READONLY", "COLUMNSTORE")}.get(
            form, ("FULL", "LOGONLY", "READONLY", "COLUMNSTORE", "WITNESS")
        )
        words = ["FULL", *(random.choice(more) for _zone in range(random.randint(0, count - 1)))]
    return form, [_replica(random, zone, word) for zone, word in zip(zones, words, strict=False)]


def _replica(random: Random, zone: str, word: str) -> _Replica:
    if word == "WITNESS":
        votes = random.random() < 0.6
        return _Replica(zone, word, votes, votes and random.random() < 0.5, named=False)
    return _Replica(zone, word, word in ("FULL", "LOGONLY"), word == "FULL")


def _spelt(random: Random, replica: _Replica) -> str:
    word = random.choice(SPELLINGS.get(replica.word, (replica.word,)))
    more = ",READONLY{1}" if replica.word == "FULL" and random.random() < 0.1 else ""
    return f"{word}{more}@{replica.zone}"


def _random_units(
    random: Random, world: World, number: int, replicas: Sequence[_Replica]
) -> tuple[dict[str, list[str]], dict[str, tuple[str, ...]]]:
    """Where the replicas of a tenant are, and where they may be by what is shown; both by zone."""
    units: dict[str, list[str]] = {}
    places: dict[str, tuple[str, ...]] = {}
    detail: list[dict[str, Any]] = []
    is_shown, wanted = random.random() < 0.85, random.choice((1, 1, 2))
    hidden = [f"{one['ip']}:{one['port']}" for one in world.shown.servers if "zoneName" not in one]
    for replica in replicas:
        there = world.zones[replica.zone]
        units[replica.zone] = chosen = random.sample(there, min(wanted, len(there)))
        records = [_unit(random, name) for name in chosen]
        spare = [name for name in there if name not in chosen]
        moves = bool(spare) and random.random() < 0.15
        if moves:
            target = random.choice(spare)
            records[0] = {**_unit(random, target), "status": random.choice(("MIGRATING", "DELETING"))}
            units[replica.zone] = [*chosen, target]
        is_told = is_shown and random.random() < 0.95
        is_sure = is_told and not moves
        places[replica.zone] = tuple(chosen) if is_sure else tuple(dict.fromkeys([*there, *hidden]))
        kind = {} if not replica.named else {"replicaType": replica.word}
        detail.append({"name": replica.zone, **kind, "units": records if is_told else []})
    if is_shown:
        world.shown.details[number] = {"id": number, "zones": detail}
    return units, places


def _unit(random: Random, server: str) -> dict[str, Any]:
    ip, port = server.split(":")
    by_id = {"serverId": int(ip.rpartition(".")[2])}
    by_address = {"serverIp": ip, "serverPort": int(port)}
    return {**random.choice((by_id, by_address, {**by_id, **by_address})), "status": random.choice(("ACTIVE", None))}


def _not_there() -> NotFound:
    return NotFound("Refused with 404.", status=404, reason="", url="http://ocp.test", may_have_run=False)


if __name__ == "__main__":
    sys.exit(main())
