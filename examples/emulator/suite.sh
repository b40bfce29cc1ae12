#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
#
# A test suite with curl alone: reset, plant, restart, verify, snapshot, back.
# It needs an emulator, by default the one of `ocp-emulator serve`: sh suite.sh [URL]
set -eu

url=${1:-http://127.0.0.1:8080}

# ocp METHOD PATH [BODY]: the answer to a request.
ocp() {
    curl --silent --show-error --fail-with-body --user admin:ocp-demo-1 --request "$1" \
        --header 'Content-Type: application/json' ${3:+--data "$3"} "$url$2"
}

# is WORD ANSWER: the test has failed if the answer does not have this.
is() {
    case $2 in *"$1"*) ;; *) echo "FAILED: no $1 in $2" >&2; exit 1 ;; esac
}

echo 'reset: each test begins with the same fleet, and with a clock that only the test moves'
ocp POST /emulator/reset > /dev/null
ocp PUT /emulator/clock '{"running": false}' > /dev/null

echo 'plant: a server that is down, and a step that fails once'
ocp PUT /emulator/servers/7/process '{"running": false}' > /dev/null
ocp POST /emulator/faults '{"kind": "subtask", "action": "fail", "match": {"subtask": "Start observer process"}}' > /dev/null

echo 'snapshot: to come back to this'
ocp PUT /emulator/snapshots/down > /dev/null

echo 'restart: it fails, and succeeds when it is retried'
task=$(ocp POST '/api/v2/ob/clusters/2/servers/7/restart?freezeServer=false' | sed 's/.*"data":{[^{]*"id":\([0-9]*\).*/\1/')
ocp POST /emulator/clock/advance '{"seconds": 60}' > /dev/null
is '"totalElements":1' "$(ocp GET '/api/v2/tasks/instances?status=FAILED')"
ocp POST "/api/v2/tasks/instances/$task/retry" > /dev/null
ocp POST /emulator/clock/advance '{"seconds": 60}' > /dev/null
is '"totalElements":1' "$(ocp GET '/api/v2/tasks/instances?status=SUCCESSFUL')"

echo 'verify: what was sent, and what was really started'
is '"count":1' "$(ocp GET '/emulator/requests/count?method=POST&path=*/servers/*/restart&status=200')"
is '"restarts":1' "$(ocp GET /emulator/restarts)"
is '"hits":1' "$(ocp GET /emulator/faults)"

echo 'back: the server is down again, and nothing was sent'
ocp POST /emulator/snapshots/down/restore > /dev/null
is '"status":"STOPPED"' "$(ocp GET /api/v2/ob/clusters/2/servers)"
is '"count":0' "$(ocp GET /emulator/requests/count?method=POST)"
is '"contents":[]' "$(ocp GET /emulator/restarts)"

echo passed
