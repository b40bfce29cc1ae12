# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The command line: what it starts, and the message and exit code for bad input."""

import argparse
import socket
import sys
from collections.abc import Sequence

from ocp_emulator.cli_options import BAD_INPUT, COMMAND, RECORD, BadInputError, make_parser
from ocp_emulator.cli_settings import certificate_of, proxy_settings_of, settings_of
from ocp_emulator.record.run_proxy import create_file, record
from ocp_emulator.serve.run_server import listen, serve
from ocp_emulator.store.database import StoreError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code: 0, or 2 for bad input."""
    try:
        options = make_parser().parse_args(arguments)
        if options.command == "record":
            _record(options)
        else:
            _serve(options)
    except BadInputError as error:
        sys.stderr.write(f"{error.command}: error: {error}\n")
        return BAD_INPUT
    return 0


def _serve(options: argparse.Namespace) -> None:
    certificate = certificate_of(options)
    settings = settings_of(options)
    with _listening(options) as bound:
        try:
            serve(settings, bound, certificate)
        except StoreError as error:
            raise BadInputError(f"--database {options.database}: {error}") from error


def _record(options: argparse.Namespace) -> None:
    certificate = certificate_of(options)
    settings = proxy_settings_of(options)
    with _listening(options) as bound:
        try:
            file = create_file(settings.output)
        except OSError as error:
            reason = error.strerror or error
            raise BadInputError(f"--output {settings.output}: cannot be created: {reason}", RECORD) from error
        with file:
            record(settings, file, bound, certificate)


def _listening(options: argparse.Namespace) -> socket.socket:
    try:
        return listen(options.host, options.port)
    except OSError as error:
        reason = error.strerror or error
        message = f"--host {options.host} --port {options.port}: cannot listen there: {reason}"
        raise BadInputError(message, f"{COMMAND} {options.command}") from error
