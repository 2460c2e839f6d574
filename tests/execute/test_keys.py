"""Conditions that name their rows: the column, the values, and what is left to check."""

from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest

from omnigraph.execute import key_equality
from omnigraph.query import CheckedMutation, compile_queries, decode_params, ir
from omnigraph.schema import compile_schema

CATALOG = compile_schema("""
node Person { email: String @key name: String? age: I32? @index score: F64? ratio: F32? tags: [String]? }
node Day { day: Date @key }
node Moment { at: DateTime @key }
node Number { n: I64 @key big: U64? }
node Pair { a: String b: I64 @key(a, b) flag: Bool? }
edge Knows: Person -> Person { since: Date? }
""")
Case = tuple[str, str, str, dict[str, Any], str, list[Any], str | None]


def condition(type_name: str, text: str, declared: str = "") -> tuple[ir.Expression, Any]:
    (query,) = compile_queries(f"query q({declared}) {{ delete {type_name} where {text} }}", CATALOG).queries
    assert isinstance(query, CheckedMutation)
    (statement,) = query.statements
    assert isinstance(statement, ir.Delete)
    return statement.condition, query


CASES: list[Case] = [
    ("Person", '@id = "a"', "", {}, "id", ["a"], None),
    ("Person", 'email = "a"', "", {}, "id", ["a"], None),
    ("Person", '"a" = email', "", {}, "id", ["a"], None),
    ("Person", "email = $e", "$e: String", {"e": "x'y"}, "id", ["x'y"], None),
    ("Person", "email = $e", "$e: String?", {"e": None}, "id", [], None),
    ("Person", "email in $e", "$e: [String]", {"e": ["a", "b", "a"]}, "id", ["a", "b"], None),
    ("Person", "email in $e", "$e: [String]?", {}, "id", [], None),
    ("Person", 'email in ["a", $e]', "$e: String?", {"e": "b"}, "id", ["a", "b"], None),
    ("Person", 'email in ["a", $e]', "$e: String?", {}, "id", ["a"], None),
    ("Person", "email in []", "", {}, "id", [], None),
    ("Person", 'email = "a" and age > 3', "", {}, "id", ["a"], "age > 3"),
    ("Person", 'age = 3 and (age > 1 and email = "a")', "", {}, "id", ["a"], "age = 3 and age > 1"),
    ("Person", 'email = "a" or email = "b"', "", {}, "id", ["a", "b"], None),
    ("Person", 'email = "a" or @id in ["b"]', "", {}, "id", ["a", "b"], None),
    ("Person", 'name = "n" and age = 3', "", {}, "age", [3], 'name = "n"'),
    ("Person", 'name = "n"', "", {}, "name", ["n"], None),
    ("Person", "age = 3.0", "", {}, "age", [3], None),
    ("Person", "age = -3", "", {}, "age", [-3], None),
    ("Person", "age = 3.5 and name is null", "", {}, "age", [], None),
    ("Person", "age = 5000000000", "", {}, "age", [], None),
    ("Person", "score = 0", "", {}, "score", [0.0, -0.0], None),
    ("Person", "score = 2", "", {}, "score", [2.0], None),
    ("Person", "ratio = 0.1", "", {}, "ratio", [], None),
    ("Person", "ratio = 0.5", "", {}, "ratio", [0.5], None),
    ("Day", 'day = date("1970-01-02")', "", {}, "id", ["1"], None),
    ("Day", "day in $d", "$d: [Date]", {"d": ["1969-12-31"]}, "id", ["-1"], None),
    ("Moment", 'at = datetime("1970-01-01T00:00:01Z")', "", {}, "id", ["1000"], None),
    ("Number", "n = 7.0", "", {}, "id", ["7"], None),
    ("Number", "big = 18446744073709551615", "", {}, "big", [2**64 - 1], None),
    ("Number", "big = -1", "", {}, "big", [], None),
    ("Pair", 'a = "x" and b = 1', "", {}, "id", ['["x","1"]'], None),
    ("Pair", 'b = 1.0 and flag and a in ["x"]', "", {}, "id", ['["x","1"]'], "flag"),
    ("Pair", 'a in ["x", "y"] and b = 1', "", {}, "b", [1], 'a in ["x", "y"]'),
    ("Pair", 'flag = true and a = "x"', "", {}, "flag", [True], 'a = "x"'),
    ("Knows", "from = $p", "$p: String", {"p": "a"}, "src", ["a"], None),
    ("Knows", 'to in ["a", "b"] and from = "c"', "", {}, "src", ["c"], 'to in ["a", "b"]'),
    ("Knows", '@id = "e" and from = "c"', "", {}, "id", ["e"], 'from = "c"'),
    ("Knows", 'since = date("2024-01-01")', "", {}, "since", [date(2024, 1, 1)], None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[1]}")
def test_pinned(case: Case) -> None:
    type_name, text, declared, given, column, values, residual = case
    node, query = condition(type_name, text, declared)
    table = CATALOG.node_types.get(type_name) or CATALOG.edge_types[type_name]
    found = key_equality(node, table, decode_params(query, given))
    assert found is not None
    assert (found.column, repr(found.values.to_pylist())) == (column, repr(values))
    assert found.residual == (None if residual is None else condition(type_name, residual)[0])


@pytest.mark.parametrize(
    "text",
    [
        "age > 3",
        'email != "a"',
        'email not in ["a"]',
        'email = "a" or age = 3',
        "email = name",
        'lower(email) = "a"',
        'tags contains "a"',
        'not (email = "a")',
        "score = 9007199254740993",
        'email starts_with "a"',
    ],
)
def test_not_pinned(text: str) -> None:
    assert key_equality(condition("Person", text)[0], CATALOG.node_types["Person"], {}) is None


def test_types_of_values() -> None:
    pinned = key_equality(condition("Person", "age = 3")[0], CATALOG.node_types["Person"], {})
    assert pinned is not None
    assert pinned.values.type == pa.int32()
    at = datetime(2024, 1, 1, tzinfo=UTC)
    node = ir.Compare("=", ir.Property(None, "at", ir.DATE_TIME), ir.Literal(at, ir.DATE_TIME), ir.BOOL)
    pinned = key_equality(node, CATALOG.node_types["Person"], {})
    assert pinned is not None
    assert pinned.values.type == pa.timestamp("ms", "UTC")
