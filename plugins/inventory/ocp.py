# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
name: ocp
short_description: Database servers or clusters of OCP as hosts
version_added: 1.0.0
description:
  - Makes a host of every database server node that OCP manages, with groups by cluster, zone, region, status and
    version; or with O(hosts=clusters) a host of every cluster.
  - The name of the inventory file has to end in C(ocp.yml) or C(ocp.yaml).
  - A server is named by its address and RPC port, as in V(10.0.0.1_2882), which no other server has. The name has no
    colon, because colons separate hosts in a play or C(--limit). The modules take the server as OCP shows it,
    V(10.0.0.1:2882). The variable C(ocp_server) has this form.
  - Servers are in the groups C(ocp_servers), C(ocp_cluster_NAME), C(ocp_zone_CLUSTER_ZONE) within that of the cluster,
    C(ocp_region_NAME), C(ocp_status_STATUS) and C(ocp_version_NUMBER).
  - Servers have the variables C(ansible_host), the IP address; C(ocp_server), the address of the server;
    C(ocp_url), the address of the OCP; C(ocp_cluster), C(ocp_zone), C(ocp_region), C(ocp_idc), C(ocp_status),
    C(ocp_inner_status), C(ocp_version), C(ocp_with_rootserver) and C(ocp_sql_port); C(ocp_server_id),
    C(ocp_cluster_id) and C(ocp_host_id); C(ocp_start_time) in ISO 8601; and C(ocp_task_id), the task that works on it
    now.
  - A cluster as a host has the name of the cluster, so C(--limit orders) finds it, unless O(host_names=unique).
  - The id and the address of the OCP follow, as in V(orders+1+ocp.example.com+8080), if two clusters have the name,
    such as a primary and its standby, if another host or group has it already, if it begins with C(ocp_), or if it has
    other characters than letters, digits, C(_) and C(-); these are encoded as in a URL. The pattern V(orders+*)
    matches all of these.
  - Clusters are in the groups C(ocp_clusters), C(ocp_clusters_region_NAME) of each of their zones,
    C(ocp_clusters_status_STATUS), C(ocp_clusters_version_NUMBER) and C(ocp_clusters_type_TYPE), and in no group of
    servers.
  - Clusters have the variables C(ocp_cluster), C(ocp_cluster_id), C(ocp_ob_cluster_id), C(ocp_type), C(ocp_status),
    C(ocp_version), C(ocp_start_time), C(ocp_task_id), C(ocp_server_count) and C(ocp_tenant_count); the lists
    C(ocp_regions), C(ocp_idcs) and C(ocp_zones), the latter as M(oceanbase.ocp.cluster_info) returns it;
    C(ocp_servers), the addresses of the servers if the service shows them with the cluster; and C(ocp_url), the address
    of the OCP. Tasks for them run on the controller, by C(ansible_connection) and C(ansible_python_interpreter).
  - Characters that a group name may not have become underscores. If two names become the same group name, there is a
    warning, and no such group. The same holds for clusters, or zones of them, that have one name in several OCPs.
  - If several OCPs have a server of one address, the command of Ansible ends with that error.
  - A value that the service does not show is null. Variables are data. A value that looks like a template is never
    evaluated.
  - A server whose address is neither an IP address nor a host name is left out, with a warning that names it.
  - Plays over servers need C(connection=local), because the modules talk to OCP and not to the servers. Without it the
    modules of this collection refuse to run.
  - It needs the permission to read clusters (C(CLUSTER_VIEWER)).
  - If OCP rejects the credentials, or if a cluster in O(filters) does not exist, the command of Ansible ends with that
    error. Otherwise Ansible would run without these hosts.
  - If OCP cannot be read for another reason, Ansible warns and goes on without its hosts. All hosts then have the
    variable C(ocp_inventory_unread), a list of sentences with the file and the reason.
options:
  plugin:
    description: The name of this plugin.
    type: str
    required: true
    choices: [oceanbase.ocp.ocp]
  url:
    env:
      - name: OCP_URL
  username:
    env:
      - name: OCP_USERNAME
  password:
    env:
      - name: OCP_PASSWORD
  access_key_id:
    env:
      - name: OCP_ACCESS_KEY_ID
  access_key_secret:
    env:
      - name: OCP_ACCESS_KEY_SECRET
  validate_certs:
    env:
      - name: OCP_VALIDATE_CERTS
  ca_path:
    env:
      - name: OCP_CA_PATH
  client_cert:
    env:
      - name: OCP_CLIENT_CERT
  client_key:
    env:
      - name: OCP_CLIENT_KEY
  use_proxy:
    env:
      - name: OCP_USE_PROXY
  timeout:
    env:
      - name: OCP_TIMEOUT
  hosts:
    description:
      - What becomes a host.
      - Use clusters as hosts for plays, C(--limit) and AWX slices over clusters. Only the list of clusters is read
        then.
    type: str
    choices: [servers, clusters]
    default: servers
  host_names:
    description:
      - With V(short) a cluster as a host has the name of the cluster.
      - With V(unique) the id and the address of the OCP follow in each name, so that no two clusters of several OCPs
        have the same. Use it if a cluster may be called like another host, and if AWX reads several OCPs into one
        inventory, since it reads them one by one.
    type: str
    choices: [short, unique]
    default: short
  filters:
    description:
      - Which servers become hosts, by C(cluster), C(server), C(zone), C(region), C(idc) and C(status), each of them a
        value or a list of values. They are the options of M(oceanbase.ocp.server_info).
      - With O(hosts=clusters), which clusters become hosts, by C(cluster), C(zone), C(region), C(idc) and C(status), as
        options of M(oceanbase.ocp.cluster_info).
      - Each C(cluster) has to exist. Other filters may match nothing.
      - Naming clusters is also the fastest for servers, because no others are read.
    type: dict
    default: {}
extends_documentation_fragment:
  - oceanbase.ocp.connection
  - constructed
  - inventory_cache
notes:
  - The connection options may be templates, such as a lookup of a password.
  - A cache keeps the servers or clusters, without credentials. It is not used for other O(hosts), other O(filters) or
    another O(url). A status or start time in it is as old as the cache. The modules always read again what decides
    about a restart.
seealso:
  - module: oceanbase.ocp.server_info
  - module: oceanbase.ocp.cluster_info
author:
  - contributors of oceanbase.ocp (!UNKNOWN)
"""

EXAMPLES = r"""
# fleet.ocp.yml, with the connection from the environment (OCP_URL, OCP_USERNAME, OCP_PASSWORD)
plugin: oceanbase.ocp.ocp

---
# orders.ocp.yml: one cluster, only its running servers, with additional groups and variables
plugin: oceanbase.ocp.ocp
url: https://ocp.example.com:8080
username: admin
password: "{{ lookup('ansible.builtin.env', 'MY_OCP_PASSWORD') }}"
filters:
  cluster: orders
  status: [RUNNING]
strict: true
keyed_groups:
  - key: ocp_idc
    prefix: idc
groups:
  root_servers: ocp_with_rootserver
compose:
  sql_address: ansible_host ~ ':' ~ ocp_sql_port
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: ~/.cache/ocp
cache_timeout: 600

---
# clusters.ocp.yml: a host for each cluster with a zone in the north, and a group of those with version 4.3
plugin: oceanbase.ocp.ocp
hosts: clusters
filters:
  region: [north, default_region]
groups:
  of_4_3: ocp_version is match('4\\.3\\.')
keyed_groups:
  - key: ocp_idcs
    prefix: clusters_idc
"""

import re
from collections.abc import Callable, Collection
from typing import Any, NamedTuple, NoReturn

from ansible.errors import AnsibleOptionsError, AnsibleParserError
from ansible.module_utils.basic import missing_required_lib
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import UnsupportedError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable

from ..module_utils._base.errors import CredentialsRefused, OcpError, OptionError, TargetError
from ..module_utils._base.text import join_names
from ..module_utils._fleet.facts import Facts
from ..module_utils._fleet.fleet_queries import read_clusters, read_servers
from ..module_utils._module.connection_options import CONNECTION_OPTIONS, connected, plaintext_password_warnings
from ..module_utils._module.secret_options import censor_of
from ..module_utils._ocp.session import REQUESTS_IMPORT_ERROR
from ..modules.cluster_info import OPTIONS as CLUSTER_FILTERS
from ..modules.server_info import OPTIONS as SERVER_FILTERS
from ..plugin_utils._ansible_core import SafeGroupNames, add_constructed, read_config, untrusted
from ..plugin_utils._cluster_hosts import cluster_hosts
from ..plugin_utils._inventory_groups import Hosts
from ..plugin_utils._inventory_hosts import server_hosts


class Kind(NamedTuple):
    """The kind of object that becomes a host: its filters, how they are read, and how it becomes a host."""

    filters: dict[str, Any]
    read: Callable[..., list[Facts]]
    as_hosts: Callable[[list[Facts], str, Collection[str] | None], Hosts]


KINDS = {
    "servers": Kind(SERVER_FILTERS, read_servers, lambda found, url, _taken: server_hosts(found, url)),
    "clusters": Kind(CLUSTER_FILTERS, read_clusters, cluster_hosts),
}


# The variable of a group that would stand for things of several OCPs.
AMBIGUOUS = "ocp_group_is_ambiguous"
# The variable that says which files could not be read, and why.
UNREAD = "ocp_inventory_unread"
# Ansible's exit code for an inventory that it cannot parse.
CANNOT_BE_PARSED = 4
# Ansible knows the aliases of options, but not those of a file's keys.
ALIASES = {alias: option for option, spec in CONNECTION_OPTIONS.items() for alias in spec.get("aliases", ())}


# What to give for an option of a type.
TYPES = {
    "bool": "true or false",
    "dict": "a dictionary",
    "float": "a number",
    "int": "a whole number",
    "list": "a list",
}


class InventoryModule(SafeGroupNames, BaseInventoryPlugin, Constructable, Cacheable):
    """The servers or clusters of one OCP as an inventory."""

    NAME = "oceanbase.ocp.ocp"

    def verify_file(self, path):
        """Whether the name of the file is of the form that this plugin reads."""
        return super().verify_file(path) and path.endswith(("ocp.yml", "ocp.yaml"))

    def parse(self, inventory, loader, path, cache=True):
        """Add the servers or clusters to the inventory.

        Raises AnsibleParserError if it cannot be read, and SystemExit if its file is wrong: after a parser error
        Ansible asks other plugins about the file, and goes on without its hosts.
        """
        super().parse(inventory, loader, path, cache)
        try:
            config = read_config(self, path)
        except AnsibleOptionsError as error:
            self._end(path, self._wrong_value(str(error), loader.load_from_file(path)))
        kind = KINDS[self.get_option("hosts")]
        try:
            params = self._params(config, kind.filters)
        except AnsibleParserError as refused:
            self._end(path, str(refused))
        if REQUESTS_IMPORT_ERROR is not None:
            raise AnsibleParserError(missing_required_lib("requests"))
        try:
            found = self._found(params, kind, self.get_cache_key(path), cache)
            hosts = kind.as_hosts(found, params["url"], self._taken())
            self._check_other_services(hosts)
        except (CredentialsRefused, OptionError, TargetError) as error:
            self._end(path, censor_of(params).clean(str(error)))
        except OcpError as error:
            sentence = censor_of(params).clean(str(error))
            self._note_unread(path, sentence)
            raise AnsibleParserError(sentence) from None
        self._empty_ambiguous_groups(hosts)
        for warning in (*hosts.warnings, *hosts.groups.warnings):
            self.display.warning(warning)
        self._add(hosts)

    def _end(self, path: str, sentence: str) -> NoReturn:
        self.display.error(f"{path}: {sentence}", wrap_text=False)
        raise SystemExit(CANNOT_BE_PARSED)

    def _wrong_value(self, error: str, config: dict[str, Any]) -> str:
        """A sentence in place of Ansible's ``error``, whose words for an option of the file differ by version."""
        match = re.search(r"(?:[Cc]onfig '|setting: )(\w+)", error)
        option = match[1] if match else None
        named = next((key for key in config if ALIASES.get(key, key) == option), None)
        if named is None:
            return " ".join(error.split())
        wanted, value = self.option_definitions[option], config[named]
        shown = repr(value) if isinstance(value, (str, int, float)) else "the value"
        kind = TYPES.get(wanted.get("type"), "text")
        valid = f"one of {join_names(wanted['choices'])}" if "choices" in wanted else kind
        return censor_of(config).clean(f"{named}: {shown} is not valid; give {valid}.")

    def _note_unread(self, path: str, sentence: str) -> None:
        """Let plays know: they run without the hosts of this file, after a warning that is long gone."""
        noted = self.inventory.groups["all"].vars.get(UNREAD, [])
        self.inventory.set_variable("all", UNREAD, [*noted, untrusted(f"{path}: {sentence}")])

    def _taken(self) -> Collection[str] | None:
        """The names that a cluster may not have, if it may be called by its own."""
        known = {*self.inventory.hosts, *self.inventory.groups}
        return known if self.get_option("host_names") == "short" else None

    def _params(self, config: dict[str, Any], filters: dict[str, Any]) -> dict[str, Any]:
        """The options for what to read, validated like those of the modules."""
        for alias, option in ALIASES.items():
            if alias in config and option in config:
                raise AnsibleParserError(f"{option}, {alias}: both are given, but they are the same option; give one.")
        config = {ALIASES.get(option, option): value for option, value in config.items()}
        unknown = sorted(str(option) for option in config if not self.has_option(option))
        if unknown:
            raise AnsibleParserError(
                f"{unknown[0]}: is not an option of {self.NAME}; see ansible-doc -t inventory {self.NAME}."
            )
        spec = {**CONNECTION_OPTIONS, "filters": {"type": "dict", "options": filters, "default": {}}}
        given = {option: self._given(option, config) for option in spec}
        validation = ArgumentSpecValidator(spec).validate(
            {option: value for option, value in given.items() if value is not None}
        )
        if validation.error_messages:
            unsupported = isinstance(validation.errors[0], UnsupportedError)
            text = f"{'There is no option ' if unsupported else ''}{validation.errors.msg}"
            raise AnsibleParserError(censor_of(given).clean(text))
        return validation.validated_parameters

    def _given(self, option: str, config: dict[str, Any]) -> Any:
        if not isinstance(config.get(option), str):
            return self.get_option(option)
        try:
            return self.templar.template(config[option])
        # Its text may quote a secret.
        except Exception as error:
            raise AnsibleParserError(f"{option}: cannot be templated ({type(error).__name__}).") from None

    def _found(self, params: dict[str, Any], kind: Kind, key: str, cache: bool) -> list[Facts]:
        asked = {"url": params["url"], "hosts": self.get_option("hosts"), "filters": params["filters"]}
        keeps = self.get_option("cache")
        kept = self.cache.get(key) if keeps and cache else None
        if kept is not None and kept["asked"] == asked:
            return kept["found"]
        with connected(params) as api:
            for warning in plaintext_password_warnings(params):
                self.display.warning(warning)
            found = censor_of(params).clean_all(kind.read(api, params["filters"], must_exist="filters.cluster"))
        if keeps:
            self.cache[key] = {"asked": asked, "found": found}
        return found

    def _check_other_services(self, hosts: Hosts) -> None:
        """Raise OptionError if a host is that of another OCP already."""
        for name, variables in hosts.variables.items():
            there, here = self._url_of(self.inventory.hosts.get(name)), variables["ocp_url"]
            if there not in (None, here):
                raise OptionError(
                    f"filters: the OCPs at {there} and {here} both have a host {name}; give filters that pass only one "
                    "of the two, or use an inventory for each OCP."
                )

    def _empty_ambiguous_groups(self, hosts: Hosts) -> None:
        """Empty each group that would mix things of several OCPs that only share a name."""
        urls = {None, *(variables["ocp_url"] for variables in hosts.variables.values())}
        for name, thing in hosts.groups.of_service.items():
            group = self.inventory.groups.get(name)
            if group is None or (AMBIGUOUS not in group.vars and {self._url_of(host) for host in group.hosts} <= urls):
                continue
            for host in list(group.hosts):
                group.remove_host(host)
            group.set_variable(AMBIGUOUS, True)
            hosts.groups.members[name] = []
            hosts.groups.warnings.append(
                f"Group {name} has no hosts, since it would mean {thing} of several OCPs. Make groups of your own with "
                "keyed_groups."
            )

    @staticmethod
    def _url_of(host: Any) -> str | None:
        """The address of the OCP that a host of this plugin is from; None for any other host."""
        return None if host is None else host.vars.get("ocp_url")

    def _add(self, hosts: Hosts) -> None:
        for host, data in hosts.variables.items():
            self.inventory.add_host(host)
            # As a whole: before ansible-core 2.19 a text, list or dict that is not marked is evaluated as a template.
            variables = {name: untrusted(value) for name, value in data.items()} | hosts.settings
            for name, value in variables.items():
                self.inventory.set_variable(host, name, value)
            add_constructed(self, host, variables)
        for group, members in hosts.groups.members.items():
            self.inventory.add_group(group)
            for host in members:
                self.inventory.add_host(host, group=group)
        for group, parent in hosts.groups.parents.items():
            self.inventory.add_child(parent, group)
