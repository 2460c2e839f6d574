"""The OpenAPI document: it covers the contract, and the server does what it says and nothing else."""

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.transport.serialization import Binary

import omnigraph as og
from tests.server.process import CONTRACT, DATA, SCHEMA, ServerProcess
from tests.support.eventually import HANGS_S

schemathesis.checks.load_all_checks()
CHECKS = schemathesis.checks.CHECKS.get_by_names(
    ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance"]
)
STORED = "query names() { match { $p: Person } return { $p.name } }"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("openapi")
    og.init(folder / "g.omni", schema=SCHEMA).load(DATA.encode())
    (folder / "q.gq").write_text(STORED)
    with ServerProcess("--graph", "g=g.omni", "--queries", "q.gq", "--unauthenticated", folder=folder) as running:
        yield running


@pytest.fixture(scope="module")
def document(server):
    return server.client().flat("GET", "/openapi.json").json()


def test_every_route_of_the_contract_is_described(document):
    for path, operations in CONTRACT["paths"].items():
        for method, operation in operations.items():
            ours = document["paths"][path][method]
            assert ours["operationId"] == operation["operationId"]
            assert bool(ours.get("deprecated")) == bool(operation.get("deprecated"))
            assert set(operation["responses"]) <= {*ours["responses"], "503", "405", "424"}, path
            names = {one["name"] for one in ours.get("parameters", [])}
            assert {one["name"] for one in operation.get("parameters", [])} <= names, path


def test_every_object_of_the_contract_is_described(document):
    ours = document["components"]["schemas"]
    for name, schema in CONTRACT["components"]["schemas"].items():
        if "properties" in schema and name in ours:
            assert set(schema["properties"]) <= set(ours[name]["properties"]), name
            assert set(schema.get("required", [])) <= set(ours[name].get("required", [])), name


def test_without_tokens_no_security_is_described(document):
    assert "securitySchemes" not in document["components"]
    assert "security" not in json.dumps(document["paths"])


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    return value.data if isinstance(value, Binary) else json.dumps(value).encode()


def test_nothing_undocumented_and_nothing_of_ours_fails(document, server):
    loaded = schemathesis.openapi.from_dict(document)
    loaded.config.update(base_url=server.url, request_timeout=HANGS_S)
    tried = 0
    for found in loaded.exclude(path_regex="/metrics").get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy())
        @settings(
            max_examples=5, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
        )
        def ask(case):
            if "graph_id" in (case.path_parameters or {}):
                case.path_parameters["graph_id"] = "g"
            case.call_and_validate(checks=CHECKS)

        ask()
        tried += 1
    assert tried >= 30
