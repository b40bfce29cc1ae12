# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The options of the command line, their defaults, and which values they take."""

import argparse
import math
from pathlib import Path
from typing import NoReturn, get_args

from ocp_emulator import VERSION
from ocp_emulator.base.clock import DAY, SECOND
from ocp_emulator.base.compatibility import CHOICES, DEFAULT_PROFILE, DESCRIPTIONS, PROFILES
from ocp_emulator.faults.busy_faults import BusyPolicy
from ocp_emulator.security.rate_limit import Rate
from ocp_emulator.store.controllable_clock import FASTEST, SLOWEST

BAD_INPUT = 2
COMMAND = "ocp-emulator"
RECORD = f"{COMMAND} record"
_LONGEST_STEP = DAY / SECOND


class BadInputError(ValueError):
    """One sentence that names the option and its value; `command` is the command that refuses it."""

    def __init__(self, message: str, command: str = f"{COMMAND} serve") -> None:
        """Both are shown to people."""
        super().__init__(message)
        self.command = command


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, without the usage before it."""
        raise BadInputError(message, self.prog)


def make_parser() -> argparse.ArgumentParser:
    """The parser of all options. Parsing raises BadInputError."""
    parser = _Parser(prog=COMMAND, description="An emulator of OceanBase Cloud Platform (OCP).")
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser(
        "serve",
        # Abbreviated names are refused, also as keyword arguments of a test.
        allow_abbrev=False,
        help="answer requests until SIGTERM or SIGINT",
        description="Answer requests until SIGTERM or SIGINT. Log on as admin, password ocp-demo-1.",
    )
    # The help shows options in this order.
    _add_server_options(command)
    _add_fleet_options(command)
    _add_time_options(command)
    _add_behaviour_options(command)
    _add_switches(command)
    _add_tls_options(command)
    _add_record_command(commands)
    return parser


def _add_record_command(commands: "argparse._SubParsersAction[_Parser]") -> None:
    command = commands.add_parser(
        "record",
        allow_abbrev=False,
        help="pass requests on to an OCP and record them without secrets, until SIGTERM or SIGINT",
        description="Pass requests on to an OCP, record them and their answers without secrets, and print where the"
        " answers differ from the documents. serve --replay answers by the recording.",
    )
    command.add_argument(
        "--upstream", required=True, metavar="URL", help="the OCP, such as https://ocp.example.com:8080"
    )
    command.add_argument(
        "--output",
        type=Path,
        default=Path("ocp-exchanges.jsonl"),
        metavar="FILE",
        help="the recording, a new file (default: %(default)s)",
    )
    command.add_argument("--upstream-ca", type=Path, metavar="FILE", help="trust the authorities in this file (PEM)")
    command.add_argument(
        "--profile",
        choices=PROFILES,
        default=DEFAULT_PROFILE,
        help="compare with the documents of this version (default: %(default)s)",
    )
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    command.add_argument("--port", type=_port, default=8080, help="0 takes a free one (default: %(default)s)")
    _add_tls_options(command)


def _add_server_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    command.add_argument("--port", type=_port, default=8080, help="0 takes a free one (default: %(default)s)")
    command.add_argument("--database", type=Path, metavar="FILE", help="keep the state in this file, not in memory")


def _add_fleet_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--fleet", type=Path, metavar="FILE", help="the fleet to emulate, in YAML")
    command.add_argument("--recording", type=Path, metavar="FILE", help="answer like the OCP in this recording")
    command.add_argument("--replay", type=Path, metavar="FILE", help="answer only by this file of ocp-emulator record")
    command.add_argument("--clusters", type=_count, metavar="N", help="emulate N equal clusters")
    command.add_argument("--zones", type=_count, metavar="N", help="of N zones each (default: 3)")
    command.add_argument("--servers-per-zone", type=_count, metavar="N", help="of N servers each (default: 1)")


def _add_time_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--step-seconds",
        type=_seconds,
        default=1.0,
        metavar="S",
        help="time of a subtask, up to its time-out of 30 s or more (default: %(default)s)",
    )
    for what, example in (("task", '"Restart OB server=1200"'), ("subtask", '"Start observer process=60"')):
        command.add_argument(
            f"--{what}-seconds",
            type=_named_seconds,
            action="append",
            default=[],
            metavar="NAME=S",
            help=f"time of each {what} with this name, such as {example}; may be given several times",
        )
    command.add_argument(
        "--jitter",
        type=float,
        default=0.0,
        metavar="J",
        help="let each subtask take up to this share more or less, such as 0.2 (default: %(default)s)",
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="what the jitter depends on (default: 0)")
    command.add_argument(
        "--speed",
        type=_speed,
        metavar="F",
        help="let the emulator's clock run F times as fast as the machine's (default: 1, or as in the database)",
    )


def _add_behaviour_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--busy",
        choices=get_args(BusyPolicy),
        default="refuse",
        help="refuse an operation on a busy target, accept it and let its task fail, or carry it out after the other"
        " (default: %(default)s)",
    )
    command.add_argument("--faults", type=Path, metavar="FILE", help="faults to plan in a new database, in YAML")
    command.add_argument(
        "--rate-limit",
        type=_rate,
        action="append",
        default=[],
        metavar="N/S",
        help="allow each user N calls in S seconds; may be given several times (default: no limit)",
    )
    command.add_argument(
        "--max-attempts",
        type=_attempts,
        metavar="N",
        help="lock a user after N wrong passwords in 30 minutes, 0 for never (default: as the profile says)",
    )


def _add_switches(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--profile",
        choices=PROFILES,
        help=f"behave as this version of OCP is documented (default: {DEFAULT_PROFILE}, or what the recording shows)",
    )
    switches = command.add_argument_group("switches", "Each overrides the profile.")
    for name, choices in CHOICES.items():
        switches.add_argument(f"--{name.replace('_', '-')}", choices=choices, help=DESCRIPTIONS[name])


def _add_tls_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--tls-cert", type=Path, metavar="FILE", help="serve HTTPS with this certificate chain (PEM)")
    command.add_argument("--tls-key", type=Path, metavar="FILE", help="its key (PEM, not encrypted)")


def _port(text: str) -> int:
    return _integer(text, 0, 65_535, "a port")


def _count(text: str) -> int:
    return _integer(text, 1, 100_000, "a size")


def _attempts(text: str) -> int:
    return _integer(text, 0, 100_000, "a number of passwords")


def _rate(text: str) -> Rate:
    calls, slash, seconds = text.partition("/")
    if not slash:
        raise argparse.ArgumentTypeError(f"{text!r} is not calls/seconds, such as 100/10")
    return Rate(
        _integer(calls, 1, 1_000_000, "a number of calls"), _integer(seconds, 1, DAY // SECOND, "a number of seconds")
    )


def _integer(text: str, least: int, most: int, what: str) -> int:
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what} from {least} to {most}")
    return int(text)


def _seconds(text: str) -> float:
    return _decimal(text, 0, _LONGEST_STEP, "a number of seconds")


def _named_seconds(text: str) -> tuple[str, float]:
    name, equals, seconds = text.rpartition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not a name and seconds, such as 'Restart OB server=1200'")
    return name, _seconds(seconds)


def _speed(text: str) -> float:
    return _decimal(text, SLOWEST, FASTEST, "a factor")


def _decimal(text: str, least: float, most: float, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what} from {least:g} to {most:g}")
    return number
