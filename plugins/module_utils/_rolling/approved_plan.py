# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A plan that is approved before its run: its JSON form, its digest, and what has changed since it was made.

Everything here is a function of values. docs/approved-plan.md describes the form for people.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from .._base.errors import OptionError, PlanChanged
from .._targets.serving import database_serves, is_in_flight

Result = dict[str, Any]
# The number of the form. A form with another number is refused, not guessed.
SCHEMA = 1
ROLLING, FLEET = "rolling_restart", "fleet_restart"
# Keys of a server and of a tenant that a plan rests on, with the words for each.
SERVER_KEYS = {"id": "id", "zone": "zone", "status": "status", "idc": "IDC", "region": "region"}
TENANT_KEYS = {"id": "id", "voters": "voters", "locality": "locality", "primary_zone": "primary zone"}
# A message names no more differences than these; the rest are counted.
MOST_NAMED = 50


def digest_of(value: object) -> str:
    """The digest of a JSON value, whatever the order of its keys, as in ``sha256:2c26b4...``."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def sealed(plan: Mapping[str, Any]) -> Result:
    """The plan with its form's number, and the digests of its options and of all of it."""
    whole = {**plan, "schema": SCHEMA, "options_digest": digest_of(plan["options"])}
    return {**whole, "digest": digest_of(whole)}


def plan_text(plan: Mapping[str, Any]) -> str:
    """The text of the file of a plan."""
    return f"{json.dumps(plan, indent=2, sort_keys=True)}\n"


def parsed_plan(text: str, kind: str, named: str) -> Result:
    """The plan in the text of a file; ``named`` is the option and the file. Raises OptionError."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise OptionError(f"{named} is not JSON ({error}); give the file of a plan that was approved.") from error
    if not isinstance(found, dict) or not {"schema", "digest", "kind"} <= found.keys():
        raise OptionError(f"{named} is not a plan; give the file of a plan that was approved.")
    if found["schema"] != SCHEMA:
        raise OptionError(
            f"{named} has schema {found['schema']}, and this version reads {SCHEMA}; make a new plan and have it "
            "approved."
        )
    if found["kind"] != kind:
        raise OptionError(f"{named} is a plan for {found['kind']}, not for {kind}; give the file of this run.")
    written = found["digest"]
    digest = digest_of({key: value for key, value in found.items() if key != "digest"})
    if digest != written:
        raise OptionError(
            f"{named} was edited: its content has the digest {digest}, and it says {written}. Make a new plan and have "
            "it approved."
        )
    return found


def check_unchanged(
    approved: Result, now: Result, named: str, busy: Collection[int], option_name: Callable[[str], str]
) -> None:
    """Make sure that nothing differs but what the run itself has done.

    ``busy`` are the ids of the clusters on which a restart runs now. Raises PlanChanged, which names each difference.
    """
    found = list(differences(approved, now, busy, option_name))
    if not found:
        return
    count = "1 difference" if len(found) == 1 else f"{len(found)} differences"
    more = [f"and {len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
    raise PlanChanged(
        "\n".join(
            [
                f"Nothing was sent, since {named} does not fit any more ({count}):",
                *(f"- {line}" for line in [*found[:MOST_NAMED], *more]),
                f"Look at each, then make a new plan with {option_name('plan_file')}, and have it approved.",
            ]
        )
    )


def differences(
    approved: Result, now: Result, busy: Collection[int] = (), option_name: Callable[[str], str] = str
) -> Iterator[str]:
    """What differs from the approved plan, a line each, without the progress of its own run.

    A server that the plan restarts may need no restart any more, then it may serve again, and it may be at work while a
    restart runs on its cluster.
    """
    old, new = approved["options"], now["options"]
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield f"{option_name(name)} is {_shown(new.get(name))} now, the plan has {_shown(old.get(name))}"
    clusters = {cluster["id"]: cluster for cluster in now["clusters"]}
    planned = {cluster["id"]: cluster for cluster in approved["clusters"]}
    for number, before in planned.items():
        after = clusters.get(number)
        if after is None:
            yield f"cluster {before['name']} (id {number}) is not in scope now"
            continue
        if before["name"] != after["name"]:
            yield f"the cluster with id {number} is {after['name']} now, the plan has {before['name']}"
        yield from (f"cluster {before['name']}: {line}" for line in _of_cluster(before, after, number in busy))
    for number in clusters.keys() - planned.keys():
        yield f"cluster {clusters[number]['name']} (id {number}) is in scope now, and not in the plan"


def _of_cluster(before: Result, after: Result, is_busy: bool) -> Iterator[str]:
    old, new = _by_name(before["servers"]), _by_name(after["servers"])
    for name, server in old.items():
        if name in new:
            yield from (f"server {name} {line}" for line in _of_server(server, new[name], is_busy))
        else:
            yield f"server {name} is gone"
    yield from (f"server {name} is new" for name in new if name not in old)
    yield from _root_moved(before, after, is_busy)
    yield from _of_tenants(_by_name(before["tenants"]), _by_name(after["tenants"]))


def _of_server(old: Result, new: Result, is_busy: bool) -> Iterator[str]:
    is_done = old["needed"] is True and new["needed"] is False
    is_at_work = old["needed"] is True and is_busy and is_in_flight(new["status"])
    is_back = is_done and database_serves(new["status"]) is True
    for key, words in SERVER_KEYS.items():
        if old[key] != new[key] and not (key == "status" and (is_at_work or is_back)):
            yield f"has the {words} {_shown(new[key])} now, the plan has {_shown(old[key])}"
    if new["needed"] != old["needed"] and not is_done:
        needs = {True: "needs a restart", False: "needs no restart", None: "is not in scope"}
        why = f" ({new['reason']})" if new["reason"] else ""
        yield f"{needs[new['needed']]} now{why}, in the plan it {needs[old['needed']]}"
    if not is_done:
        yield from _values_moved(old["values"], new["values"])


def _values_moved(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield f"shows {name}={_shown(new.get(name))} now, the plan has {_shown(old.get(name))}"


def _root_moved(before: Result, after: Result, is_busy: bool) -> Iterator[str]:
    """Where the root server is now. The restart of a root server moves it, which is no surprise."""
    old, new = ([one["name"] for one in shown["servers"] if one["root"]] for shown in (before, after))
    by_name = _by_name(after["servers"])
    own = [
        by_name[one["name"]] for one in before["servers"] if one["root"] and one["needed"] and one["name"] in by_name
    ]
    is_own = any(one["needed"] is False or (is_busy and is_in_flight(one["status"])) for one in own)
    if old != new and not is_own:
        yield f"the root server is {', '.join(new) or 'not shown'} now, the plan has {', '.join(old) or 'none'}"


def _of_tenants(old: Mapping[str, Result], new: Mapping[str, Result]) -> Iterator[str]:
    for name, tenant in old.items():
        if name not in new:
            yield f"tenant {name} is gone"
            continue
        for key, words in TENANT_KEYS.items():
            if tenant[key] != new[name][key]:
                yield f"tenant {name} has the {words} {_shown(new[name][key])} now, the plan has {_shown(tenant[key])}"
    yield from (f"tenant {name} is new" for name in new if name not in old)


def _by_name(records: Sequence[Result]) -> dict[str, Result]:
    return {record["name"]: record for record in records}


def _shown(value: object) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, sort_keys=True)


def steps_left(
    approved: Sequence[Result], servers: Sequence[Result], needed: Collection[tuple[int, int]], *, whole: bool = False
) -> list[Result]:
    """The batches or waves of the approved plan that are left, in their order, with new numbers.

    ``servers`` are those of the fresh plan, ``needed`` the keys of those that need a restart now. With ``whole`` a
    batch stays as it is while one of its servers needs the restart.
    """
    known = {server_key(one): one for one in servers}
    left: list[Result] = []
    for step in approved:
        keys = [server_key(one) for one in step["servers"]]
        if any(key in needed for key in keys):
            kept = [known[key] for key in keys if key in known and (whole or key in needed)]
            left.append({**step, "number": len(left) + 1, "servers": kept})
    return left


def server_key(server: Mapping[str, Any]) -> tuple[int, int]:
    """The ids of the cluster and of the server of a plan."""
    return server["cluster_id"], server["id"]
