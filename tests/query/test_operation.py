"""The descriptors that tools and clients read."""

from omnigraph.query import catalogue_entry, compile_queries, describe_operation
from tests.query.people import CATALOG, match, read, write


def _result(query) -> list[tuple[object, ...]]:
    columns = describe_operation(query)["result"]
    return [tuple(column.values()) for column in columns]


def test_kinds_of_columns() -> None:
    query = read(
        """match { $p: Person $p wrote $n optional { $p worksAt $c } }
           return { $p.name $p.age $n.length $p.score $p.active $p.role $p.tags $p.born $n.written $p.taste $c.founded
                    $p $c $p.@id }"""
    )
    assert _result(query) == [
        ("name", "string", False),
        ("age", "int", True),
        ("length", "int", True),
        ("score", "float", True),
        ("active", "bool", True),
        ("role", "string", True),
        ("tags", "list", "string", True),
        ("born", "date", True),
        ("written", "datetime", False),
        ("taste", "vector", 3, True),
        ("founded", "bigint", True),
        ("p", "object", False),
        ("c", "object", True),
        ("id", "string", False),
    ]


def test_aggregates_are_nullable_and_named_by_function() -> None:
    query = read(
        "match { $p: Person } return { count($p) sum($p.age) avg($p.score) min($p.name) max($p.born) collect($p.@id) }"
    )
    assert _result(query) == [
        ("count", "bigint", True),
        ("sum", "float", True),
        ("avg", "float", True),
        ("min", "string", True),
        ("max", "date", True),
        ("collect", "list", "string", False),
    ]


def test_aliases_name_columns() -> None:
    query = read("match { $p: Person } return { $p.age as a, count($p) as n, n * 2 as m }")
    assert _result(query) == [("a", "int", True), ("n", "bigint", True), ("m", "bigint", False)]


def test_reads_and_writes_of_a_read() -> None:
    operation = describe_operation(match("not { $p worksAt $c }"))
    assert operation["reads"] == [
        {"kind": "node", "type_name": "Company"},
        {"kind": "node", "type_name": "Person"},
        {"kind": "edge", "type_name": "WorksAt"},
    ]
    assert operation["writes"] == []


def test_a_mutation_has_no_result() -> None:
    operation = describe_operation(write('delete Company where slug = "a"'))
    assert operation == {
        "result": [],
        "reads": [{"kind": "node", "type_name": "Company"}, {"kind": "edge", "type_name": "WorksAt"}],
        "writes": [{"kind": "node", "type_name": "Company"}, {"kind": "edge", "type_name": "WorksAt"}],
    }


def test_catalogue_entry() -> None:
    text = """
    query find($name: String, $ids: [U64]?, $v: Vector(3), $at: DateTime?, $photo: Blob?)
      @description("Finds people.") @instruction("Use it first.")
    { match { $p: Person { name: $name } } return { $p.name } }
    query drop() { delete Person where age > 1 }
    """
    find, drop = (catalogue_entry(query) for query in compile_queries(text, CATALOG).queries)
    assert find == {
        "name": "find",
        "tool_name": "find",
        "description": "Finds people.",
        "instruction": "Use it first.",
        "mutation": False,
        "params": [
            {"name": "name", "kind": "string", "nullable": False},
            {"name": "ids", "kind": "list", "item_kind": "bigint", "nullable": True},
            {"name": "v", "kind": "vector", "vector_dim": 3, "nullable": False},
            {"name": "at", "kind": "datetime", "nullable": True},
            {"name": "photo", "kind": "blob", "nullable": True},
        ],
    }
    assert drop == {"name": "drop", "tool_name": "drop", "mutation": True, "params": []}
