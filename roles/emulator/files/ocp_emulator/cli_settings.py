# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""From options to settings: fleet, recording, faults, switches, certificate; which options exclude each other."""

import argparse
import ssl
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from ocp_emulator.base.clock import SECOND
from ocp_emulator.base.compatibility import CHOICES, DEFAULT_PROFILE, PROFILES, Switches
from ocp_emulator.base.permissions import Permission
from ocp_emulator.cli_options import RECORD, BadInputError
from ocp_emulator.faults.fault_file import FaultFileError, parse_faults, read_faults
from ocp_emulator.faults.parse_fault import AnyFault
from ocp_emulator.fleet.entities import Fleet
from ocp_emulator.fleet.fleet_file import FleetError, parse_fleet, read_fleet_file
from ocp_emulator.fleet.generate_fleet import generated_fleet
from ocp_emulator.fleet.resolve_fleet import resolve
from ocp_emulator.record.run_proxy import ProxySettings
from ocp_emulator.record.upstream import Upstream
from ocp_emulator.recordings.exchange_file import Exchange, ExchangeError, read_exchanges
from ocp_emulator.recordings.recorded_fleet import recorded_fleet
from ocp_emulator.recordings.recorded_switches import recorded_switches
from ocp_emulator.recordings.recording_file import Recording, RecordingError, read_recording
from ocp_emulator.schemas.schema import first_violation
from ocp_emulator.serve.run_server import Certificate
from ocp_emulator.service import Settings
from ocp_emulator.tasks.durations import Durations


def settings_of(options: argparse.Namespace) -> Settings:
    """How to run with these options. `fleet` and `faults` are paths, or the content of such a file.

    Raises BadInputError.
    """
    recording = _recording(options)
    return Settings(
        database=options.database,
        fleet=_fleet(options) if recording is None else _recorded_fleet(options.recording, recording),
        recording=recording,
        exchanges=_exchanges(options),
        step_ms=round(options.step_seconds * SECOND),
        durations=_durations(options),
        speed=options.speed,
        busy=options.busy,
        rates=tuple(options.rate_limit),
        max_attempts=options.max_attempts,
        faults=_faults(options.faults),
        switches=_switches(options, recording),
    )


def proxy_settings_of(options: argparse.Namespace) -> ProxySettings:
    """What to record with these options. Raises BadInputError."""
    trusted = None
    if options.upstream_ca is not None:
        try:
            trusted = ssl.create_default_context(cafile=options.upstream_ca)
        except OSError as error:
            reason = error.strerror or error
            raise BadInputError(f"--upstream-ca {options.upstream_ca}: cannot be used: {reason}", RECORD) from error
    try:
        upstream = Upstream(options.upstream, trusted)
    except ValueError as error:
        raise BadInputError(f"--upstream: {error}", RECORD) from error
    return ProxySettings(upstream, options.output, PROFILES[options.profile])


def certificate_of(options: argparse.Namespace) -> Certificate | None:
    """The certificate to serve HTTPS with, or None for HTTP. Raises BadInputError."""
    chain, key = options.tls_cert, options.tls_key
    if chain is None and key is None:
        return None
    if key is None:
        raise BadInputError(f"--tls-cert {chain}: --tls-key is needed with it")
    if chain is None:
        raise BadInputError(f"--tls-key {key}: --tls-cert is needed with it")
    certificate = Certificate(chain, key)
    try:
        certificate.check()
    except OSError as error:
        raise BadInputError(f"--tls-cert {chain} --tls-key {key}: cannot be used: {error.strerror or error}") from error
    return certificate


def _recording(options: argparse.Namespace) -> Recording | None:
    if options.recording is None:
        return None
    others = ("fleet", "clusters", "zones", "servers_per_zone", "profile")
    for name, value in ((name, getattr(options, name)) for name in others):
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            raise BadInputError(
                f"--recording {options.recording} and {option} {value}: give one of them; a recording has all of it"
            )
    try:
        return read_recording(options.recording)
    except RecordingError as error:
        raise BadInputError(f"--recording {options.recording}: {error}") from error


def _exchanges(options: argparse.Namespace) -> tuple[Exchange, ...] | None:
    if options.replay is None:
        return None
    others = ("recording", "fleet", "clusters", "zones", "servers_per_zone", "database")
    for name, value in ((name, getattr(options, name)) for name in others):
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            raise BadInputError(
                f"--replay {options.replay} and {option} {value}: a replay has no fleet, give one of them"
            )
    try:
        return read_exchanges(options.replay)
    except ExchangeError as error:
        raise BadInputError(f"--replay {options.replay}: {error}") from error


def _recorded_fleet(path: Path, recording: Recording) -> Fleet:
    try:
        return recorded_fleet(recording)
    except RecordingError as error:
        raise BadInputError(f"--recording {path}: {error}") from error


def _fleet(options: argparse.Namespace) -> Fleet | None:
    sizes = {
        "--clusters": options.clusters,
        "--zones": options.zones,
        "--servers-per-zone": options.servers_per_zone,
    }
    given = {name: value for name, value in sizes.items() if value is not None}
    if options.fleet is not None:
        if given:
            name, value = next(iter(given.items()))
            raise BadInputError(f"--fleet {options.fleet} and {name} {value}: give a fleet or its size, not both")
        try:
            is_path = isinstance(options.fleet, Path)
            fleet = resolve(read_fleet_file(options.fleet) if is_path else parse_fleet(options.fleet))
        except FleetError as error:
            raise BadInputError(f"--fleet {options.fleet}: {error}") from error
        if not any(Permission.ADMIN in user.permissions for user in fleet.users):
            raise BadInputError(f"--fleet {options.fleet}: no user has ADMIN, so nobody could use the control API")
        return fleet
    if not given:
        return None
    try:
        return generated_fleet(options.clusters or 1, options.zones or 3, options.servers_per_zone or 1)
    except FleetError as error:
        raise BadInputError(f"{' '.join(f'{name} {value}' for name, value in given.items())}: {error}") from error


def _durations(options: argparse.Namespace) -> Durations:
    try:
        return Durations(
            tasks=dict(options.task_seconds),
            subtasks=dict(options.subtask_seconds),
            jitter=options.jitter,
            seed=options.seed,
        )
    except ValidationError as error:
        field, reason = first_violation(error)
        name = f"{field.removesuffix('s')}-seconds" if field in ("tasks", "subtasks") else field
        raise BadInputError(f"--{name}: {reason}") from error


def _faults(given: object) -> list[AnyFault] | None:
    if given is None:
        return None
    try:
        return read_faults(given) if isinstance(given, Path) else parse_faults(given)
    except FaultFileError as error:
        raise BadInputError(f"--faults {given}: {error}") from error


def _switches(options: argparse.Namespace, recording: Recording | None) -> Switches:
    given = {name: value for name in CHOICES if (value := getattr(options, name)) is not None}
    profile = PROFILES[options.profile or DEFAULT_PROFILE] if recording is None else recorded_switches(recording)
    return replace(profile, **given)
