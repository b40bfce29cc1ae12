# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Each read of the OpenAPI document shows an answer that fits its schema."""

import pytest
from jsonschema import Draft202012Validator
from ocp_emulator.base.compatibility import PROFILES


@pytest.mark.parametrize("profile", PROFILES)
def test_each_read_has_an_example_that_its_schema_allows(start, profile):
    document = start(switches=PROFILES[profile]).app.openapi()
    reads = {path: operations["get"] for path, operations in document["paths"].items() if "get" in operations}
    for path, read in reads.items():
        [content] = read["responses"]["200"]["content"].values()
        Draft202012Validator({**content["schema"], "components": document["components"]}).validate(content["example"])
        if "application/json" in read["responses"]["200"]["content"] and path != "/api/v2/info":
            data = content["example"]["data"]
            assert "contents" not in data or len(data["contents"]) == 1, path


def test_an_example_is_of_the_service_as_it_is(start):
    document = start(switches=PROFILES["4.2"]).app.openapi()
    clusters = document["paths"]["/api/v2/ob/clusters"]["get"]["responses"]["200"]["content"]["application/json"]
    [cluster] = clusters["example"]["data"]["contents"]
    assert (cluster["name"], cluster["obClusterId"], cluster["status"]) == ("orders", 101, "RUNNING")
    assert clusters["example"]["data"]["page"]["size"] == 10
    health = document["paths"]["/api/status"]["get"]["responses"]["200"]["content"]
    assert health["text/plain"]["example"] == "okay"
