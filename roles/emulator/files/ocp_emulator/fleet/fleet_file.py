# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Reading a fleet file. Its format is in fleet_format.py."""

from pathlib import Path

import yaml
from pydantic import ValidationError

from ocp_emulator.fleet.entities import Fleet
from ocp_emulator.fleet.fleet_format import FleetError, FleetFile
from ocp_emulator.fleet.resolve_fleet import resolve


def read_fleet(path: Path) -> Fleet:
    """The fleet of a YAML file. Raises FleetError for a file that cannot be read or is not valid."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FleetError(f"the file cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FleetError("the file is not UTF-8 text") from error
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise FleetError(f"the file is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(document, dict):
        raise FleetError("the file has no mapping at its top, such as 'clusters: [...]'")
    try:
        return resolve(FleetFile.model_validate(document))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FleetError(f"{where}: {first['msg'].removeprefix('Value error, ')}") from error
