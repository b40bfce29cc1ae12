# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the connection options, which modules and the inventory share."""

from __future__ import annotations


class ModuleDocFragment:
    """The connection with an OCP."""

    DOCUMENTATION = r"""
options:
  url:
    description:
      - Address of the OCP, with scheme and port, as in V(https://ocp.example.com:8080).
      - Without a path such as C(/api/v2). A path that a proxy puts in front of the service is allowed.
      - Redirects are not followed.
      - Required. Taken from the environment variable E(OCP_URL) if it is not set.
    type: str
  username:
    description:
      - Name of the OCP user, for HTTP Basic. Goes with O(password).
      - Give either these two, or O(access_key_id) and O(access_key_secret).
      - Taken from the environment variable E(OCP_USERNAME) if it is not set.
    type: str
  password:
    description:
      - Password of the OCP user.
      - An ad-hoc command that fails may show its arguments, so set the environment variable for it.
      - Taken from the environment variable E(OCP_PASSWORD) if it is not set.
    type: str
  access_key_id:
    description:
      - Id of an access key of the OCP user, for signed requests (C(OCP-ACCESS-KEY-HMACSHA1)). Goes with
        O(access_key_secret).
      - The signature contains the time, so the clocks of this machine and of the OCP may differ by at most 15 minutes.
      - Taken from the environment variable E(OCP_ACCESS_KEY_ID) if it is not set.
    type: str
  access_key_secret:
    description:
      - Secret of the access key. It is never sent.
      - Taken from the environment variable E(OCP_ACCESS_KEY_SECRET) if it is not set.
    type: str
  validate_certs:
    description:
      - Whether the certificate of an C(https) address has to be trusted. Set it to V(false) only for test systems.
      - Taken from the environment variable E(OCP_VALIDATE_CERTS) if it is not set.
    type: bool
    default: true
  ca_path:
    description:
      - File or folder of CA certificates to trust, instead of those that come with the Python library C(requests).
      - Taken from the environment variable E(OCP_CA_PATH) if it is not set.
    type: path
  client_cert:
    description:
      - File with the client certificate to show to an C(https) address that asks for one, in PEM form. It may have the
        chain, and the private key.
      - The file is read where the module runs.
      - Taken from the environment variable E(OCP_CLIENT_CERT) if it is not set.
    type: path
  client_key:
    description:
      - File with the private key of O(client_cert), in PEM form and without a passphrase. Not needed if that file has
        the key too.
      - The content of the file is never sent or shown.
      - Taken from the environment variable E(OCP_CLIENT_KEY) if it is not set.
    type: path
  use_proxy:
    description:
      - Whether to use the proxy that the environment names (C(HTTPS_PROXY), C(HTTP_PROXY), C(ALL_PROXY), C(NO_PROXY)).
      - Taken from the environment variable E(OCP_USE_PROXY) if it is not set.
    type: bool
    default: true
  timeout:
    description:
      - How many seconds one request may take in all, from the connection to the last byte, including retries.
      - A pause that the service asks for when its request limit is used up is not counted, but may not be longer than
        this.
      - All pages of one list together may take three times as long.
      - It does not limit how long the module waits for a task.
      - Taken from the environment variable E(OCP_TIMEOUT) if it is not set.
    type: float
    default: 30
    aliases: [request_timeout]
requirements:
  - python >= 3.11, where the module runs
  - requests >= 2.31 (Python library), where the module runs
"""
