# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The words of documented keys, states and task names: the only words that a masked recording keeps."""

from __future__ import annotations

import re

# Whoever adds one takes care that nobody would give it as a name to a cluster, host or user.
WORDS = frozenset(
    """
    a accessible action actions active actual address agent agents alarm alarms alias all allowed am an and answer
    answers app arbitration architecture array artifact at attempt attempts audit available backup backups batch been
    begin boot bootstrap build by call cancel canceled cannot charset check class clean client cluster clusters code
    collation command compaction complete completed config contents context core could count cpu create created
    creating creator current data day default definition degraded delete desc deleted deleting description detail did
    dimension disk display does done downstream downstreams drop duration each elapsed element elements enable enabled
    encrypt end endpoint env error errors evaluation event events exception execute executing execution executor exist
    exists expected exporter extra fail failed failover failure false file finish finished flag flags for force former
    found freeze from full gmt group has have history home host hosts id idc idcs idle ids idx if in inactive info inner
    input inspection install instance instances interval invalid io ip ips is it item items java job jobs kernel key
    kind kinds label labels last leader left level levels limit limits line link links list load local locality locked
    log logs long ls major majority make manage manager manual map master max md5 memory merge message messages metric
    metrics min minute minutes mode model modified modify modifying module modules monagent monitor month moving
    movingout mysql name names need net new next no node nodes none normal not null number numbers ob obcluster object
    obproxies obproxy observer obregion ocp ocpagent of offline old on online operable operate operating operation
    operations operator optional or oracle order origin output package page pages parallel parameter parameters part
    parts password path pattern pending permission pid pids pool port ports pos prepare primary privilege process
    processes progress prohibit proxies proxy publish query range ratio read readonly ready real reason reboot record
    records recover recv reduced reference region regions release remote remove replica replicas report request
    resolved resource resources response restart restarting result results retry role rollback root rootserver
    rootservice rule rules run running runtime schedule scope seconds secondary section send sequence serial series
    server servers service services set short show single size skip skipped software sort source specification spring
    sql ssh standby start started starting startup state states status stop stopped stopping storage string subtask
    subtasks success successful summary support supported svr switchover sync system tag tags takingover target targets
    task tasks template tenant tenants the there this threshold time timeout times timestamp title to topo topology
    total trace true type types unavailable unit units unknown update updated updating upgrade upstream upstreams uri
    url use used user users uptime vague valid value values version versions visible voter voters wait waiting warn
    warning was weight were whitelist with without work worker writable x86 zone zones
    agentd mgragent addition additional algorithm architectures autostart bytes canceling committed computed
    configuration connections deploy deployed discovered dynamic eight encoding equal flow foreign hardware health
    hierarchy identifier index initial internal introduced keys largest largevalue leaf levelname limitation maximum
    mib minimum month mount nic nics optimized oversell percent period plan plans protocol readable rebuild recent
    recommended schema seed session sessions severity slot snapshot static strategy subnet suspended synchronized
    timezone unhealthy urgent utc vendor virtual vpc
    """.split()
)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+[0-9]{0,2}")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def is_documented(word: str) -> bool:
    """Whether each part of a word in camelCase, snake_case or CAPITALS is one of WORDS."""
    if not _WORD.fullmatch(word):
        return False
    pieces = [piece for piece in word.split("_") if piece]
    return all("".join(_PART.findall(piece)) == piece and _parts_known(piece) for piece in pieces)


def _parts_known(piece: str) -> bool:
    return all(part.lower() in WORDS for part in _PART.findall(piece))
