# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The command line: `python -m ocp_emulator serve`."""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, get_args

from ocp_emulator import VERSION
from ocp_emulator.base.clock import DAY, SECOND
from ocp_emulator.base.compatibility import CHOICES, DEFAULT_PROFILE, MEANINGS, PROFILES, Switches
from ocp_emulator.faults.fault_file import FaultFileError, read_faults
from ocp_emulator.faults.fault_kinds import AnyFault
from ocp_emulator.fleet.entities import Fleet
from ocp_emulator.fleet.fleet_file import read_fleet
from ocp_emulator.fleet.fleet_format import FleetError
from ocp_emulator.fleet.generate_fleet import generated_fleet
from ocp_emulator.security.rate_limit import Rate
from ocp_emulator.serve.server import Certificate, listen, serve
from ocp_emulator.service import Settings
from ocp_emulator.store.database import StoreError
from ocp_emulator.tasks.submit import BusyPolicy

_BAD_INPUT = 2
_LONGEST_STEP = DAY / SECOND


class _BadInputError(Exception):
    """One sentence that names the option and its value."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, without the usage before it."""
        self.exit(_BAD_INPUT, f"{self.prog}: error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code: 0, or 2 for bad input."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        _serve(options)
    except _BadInputError as error:
        sys.stderr.write(f"{parser.prog} {options.command}: error: {error}\n")
        return _BAD_INPUT
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="ocp_emulator", description="An emulator of OceanBase Cloud Platform (OCP).")
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser(
        "serve",
        help="answer requests until SIGTERM or SIGINT",
        description="Answer requests until SIGTERM or SIGINT. Log on as admin, password emulator.",
    )
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    command.add_argument("--port", type=_port, default=8080, help="0 takes a free one (default: %(default)s)")
    command.add_argument("--database", type=Path, metavar="FILE", help="keep the state in this file, not in memory")
    command.add_argument("--fleet", type=Path, metavar="FILE", help="the fleet to emulate, in YAML")
    command.add_argument("--clusters", type=_count, metavar="N", help="emulate N equal clusters")
    command.add_argument("--zones", type=_count, metavar="N", help="of N zones each (default: 3)")
    command.add_argument("--servers-per-zone", type=_count, metavar="N", help="of N servers each (default: 1)")
    command.add_argument(
        "--step-seconds",
        type=_seconds,
        default=1.0,
        metavar="S",
        help="time of a subtask, up to its time-out of 30 s or more (default: %(default)s)",
    )
    command.add_argument(
        "--busy",
        choices=get_args(BusyPolicy),
        default="refuse",
        help="refuse an operation on a busy target, or accept it and let its task fail (default: %(default)s)",
    )
    command.add_argument("--faults", type=Path, metavar="FILE", help="faults to plan in a new database, in YAML")
    command.add_argument(
        "--rate-limit",
        type=_rate,
        action="append",
        default=[],
        metavar="N/S",
        help="allow each user N calls in S seconds; may stand several times (default: no limit)",
    )
    command.add_argument(
        "--max-attempts",
        type=_attempts,
        default=5,
        metavar="N",
        help="lock a user after N wrong passwords in 30 minutes, 0 for never (default: %(default)s)",
    )
    command.add_argument(
        "--profile",
        choices=PROFILES,
        default=DEFAULT_PROFILE,
        help="behave as this version of OCP is documented (default: %(default)s)",
    )
    switches = command.add_argument_group("switches", "Each overrides what the profile says.")
    for name, choices in CHOICES.items():
        switches.add_argument(f"--{name.replace('_', '-')}", choices=choices, help=MEANINGS[name])
    command.add_argument("--tls-cert", type=Path, metavar="FILE", help="serve HTTPS with this certificate chain (PEM)")
    command.add_argument("--tls-key", type=Path, metavar="FILE", help="its key (PEM, not encrypted)")
    return parser


def _serve(options: argparse.Namespace) -> None:
    certificate = _certificate(options.tls_cert, options.tls_key)
    settings = Settings(
        database=options.database,
        fleet=_fleet(options),
        step_ms=round(options.step_seconds * SECOND),
        busy=options.busy,
        rates=tuple(options.rate_limit),
        max_attempts=options.max_attempts,
        faults=_faults(options.faults),
        switches=_switches(options),
    )
    try:
        bound = listen(options.host, options.port)
    except OSError as error:
        reason = _reason(error)
        raise _BadInputError(f"--host {options.host} --port {options.port}: cannot listen there: {reason}") from error
    with bound:
        try:
            serve(settings, bound, certificate)
        except StoreError as error:
            raise _BadInputError(f"--database {options.database}: {error}") from error


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
            raise _BadInputError(f"--fleet {options.fleet} and {name} {value}: give a fleet or its size, not both")
        try:
            return read_fleet(options.fleet)
        except FleetError as error:
            raise _BadInputError(f"--fleet {options.fleet}: {error}") from error
    if not given:
        return None
    try:
        return generated_fleet(options.clusters or 1, options.zones or 3, options.servers_per_zone or 1)
    except FleetError as error:
        raise _BadInputError(f"{' '.join(f'{name} {value}' for name, value in given.items())}: {error}") from error


def _faults(path: Path | None) -> list[AnyFault] | None:
    if path is None:
        return None
    try:
        return read_faults(path)
    except FaultFileError as error:
        raise _BadInputError(f"--faults {path}: {error}") from error


def _switches(options: argparse.Namespace) -> Switches:
    given = {name: value for name in CHOICES if (value := getattr(options, name)) is not None}
    return replace(PROFILES[options.profile], **given)


def _certificate(chain: Path | None, key: Path | None) -> Certificate | None:
    if chain is None and key is None:
        return None
    if key is None:
        raise _BadInputError(f"--tls-cert {chain}: --tls-key is needed with it")
    if chain is None:
        raise _BadInputError(f"--tls-key {key}: --tls-cert is needed with it")
    certificate = Certificate(chain, key)
    try:
        certificate.check()
    except OSError as error:
        raise _BadInputError(f"--tls-cert {chain} --tls-key {key}: cannot be used: {_reason(error)}") from error
    return certificate


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _port(text: str) -> int:
    return _number(text, 0, 65_535, "a port")


def _count(text: str) -> int:
    return _number(text, 1, 100_000, "a size")


def _attempts(text: str) -> int:
    return _number(text, 0, 100_000, "a number of passwords")


def _rate(text: str) -> Rate:
    calls, slash, seconds = text.partition("/")
    if not slash:
        raise argparse.ArgumentTypeError(f"{text!r} is not calls/seconds, such as 100/10")
    return Rate(
        _number(calls, 1, 1_000_000, "a number of calls"), _number(seconds, 1, DAY // SECOND, "a number of seconds")
    )


def _number(text: str, least: int, most: int, what: str) -> int:
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what} from {least} to {most}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= _LONGEST_STEP:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0 to {_LONGEST_STEP:g}")
    return seconds
