# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What may change between a plan and its run, each as a function of the fake OCP; and what was restarted there."""

from __future__ import annotations

from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import Thing


def restarted(service):
    """The ids of the servers that were restarted, in order."""
    return [sent[1] for _call, sent in service.posts]


def thing(number, **fields):
    """Another value of fields of the server with this number."""

    def change(service):
        [found] = [one for one in service.servers_there if one.id == number]
        for name, value in fields.items():
            setattr(found, name, value)

    return change


def fields(**given):
    """Another value of fields of the service."""

    def change(service):
        for name, value in given.items():
            setattr(service, name, value)

    return change


def tenant(name, **shown):
    """A tenant, perhaps a new one, of which this is shown."""

    def change(service):
        service.localities.setdefault(name, service.localities["sys"])
        service.tenant_fields[name] = shown

    return change


def locality(name, words):
    """Another locality of a tenant."""
    return lambda service: service.localities.__setitem__(name, words)


def option(**given):
    """Other options of the run."""
    return lambda _service: given


def add_server(number, zone):
    """A new server."""
    return lambda service: service.servers_there.append(Thing(number, number + 10, zone))
