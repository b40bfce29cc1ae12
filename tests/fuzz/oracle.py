# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What must hold of every fuzzed run: no secret, template or control character, no second POST, an end.

See docs/security.md.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.text import CUT
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._ansible_core import untrusted
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._timeline import html_page
from ansible_collections.oceanbase.ocp.tests.fuzz.cases import RESTARTS, Case
from ansible_collections.oceanbase.ocp.tests.fuzz.drive import Left, environment
from ansible_collections.oceanbase.ocp.tests.fuzz.hostile_service import HostileService
from ansible_collections.oceanbase.ocp.tests.fuzz.hostile_values import CANARIES, FORMS
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import PASSED_ON, RESULT_KEYS
from ansible_collections.oceanbase.ocp.tests.unit.support.html_pages import Page

try:
    from ansible.template import is_trusted_as_template, trust_as_template
except ImportError:  # before ansible-core 2.19, where all that is not marked unsafe is a template

    def is_trusted_as_template(_value: Any) -> bool:
        return False

    def trust_as_template(value: str) -> str:
        return value


MOST_PAGES = 1000
# So much of a secret, next to a cut, is too much.
PIECE = 6
HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*_[0-9]{1,5}")
CLUSTER_HOST = re.compile(r"[A-Za-z][A-Za-z0-9_-]*|[A-Za-z0-9_%][A-Za-z0-9_.~%-]*\+[0-9]+\+ocp\.test\+8080")
ADDRESS = re.compile(r"[A-Za-z0-9_:][A-Za-z0-9_.:-]*")
# As Ansible makes them safe.
GROUP = re.compile(r"[^\W\d]\w*")
COLOR = re.compile(r"\x1b\[[0-9;]*m")
# Control and format characters, surrogates, separators of lines.
INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
LOADER = DataLoader()


class Finding(Exception):
    """Something that must not happen has happened."""


def check(case: Case, left: Left, service: HostileService) -> None:
    """Raise Finding for whatever is wrong with what a run left."""
    check_ended_well(left)
    shown = [left.result, left.lines, left.events, left.hosts, left.groups, left.pages, left.tables, left.error]
    for each in shown:
        check_serialisable(each)
    all_texts = list(texts_in(shown))
    check_secrets(all_texts, FORMS[case.auth])
    check_no_code_ran(left, all_texts)
    check_printable(left)
    check_posts(service)
    if case.check_mode and any(call.startswith("PUT ") for call in service.calls):
        raise Finding("PUT in check mode")
    check_pages_read(service)
    if case.kind in RESTARTS:
        check_restart(case, left, service)
    check_hosts(left)
    check_events(left)
    for page in left.pages:
        check_page(page)


def check_ended_well(left: Left) -> None:
    """No exception but those that Ansible shows, and no limit passed."""
    if left.crash is not None:
        raise Finding(f"{type(left.crash).__name__}: {left.crash}") from left.crash
    result = left.result
    if result is None:
        return
    if "exception" in result or "crashed" in str(result.get("msg")):
        raise Finding(f"the module crashed: {result.get('exception', result.get('msg'))}")
    if result.get("failed") and not (isinstance(result.get("msg"), str) and result["msg"].strip()):
        raise Finding("it failed and says nothing")


def check_serialisable(value: Any) -> None:
    """It is JSON, and UTF-8: Ansible hands it to callbacks, caches and files."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Finding(f"not JSON in UTF-8: {error}") from error


def texts_in(value: Any) -> Iterator[str]:
    """Every text, names of facts included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts_in(key)
            yield from texts_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from texts_in(item)


def check_secrets(texts: list[str], forms: list[str]) -> None:
    """No form of the secret, and next to a cut no piece of one."""
    joined = "\n".join(texts)
    for form in forms:
        if form in joined or form in json.dumps(joined):
            raise Finding(f"the secret is shown as {form}")
    beginnings = {form[:PIECE] for form in forms if len(form) > PIECE}
    endings = {form[-PIECE:] for form in forms if len(form) > PIECE}
    for text in texts:
        cut = CUT in text
        for before, after in pairwise(text.split(CUT)) if cut else ():
            if any(beginning in before[-40:] for beginning in beginnings) or any(end in after[:40] for end in endings):
                raise Finding(f"a piece of the secret is shown at a cut: {text[-600:]}")
        if any(beginning in text[-40:] for beginning in beginnings):
            raise Finding(f"a piece of the secret is shown at the end: {text[-600:]}")


def check_no_code_ran(left: Left, texts: list[str]) -> None:
    """Nothing is evaluated as a template, neither by the collection nor by Ansible from what it is given."""
    _check_canaries("by the collection", "\n".join(texts))
    if any(map(is_trusted_as_template, texts)):
        raise Finding("a text of the service is trusted as a template")
    # As Ansible registers a result.
    variables = [*left.hosts.values(), *([{"registered": untrusted(left.result)}] if left.result else [])]
    for each in variables:
        for name in each:
            _check_canaries(f"in {name}", evaluated(f"{{{{ {name} }}}}", each))


def evaluated(template: str, variables: dict[str, Any]) -> str:
    """What Ansible makes of a template that it trusts."""
    with environment():
        return str(Templar(LOADER, variables=variables).template(trust_as_template(template)))


def _check_canaries(where: str, text: str) -> None:
    if any(canary in text for canary in CANARIES):
        raise Finding(f"a template was evaluated {where}")


def check_printable(left: Left) -> None:
    """What people read moves no cursor and hides no text."""
    result = left.result or {}
    texts = [result.get("msg"), *result.get("warnings", []), *left.lines, left.error]
    for text in filter(None, [*texts, *(COLOR.sub("", table) for table in left.tables)]):
        if any(unicodedata.category(character) in INVISIBLE and character not in "\n\t" for character in text):
            raise Finding(f"unprintable characters are shown: {text!r}"[:1000])


def check_posts(service: HostileService) -> None:
    """Nothing is sent again that may have been carried out."""
    sent: dict[str, bool] = {}
    for post in service.posts:
        if sent.get(post.path) and not service.shows_failure:
            raise Finding(f"POST {post.path} was sent again")
        sent[post.path] = not post.refused


def check_pages_read(service: HostileService) -> None:
    """No list is read further than its limit."""
    if service.highest_page > MOST_PAGES:
        raise Finding(f"page {service.highest_page} of a list was read")


def check_restart(case: Case, left: Left, service: HostileService) -> None:
    """The result has every key once there is a target, and the task that the service named."""
    result = left.result or {}
    missing = RESULT_KEYS - PASSED_ON - result.keys()
    if "target" in result and missing:
        raise Finding(f"keys are missing in the result: {sorted(missing)}")
    named = [post.task_id for post in service.posts if post.task_id is not None]
    if case.check_mode and service.posts:
        raise Finding("POST in check mode")
    # What is no new task of the target, or shows nothing of a task, is told in words.
    message = str(result.get("msg"))
    last = named[-1] if named else None
    is_other = f"shows task {last} " in message and "which is not a new restart of" in message
    disbelieved = is_other or f"has the id {last}, but no field of a task" in message
    if named and result.get("task_id") is None:
        if disbelieved:
            return
        raise Finding(f"the task {named[-1]} is lost: {result.get('msg')}")
    if len(service.posts) == 1 and named and not service.shows_failure and result["task_id"] != named[0]:
        raise Finding(f"task_id is {result['task_id']}, not {named[0]}")


def check_hosts(left: Left) -> None:
    """Names become files and commands."""
    for name, variables in left.hosts.items():
        if "ocp_server_count" in variables:
            if not CLUSTER_HOST.fullmatch(name):
                raise Finding(f"the host of a cluster is called {name!r}")
            if variables.get("ansible_connection") != "local":
                raise Finding("a host of a cluster is not local")
            continue
        address = variables.get("ansible_host")
        if not HOST.fullmatch(name.replace("[", "").replace("]", "")):
            raise Finding(f"a host is called {name!r}")
        if not (isinstance(address, str) and ADDRESS.fullmatch(address)):
            raise Finding(f"ansible_host is {address!r}")
    for group in left.groups:
        if not GROUP.fullmatch(group):
            raise Finding(f"a group is called {group!r}")


def check_events(left: Left) -> None:
    """Ids are numbers: rulebooks pass them to playbooks as text that Ansible trusts."""
    for event in left.events:
        for record in (event["task"], event["subtask"] or {}, *event["task"]["subtasks"]):
            for key, value in record.items():
                is_id = key == "id" or key.endswith("_id")
                if is_id and not (value is None or (isinstance(value, int) and not isinstance(value, bool))):
                    raise Finding(f"the event {event['change']} has {key}={value!r}")


@cache
def _own_tags() -> set[str]:
    templates = Path(html_page.__file__).parent.glob("*.html.j2")
    return {tag for path in templates for tag in re.findall("<([a-z][a-z0-9]*)", path.read_text(encoding="utf-8"))}


def check_page(document: str) -> None:
    """A page has the tags of its templates alone, and loads and runs nothing."""
    try:
        page = Page(document)
    except (AssertionError, SyntaxError, ValueError) as error:
        raise Finding(f"the page is no document: {error}") from error
    for tag, attributes in page.tags:
        values = " ".join(str(value) for value in attributes.values()).lower()
        if tag not in _own_tags() or any(name.startswith("on") for name in attributes) or "javascript:" in values:
            raise Finding(f"the page has <{tag} {attributes}>")
