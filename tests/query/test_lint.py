"""The lint report."""

from omnigraph.query import SchemaSource, lint_queries
from tests.query.people import CATALOG

FILE = SchemaSource("file", "people.pg")
READ = "query good() { match { $p: Person } return { $p.name } }"


def _lint(text: str) -> dict:
    return lint_queries(text, CATALOG, "my.gq", FILE).to_json()


def test_a_good_file() -> None:
    assert _lint(READ) == {
        "status": "ok",
        "schema_source": {"kind": "file", "path": "people.pg"},
        "query_path": "my.gq",
        "queries_processed": 1,
        "errors": 0,
        "warnings": 0,
        "infos": 0,
        "results": [
            {
                "name": "good",
                "kind": "read",
                "status": "ok",
                "operation": {
                    "result": [{"name": "name", "kind": "string", "nullable": False}],
                    "reads": [{"kind": "node", "type_name": "Person"}],
                    "writes": [],
                },
            }
        ],
        "findings": [],
    }


def test_schema_of_a_graph() -> None:
    report = lint_queries(READ, CATALOG, "my.gq", SchemaSource("graph", "s3://b/g"))
    assert report.to_json()["schema_source"] == {"kind": "graph", "uri": "s3://b/g"}


def test_q000_the_file_does_not_parse() -> None:
    report = _lint(READ + " query bad( {")
    assert (report["status"], report["queries_processed"], report["errors"]) == ("error", 0, 1)
    assert report["results"] == []
    (finding,) = report["findings"]
    assert (finding["severity"], finding["code"]) == ("error", "Q000")
    assert finding["message"].startswith("parse error: ")


def test_each_query_has_its_own_errors() -> None:
    report = _lint("query bad() { match { $p: Persn } return { $p.name, $q.name } }" + READ)
    assert (report["status"], report["queries_processed"], report["errors"]) == ("error", 2, 1)
    bad, good = report["results"]
    assert (bad["status"], good["status"]) == ("error", "ok")
    assert "type error: T1: there is no node type 'Persn'" in bad["error"]
    assert "type error: T6: $q is not bound" in bad["error"]
    assert "operation" not in bad


def test_a_mutation_without_parameters_is_a_warning() -> None:
    report = _lint("query wipe() { delete Person where age > 1 }")
    assert (report["status"], report["warnings"]) == ("ok", 1)
    assert "no parameters" in report["results"][0]["warnings"][0]


def test_l201_properties_no_update_sets() -> None:
    text = """
    query a($n: I32) { update Person set { age: $n, score: 1.5 } where age > 1 }
    query b($n: I32) { update Person set { active: true, bio: "b", tags: [], born: null } where age > $n }
    query c($n: F64) { update Knows set { weight: $n } where weight > 1 }
    """
    report = _lint(text)
    assert report["status"] == "ok"
    assert [(f["code"], f["type_name"], f["property"]) for f in report["findings"]] == [
        ("L201", "Person", name) for name in ("photo", "role", "seen", "taste")
    ]
    assert report["findings"][0]["query_names"] == ["a", "b"]
    assert report["warnings"] == 4


def test_findings_are_sorted() -> None:
    text = """
    query a($n: String) { update Person set { name: $n } where age > 1 }
    query b($n: String) { update Company set { name: $n } where founded > 1 }
    """
    found = [(f["type_name"], f["property"]) for f in _lint(text)["findings"]]
    assert found == sorted(found)
    assert found[0] == ("Company", "founded")
