# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The meaning of the documented error codes of the service, and which of them count by their number alone.

A service sends a code as a number, presumably the digits of the documented one. Below 11000 other services use the same
numbers for other errors, so such a code counts only with its letters.

See docs/dev/contract.md, "Errors and statuses".
"""

from __future__ import annotations

import re
from enum import Enum

LETTERS_AND_DIGITS = re.compile(r"([A-Z]{3})?0*(\d{1,6})")
FIRST_NUMBER_OF_ITS_OWN = 11_000


class Meaning(Enum):
    """What a code says, with what to do next."""

    BUSY = "Wait until the task that works on it has ended, then run this again"
    WRONG_STATE = "Look at its state in OCP; it has to be the one that the message names"
    NO_MAJORITY = "Wait until the tenant's other replicas are back, then restart it"
    NOT_FOUND = "Check the id or name"
    UNREACHABLE = "Check that OCP can connect to the cluster, and check its agents"
    TASK_STATE = "Look at the task; its state does not allow this"
    NO_PERMISSION = "Ask for the permission, or use credentials that have it"
    NO_LOGIN = "Check the credentials"


_CODES: dict[Meaning, tuple[str, ...]] = {
    Meaning.BUSY: ("OBE11020", "OBE18008", "OBE19012"),
    Meaning.WRONG_STATE: (
        *("OBE19003", "OBE19004", "OBE18004", "OBE18005", "OBE11007", "OBE11008", "OBE11403", "OBE19020"),
        *("CMP7006", "CMP7019"),
    ),
    Meaning.NO_MAJORITY: ("OBE11070",),
    Meaning.NOT_FOUND: ("OBE19001", "OBE19002", "OBE18002", "OBE11001", "OBE11010", "TSK10001", "CMP7005", "CMP7013"),
    Meaning.UNREACHABLE: ("OBE11102", "OBE12000", "CMP10001", "CMP7021"),
    Meaning.TASK_STATE: ("TSK10007", "TSK10009", "TSK10010", "TSK10016", "TSK10017"),
    Meaning.NO_PERMISSION: ("COM10009",),
    Meaning.NO_LOGIN: ("IAM10003", "IAM10004"),
}
_BY_CODE = {code: meaning for meaning, codes in _CODES.items() for code in codes}
_BY_NUMBER = {int(code[3:]): meaning for code, meaning in _BY_CODE.items() if int(code[3:]) >= FIRST_NUMBER_OF_ITS_OWN}


def meaning_of(code: object) -> Meaning | None:
    """The meaning of ``error.code``, a number or a text such as ``OBE11020``; None if it has none that is certain."""
    found = LETTERS_AND_DIGITS.fullmatch(str(code))
    if found is None:
        return None
    letters, number = found[1], int(found[2])
    return _BY_CODE.get(f"{letters}{number}") if letters else _BY_NUMBER.get(number)
