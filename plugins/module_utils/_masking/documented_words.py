# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The words of documented keys, states and task names, which are the only words that a masked recording keeps."""

from __future__ import annotations

import re
from functools import lru_cache

# Add only words that nobody would give as a name to a cluster, host or user.
_WORDS = """
    a accessible action actions active actual addition additional address agent agentd agents alarm alarms algorithm
    alias all allowed am an and answer answers app arbitration architecture architectures array artifact at attempt
    attempts audit autostart available backup backups batch been begin boot bootstrap build by bytes call cancel
    canceled canceling cannot charset check class clean client cluster clusters code collation command committed
    compaction complete completed computed config configuration connections contents context core could count cpu
    create created creating creator current data day default definition degraded delete deleted deleting deploy
    deployed desc description detail did dimension discovered disk display does done downstream downstreams drop
    duration dynamic each eight elapsed element elements enable enabled encoding encrypt end endpoint env equal error
    errors evaluation event events exception execute executing execution executor exist exists expected exporter extra
    fail failed failover failure false file finish finished flag flags flow for force foreign former found freeze from
    full gmt group hardware has have health hierarchy history home host hosts id idc idcs identifier idle ids idx if
    in inactive index info initial inner input inspection install instance instances internal interval introduced
    invalid io ip ips is it item items java job jobs kernel key keys kind kinds label labels largest largevalue last
    leader leaf left level levelname levels limit limitation limits line link links list load local locality locked
    log logs long ls major majority make manage manager manual map master max maximum md5 memory merge message
    messages metric metrics mgragent mib min minimum minute minutes mode model modified modify modifying module
    modules monagent monitor month mount moving movingout mysql name names need net new next nic nics no node nodes
    none normal not null number numbers ob obcluster object obproxies obproxy obregion observer ocp ocpagent of
    offline old on online operable operate operating operation operations operator optimized optional or oracle order
    origin output oversell package page pages parallel parameter parameters part parts password path pattern pending
    percent period permission pid pids plan plans pool port ports pos prepare primary privilege process processes
    progress prohibit protocol proxies proxy publish query range ratio read readable readonly ready real reason reboot
    rebuild recent recommended record records recover recv reduced reference region regions release remote remove
    replica replicas report request resolved resource resources response restart restarting result results retry role
    rollback root rootserver rootservice rule rules run running runtime schedule schema scope secondary seconds
    section seed send sequence serial series server servers service services session sessions set severity short show
    single size skip skipped slot snapshot software sort source specification spring sql ssh standby start started
    starting startup state states static status stop stopped stopping storage strategy string subnet subtask subtasks
    success successful summary support supported suspended svr switchover sync synchronized system tag tags takingover
    target targets task tasks template tenant tenants the there this threshold time timeout times timestamp timezone
    title to topo topology total trace true type types unavailable unhealthy unit units unknown update updated
    updating upgrade upstream upstreams uptime urgent uri url use used user users utc vague valid value values vendor
    version versions virtual visible voter voters vpc wait waiting warn warning was weight were whitelist with without
    work worker writable x86 zone zones
"""
WORDS = frozenset(_WORDS.split())
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+[0-9]{0,2}")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@lru_cache(maxsize=10_000)
def is_documented(word: str) -> bool:
    """Whether each part of a word in camelCase, snake_case or CAPITALS is one of WORDS."""
    if not _WORD.fullmatch(word):
        return False
    pieces = [piece for piece in word.split("_") if piece]
    return all("".join(_PART.findall(piece)) == piece and _parts_known(piece) for piece in pieces)


def _parts_known(piece: str) -> bool:
    return all(part.lower() in WORDS for part in _PART.findall(piece))
