# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Has ``ansible_process.py`` run the command that this file is named after; the socket is in the same folder."""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
    connection.connect(sys.argv[0].rpartition("/")[0] + "/socket")
    # To import pathlib takes longer than all of this.
    command = {"arguments": sys.argv, "environment": dict(os.environ), "folder": os.getcwd()}  # noqa: PTH109
    socket.send_fds(connection, [json.dumps(command).encode()], [0, 1, 2])
    _process_id = connection.recv(16)
    sys.exit(int(connection.recv(16)))
