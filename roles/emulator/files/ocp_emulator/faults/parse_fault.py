# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How a fault of any kind is read from JSON or YAML, and the error for an invalid one."""

from typing import Annotated, Any, get_args

from pydantic import Field, TypeAdapter, ValidationError

from ocp_emulator.faults.answer_faults import AnswerFault
from ocp_emulator.faults.busy_faults import BusyFault
from ocp_emulator.faults.http_faults import HttpFault
from ocp_emulator.faults.proxy_faults import ProxyFault
from ocp_emulator.faults.subtask_faults import SubtaskFault
from ocp_emulator.schemas.schema import first_violation

OneOfFaults = SubtaskFault | HttpFault | ProxyFault | AnswerFault | BusyFault
AnyFault = Annotated[OneOfFaults, Field(discriminator="kind")]

_ANY: TypeAdapter[OneOfFaults] = TypeAdapter(AnyFault)
SCHEMAS = tuple(model.__name__ for model in get_args(OneOfFaults))
_KINDS = [get_args(model.model_fields["kind"].annotation)[0] for model in get_args(OneOfFaults)]


class FaultError(ValueError):
    """A fault that is not valid: the key, "" for the fault as a whole, and the reason."""

    def __init__(self, key: str, reason: str) -> None:
        """Both are shown to people."""
        super().__init__(key, reason)
        self.key = key
        self.reason = reason


def parse_fault(value: Any) -> OneOfFaults:
    """A fault from a value of JSON or YAML. Raises FaultError."""
    if not isinstance(value, dict):
        raise FaultError("", "it is not a mapping, such as {kind: http, action: reset}")
    try:
        return _ANY.validate_python(value)
    except ValidationError as error:
        key, reason = first_violation(error)
        if error.errors()[0]["type"].startswith("union_tag_"):
            raise FaultError("kind", f"it has to be {', '.join(_KINDS[:-1])} or {_KINDS[-1]}") from None
        # The first part of the key is the kind.
        raise FaultError(key.partition(".")[2], reason) from None
