# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The lookup oceanbase.ocp.unknown_variables: what a role or playbook documents, and the refusal of other variables."""

from __future__ import annotations

DOCUMENTATION = r"""
name: unknown_variables
short_description: Find misspelt variables of a role or playbook of this collection
version_added: 1.0.0
description:
  - Returns a sentence for each variable that begins with the name of a role or playbook of this collection and an
    underscore, but is not documented there, with the nearest documented name. Then follows one sentence with all
    variables that there are. So is a variable with a slip in the prefix that goes on like a documented one, such as
    C(rolling_restrat_clusters).
  - Every role and playbook of the collection begins with it and refuses such variables, because a misspelt
    C(rolling_restart_servers) would restart more than intended.
  - A variable of the command line (C(-e)) that lacks the prefix, such as C(safety) for C(rolling_restart_safety), does
    nothing. If the one with the prefix is not set, there is a warning.
  - Names that begin with the prefix and C(user_) are free, as in C(rolling_restart_user_ticket). Names with two
    underscores after the role, as in C(rolling_restart__plan), are internal to the role.
options:
  _terms:
    description: Names of roles or playbooks of this collection.
    type: list
    elements: str
    required: true
  hosts:
    description: Hosts whose own variables, such as those of their groups, are checked as well.
    type: list
    elements: str
    default: []
  alike:
    description: Variables that may not have another value for one of O(hosts) than for the host of this task.
    type: list
    elements: str
    default: []
author:
  - contributors of oceanbase.ocp (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Check the variables of a role before a playbook does anything
  ansible.builtin.assert:
    that: unknown | length == 0
    fail_msg: "{{ unknown | join(' ') }}"
    quiet: true
  vars:
    unknown: "{{ query('oceanbase.ocp.unknown_variables', 'rolling_restart') }}"
"""

RETURN = r"""
_raw:
  description:
    - A sentence for each unknown variable, by name, and a last one with all variables of the role or playbook. Then a
      sentence for each variable that is not alike.
    - Empty if all are known, and alike.
  type: list
  elements: str
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from ansible import constants as C  # noqa: N812 - its name all over Ansible
from ansible.module_utils.common.yaml import yaml_load
from ansible.plugins.lookup import LookupBase
from ansible.utils.display import Display

from ..plugin_utils._ansible_core import LookupFailed, extra_variables, is_read

COLLECTION = Path(__file__).parents[2]
# Reserved for the caller, followed by any name.
USER = "user_"
# The options that name what a module restarts.
OF_WHAT = ("cluster", "clusters", "host", "hosts", "server", "servers", "zone", "zones")
# How the names end of what restarts them; a role only waits.
RESTARTS = ("_restart", "_rollout")
WAITS = "wait_for_restart"
# What task files of the caller find in a loop of the role.
LOOP_VARIABLES = ("node", "batch_now")

# The warnings that this process has shown.
TOLD: set[str] = set()
# How alike two texts are that differ by one slip, as difflib measures it: ocp_chekc and ocp_check are 0.89.
SLIP_IN_PREFIX = 0.88
SLIP_IN_REST = 0.8


def unknown_variables(name: str, variables: Collection[str], given: Collection[str] = ()) -> list[str]:
    """A sentence for each of ``variables`` that begins like those of the role or playbook but is unknown to it.

    Those ``given`` on the command line are none that the role or playbook sets for itself.
    A name with a slip in the prefix is refused too, if it goes on like one of the variables.
    A last sentence names the variables that there are.
    Raises ValueError if no role or playbook has this name.
    """
    prefix = f"{name}_"
    options, documented = _documented(name, prefix)
    # What is set in a loop is nobody's to give.
    known = documented.difference(f"{prefix}{each}" for each in LOOP_VARIABLES)
    # With a second underscore it is internal to the role or playbook, if that has it.
    known |= _internal(name, prefix).difference(given)
    unknown = sorted(each for each in variables if each.startswith(prefix) and not each.startswith(f"{prefix}{USER}"))
    refusals = [_refusal(each, name, prefix, known) for each in unknown if each not in known]
    refusals += _misspelt_prefixes(name, options, variables)
    *first, last = (option.removeprefix(prefix) for option in options)
    return [*refusals, f"The variables are {prefix} followed by {', '.join(first)} or {last}."] if refusals else []


def differing(alike: Iterable[str], own: Mapping[str, Any], of_hosts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A sentence for each of these variables that a host has, and not with the value that it has here."""
    sentences = []
    for name in alike:
        others = sorted(host for host, theirs in of_hosts.items() if name in theirs and theirs[name] != own.get(name))
        if others:
            sentences.append(
                f"{name}: has a value for {others[0]} that it does not have for the whole run; give it for all, with "
                "-e or in group_vars/all."
            )
    return sentences


def ignored(names: Sequence[str], given: Iterable[str], variables: Mapping[str, Any]) -> list[str]:
    """One sentence for each of the ``given`` that lacks its prefix, or looks as if it limited the run.

    ``names``: the role or playbook that is run, followed by those whose variables can be set with it.
    """
    asked, run = sorted(given), f"oceanbase.ocp.{names[0]}"
    meant = {each: [full for name in names if (full := _full_name(name, each))] for each in asked}
    idle = {
        each: next((full for full in found if _is_unused(full, asked, names, variables)), "")
        for each, found in meant.items()
    }
    named = [f"{each}: is ignored by {run}; its variable is {full}." for each, full in idle.items() if full]
    restarts = names[0].endswith(RESTARTS) and names[0] != WAITS
    limits = [each for each in asked if each in OF_WHAT and not meant[each] and restarts]
    return [*named, *(f"{each}: is ignored by {run}, and does not limit what it restarts." for each in limits)]


def _full_name(name: str, given: str) -> str:
    """The variable of the role or playbook that sets the option ``given``, or its plural; empty if none does."""
    prefix = f"{name}_"
    options, _known = _documented(name, prefix)
    own = [f"{prefix}{given}", _by_options(name).get(given), f"{prefix}{given}s" if given in OF_WHAT else None]
    return next((full for full in own if full in options), "")


def _is_unused(full: str, given: Collection[str], names: Sequence[str], variables: Mapping[str, Any]) -> bool:
    """Whether nothing can be taken for this variable from another one: it is not set, or on the command line too."""
    unset = next((_defaults(name)[full] for name in names if full in _defaults(name)), None)
    return full in given or variables.get(full, unset) == unset


@cache
def _defaults(name: str) -> dict[str, Any]:
    """The variables of a role that nobody has set; empty for a playbook."""
    path = COLLECTION / "roles" / name / "defaults/main.yml"
    return dict(yaml_load(path.read_text(encoding="utf-8"))) if path.is_file() else {}


@cache
def _documented(name: str, prefix: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The variables to set, and all names in the documentation, which include facts that are set.

    Of a role it is the argument specification, of a playbook the comment at its head.
    """
    role, playbook = COLLECTION / "roles" / name / "meta/argument_specs.yml", COLLECTION / "playbooks" / f"{name}.yml"
    if role.is_file():
        text = role.read_text(encoding="utf-8")
        options = [*yaml_load(text)["argument_specs"]["main"]["options"]]
    elif playbook.is_file():
        text = "\n".join(re.findall(r"^#.*", playbook.read_text(encoding="utf-8"), re.MULTILINE))
        options = re.findall(rf"^# ({re.escape(prefix)}\w+)", text, re.MULTILINE)
    else:
        raise ValueError(f"oceanbase.ocp has no role or playbook {name}.")
    # Behind a dot it is a module.
    return tuple(options), frozenset(re.findall(rf"(?<![\w.]){re.escape(prefix)}\w+", text))


@cache
def _internal(name: str, prefix: str) -> frozenset[str]:
    """The variables that are in the files of the role or playbook, and of those that call it, with two underscores."""
    folders = [COLLECTION / "roles" / name, COLLECTION / "playbooks"]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".yml", ".j2")]
    texts = (path.read_text(encoding="utf-8") for path in files)
    return frozenset(found for text in texts for found in re.findall(rf"(?<![\w.]){re.escape(prefix)}_\w+", text))


@cache
def _by_options(name: str) -> dict[str, str]:
    """The variables of a role by the options that they set, where the names differ."""
    path = COLLECTION / "roles" / name / "vars/main.yml"
    found = yaml_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return dict(found.get(f"{name}__own_hint_variables") or {})


def _refusal(variable: str, name: str, prefix: str, known: Collection[str]) -> str:
    # Compared without the prefix, which would make all of them similar.
    rest = variable.removeprefix(prefix).removeprefix("_")
    own = _by_options(name).get(rest, "")
    names = sorted(each.removeprefix(prefix) for each in known if not each.startswith(f"{prefix}_"))
    near = [own.removeprefix(prefix)] if own else get_close_matches(rest, names, 1)
    hint = (
        f"did you mean {prefix}{near[0]}?"
        if near
        else f"a variable of your own begins with {prefix}{USER}, so rename it."
    )
    return f"{variable}: is not a variable of oceanbase.ocp.{name}; {hint}"


def _misspelt_prefixes(name: str, options: Sequence[str], variables: Collection[str]) -> list[str]:
    """A refusal of each variable that is an option of the role or playbook but for a slip in the prefix.

    Other variables are other people's: the rest of the name has to be one of ``options``, or nearly, and the prefix
    may not be that of another role or playbook. C(my_rolling_restart_clusters) contains the correct prefix, so it is a
    variable of somebody else.
    A name of one word, such as C(emulator), is too near to those of others.
    """
    prefix = f"{name}_"
    rests = [option.removeprefix(prefix) for option in options]
    ours = tuple(f"{path.stem}_" for folder in ("roles", "playbooks") for path in (COLLECTION / folder).iterdir())
    refusals = []
    for variable in sorted(variables) if "_" in name else []:
        if variable.startswith(ours) or f"_{prefix}" in variable:
            continue
        near = _spelt_otherwise(variable, name, rests) or _nearest_rest(variable, name, rests)
        if near:
            refusals.append(f"{variable}: is not a variable of oceanbase.ocp.{name}; did you mean {prefix}{near}?")
    return refusals


def _spelt_otherwise(variable: str, name: str, rests: list[str]) -> str:
    """The one of ``rests`` that is meant where only capitals, hyphens or one underscore are wrong; empty if none is."""
    plain = variable.lower().replace("-", "_")
    rest = plain.removeprefix(name).removeprefix("_")
    return rest if plain.startswith(name) and rest in rests else ""


def _nearest_rest(variable: str, name: str, rests: list[str]) -> str:
    """The one of ``rests`` that the variable ends with, or nearly, behind a prefix with one slip; else empty."""
    for mark in re.finditer("_", variable):
        head, rest = variable[: mark.start()], variable[mark.end() :]
        # One letter more or less, one other letter, or two exchanged.
        if abs(len(head) - len(name)) <= 1 and get_close_matches(head, [name], 1, SLIP_IN_PREFIX):
            near = get_close_matches(rest, rests, 1, SLIP_IN_REST)
            if near:
                return near[0]
    return ""


def _warn(sentence: str) -> None:
    """Show a warning before the task that looks begins; one of Ansible itself comes with the result of that task."""
    # A task may ask more than once, as for a condition and for its message.
    if sentence not in TOLD and is_read(2):
        TOLD.add(sentence)
        Display().display(f"[WARNING]: {sentence}", color=C.COLOR_WARN, stderr=True)


class LookupModule(LookupBase):
    """Find misspelt variables."""

    def run(self, terms, variables=None, **kwargs):
        """The sentences. Raises LookupFailed."""
        self.set_options(var_options=variables, direct=kwargs)
        own = variables or {}
        of_hosts = {host: own["hostvars"].raw_get(host) for host in self.get_option("hosts")}
        names = {str(name) for each in (own, *of_hosts.values()) for name in each}
        try:
            for sentence in self._ignored(terms, variables or {}):
                _warn(sentence)
            given = extra_variables(self)
            unknown = [sentence for name in terms for sentence in unknown_variables(name, names, given)]
            return [*unknown, *differing(self.get_option("alike"), own, of_hosts)]
        except ValueError as error:
            raise LookupFailed(f"oceanbase.ocp.unknown_variables: {error}") from None

    def _ignored(self, terms, variables):
        """A sentence for each variable of the command line that does nothing, for all terms."""
        # A playbook that uses this role has warned of them already, with its own variables.
        told_by_caller = any(f"{term}__caller_hint_variables" in variables for term in terms)
        return [] if told_by_caller else ignored(terms, extra_variables(self), variables)
