# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the option that names a shared journal."""

from __future__ import annotations


class ModuleDocFragment:
    """Where the collection remembers what it has done."""

    DOCUMENTATION = r"""
options:
  journal_url:
    description:
      - URL of a database for the journal, as in V(postgresql://user:password@db.example.com/ocp) or
        V(mariadb://user:password@db.example.com/ocp), so that several controllers share it. Without it the journal is a
        file of this controller.
      - The journal is what restarts, their plans and M(oceanbase.ocp.cluster_parameter) remember. Other modules accept
        the option and do not use it, so that it can be among the defaults of the group.
      - It needs the Python library SQLAlchemy where the module runs, with psycopg for PostgreSQL, or PyMySQL for MySQL,
        MariaDB and OceanBase.
      - If the database cannot be reached before a request, nothing is sent. If it cannot be reached afterwards, this
        controller keeps what came of the request, and brings it in when it uses the journal again.
      - Taken from the environment variable E(OCP_JOURNAL_URL) if it is not set.
    type: str
"""
