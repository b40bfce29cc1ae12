# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which wanted parameters are refused before anything is sent: names, types, read-only, units, ranges, choices."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping

from .._base.errors import OptionError
from .._base.text import LONGEST_LABEL, one_line
from .._targets.lookup import next_guess
from .parameter import Parameter
from .parameter_value import Kind, bytes_of, has_unit, microseconds_of, read_value

LONGEST_VALUE = 10_000
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NUMBERS = (Kind.CAPACITY, Kind.TIME, Kind.INTEGER, Kind.NUMBER)
_OCTAL = re.compile(r"-?0[0-9].*")


def wanted_parameters(option: str, given: Mapping[object, object]) -> dict[str, str]:
    """The text of each value in the option: true is ``true``, 5 is ``5``. Raises OptionError."""
    if not given:
        raise OptionError(f"{option}: is empty; give at least one name with its value, as in stack_size: 5M.")
    wanted = {_name(option, name): _text(option, str(name), value) for name, value in given.items()}
    [(folded, times)] = Counter(name.lower() for name in wanted).most_common(1)
    if times > 1:
        twice = " and ".join(name for name in wanted if name.lower() == folded)
        raise OptionError(f"{option}: {twice} are the same parameter; give it once.")
    return wanted


def _name(option: str, name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > LONGEST_LABEL:
        raise OptionError(
            f"{option}: {one_line(name) or 'an empty text'} is not the name of a parameter; give one as in stack_size."
        )
    return name


def _text(option: str, name: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return str(value)
    if not isinstance(value, str):
        kind = "nothing" if value is None else "a list or an object" if isinstance(value, (list, dict)) else str(value)
        raise OptionError(f'{option}: {name} is {kind}; give a text, a number or a boolean, and "" for an empty text.')
    if not value.isprintable() or value != value.strip() or len(value) > LONGEST_VALUE:
        raise OptionError(
            f"{option}: {name} is {one_line(repr(value))}; give a printable value of at most {LONGEST_VALUE} "
            "characters, without spaces at its ends."
        )
    return value


def check_wanted(
    option: str, wanted: Mapping[str, str], parameters: Mapping[str, Parameter], cluster: str, *, is_set: bool = True
) -> None:
    """Raise OptionError with all that is wrong with the values, by the ``parameters`` that the cluster shows.

    A value that is not set may be read-only.
    """
    check_names(option, wanted, parameters, cluster)
    found = [(name, value, _defect(parameters[name], value, is_set)) for name, value in wanted.items()]
    wrong = [f"{name}: {value or 'an empty text'} {defect}" for name, value, defect in found if defect]
    if wrong:
        raise OptionError(f"{option}: {'; '.join(wrong)}.")


def check_names(
    option: str, names: Mapping[str, str] | list[str], known: Mapping[str, Parameter], cluster: str
) -> None:
    """Raise OptionError for the first name that the cluster shows no parameter of."""
    if not known:
        raise OptionError(f"{option}: the service shows no parameters of cluster {cluster}. Check its version.")
    for name in names:
        if name not in known:
            guess = name.lower() if name.lower() in known else name
            raise OptionError(
                f"{option}: cluster {cluster} has no parameter {name}. {next_guess(guess, list(known), 'name')}"
            )


def _defect(parameter: Parameter, value: str, is_set: bool) -> str | None:
    """Why the value cannot be set, to follow the value in a sentence; None if nothing shown prevents it."""
    if parameter.readonly and is_set:
        return "cannot be set, since the parameter is read-only; leave it out"
    checks: tuple[Callable[[Parameter, str], str | None], ...] = (_other_choice, _wrong_form, _out_of_range)
    return next((defect for check in checks if (defect := check(parameter, value))), None)


def _other_choice(parameter: Parameter, value: str) -> str | None:
    if not parameter.allowed or value.casefold() in map(str.casefold, parameter.allowed):
        return None
    return f"is not allowed; give one of {', '.join(parameter.allowed)}"


def _wrong_form(parameter: Parameter, value: str) -> str | None:
    kind = parameter.kind or _kind_by_units(parameter)
    if kind is None or (parameter.kind is None and not has_unit(value)):
        return None
    if kind in _NUMBERS and _OCTAL.fullmatch(value):
        return "begins with a zero, so the database reads it as octal; give it without the zero"
    if read_value(value, kind) is None:
        return f"is of another type; give {kind.value}"
    # Older databases read megabytes, newer ones refuse it.
    if kind is Kind.CAPACITY and not has_unit(value):
        return f"has no unit; give {value}M if it is in megabytes"
    return None


def _kind_by_units(parameter: Parameter) -> Kind | None:
    """The only kind that fits the units of all values, if the service does not show the kind."""
    shown = [value for value in parameter.values.values() if value is not None]
    kinds = [
        kind
        for kind, read in ((Kind.CAPACITY, bytes_of), (Kind.TIME, microseconds_of))
        if shown and all(has_unit(value) and read(value) is not None for value in shown)
    ]
    return kinds[0] if len(kinds) == 1 else None


def _out_of_range(parameter: Parameter, value: str) -> str | None:
    if parameter.kind not in _NUMBERS:
        return None
    number, least, most = (_number(parameter.kind, each) for each in (value, parameter.minimum, parameter.maximum))
    if number is None or not ((least is not None and number < least) or (most is not None and number > most)):
        return None
    limits = [
        f"{parameter.minimum} or more" if parameter.minimum else "",
        f"{parameter.maximum} or less" if parameter.maximum else "",
    ]
    return f"is out of range; give {' and '.join(filter(None, limits))}"


def _number(kind: Kind, value: str | None) -> float | None:
    """What is compared, of one of the kinds that have an order."""
    return None if value is None else read_value(value, kind)  # type: ignore[return-value]
