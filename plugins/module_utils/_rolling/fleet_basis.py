# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The plan of a fleet restart as a document that is kept for approval, or as far as the approved one is left."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from .approved_plan import FLEET, sealed, server_key, steps_left
from .plan_basis import Approval, Basis, as_approved, total_seconds, voters_lost, without_expectations

Result = dict[str, Any]


def fleet_with_approval(
    found: Result, bases: Mapping[int, Basis], busy: Collection[int], options: Result, approval: Approval
) -> Result:
    """The plan of a fleet restart ``found`` now, with what each cluster rests on by its id; see as_approved."""
    return as_approved(found, _document(found, bases, options), busy, approval, lambda approved: _left(found, approved))


def _left(found: Result, approved: Result) -> Result:
    servers = [server for wave in found["waves"] for server in wave["servers"]]
    steps = [without_expectations(wave) for wave in approved["waves"]]
    return {"waves": steps_left(steps, servers, set(map(server_key, servers)))}


def _document(found: Result, bases: Mapping[int, Basis], options: Result) -> Result:
    """The plan as it is written."""
    waves = [_expected(wave, bases) for wave in found["waves"]]
    return sealed(
        {
            "kind": FLEET,
            "options": options,
            "clusters": [basis.facts for basis in bases.values()],
            "refused": found["refused"],
            "message": found["message"],
            "waves": waves,
            "requests": sum(len(wave["servers"]) for wave in waves),
            "seconds": total_seconds(waves),
        }
    )


def _expected(wave: Result, bases: Mapping[int, Basis]) -> Result:
    """A wave with the tenants that lose a voter meanwhile, and for how long: as the longest past restart took."""
    places = dict.fromkeys((server["cluster_id"], server["zone"]) for server in wave["servers"])
    times = [bases[cluster].seconds["server"] for cluster, _zone in places]
    lost = [
        {"cluster": bases[cluster].facts["name"], "zone": zone, "tenants": voters_lost(bases[cluster], zone)}
        for cluster, zone in places
    ]
    known = [seconds for seconds in times if seconds is not None]
    return {
        **wave,
        "tenants_without_a_voter": lost,
        "seconds": max(known) if len(known) == len(times) else None,
    }
