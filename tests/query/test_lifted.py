"""What the language can say beyond its first version, and that old words keep their meaning."""

import pytest

from omnigraph.query import compile_queries, ir
from omnigraph.schema import compile_schema
from tests.query.people import CATALOG, match, read, write

# One clause each, over a person $p; all of them compile.
CLAUSES = {
    "negative literal": "$p.age > -3",
    "negative decimal": "$p.score > -1.5",
    "negative literal in a binding": "$x: Person { age: -3 }",
    "is null": "$p.age is null",
    "is not null": "$p.age is not null",
    "a Blob may be tested for null": "$p.photo is null",
    "and": "$p.age > 1 and $p.age < 9",
    "or": "$p.age > 1 or $p.age < 9",
    "not with parentheses": "not ($p.age > 1 or $p.age < 9)",
    "not without parentheses": "not $p.age > 1",
    "parentheses": "($p.age > 1 or $p.age < 9) and $p.active",
    "a Bool property is a condition": "$p.active",
    "in": "$p.age in [1, 2, 3]",
    "in an empty list": "$p.age in []",
    "not in": '$p.name not in ["a", "b"]',
    "in a list property": '"a" in $p.tags',
    "list property contains": '$p.tags contains "a"',
    "ends_with": '$p.name ends_with "a"',
    "arithmetic": "($p.age + 1) * 2 - $p.age / 3 > $p.age % 2",
    "minus an expression": "-($p.age + 1) < 0",
    "arithmetic on both sides": "$p.age * 2 > $p.score + 1",
    "string functions": 'lower(trim($p.name)) = concat("a", upper(substring($p.name, 1, 2)), $p.age)',
    "replace and split": '"x" in split(replace($p.name, "a", "b"), " ")',
    "length of text and list": "length($p.name) > length($p.tags)",
    "numeric functions": "abs($p.age) + round($p.score, 2) + floor($p.score) > sqrt(power($p.age, 2)) + ceil(1.2)",
    "date functions": 'year($p.born) = 2000 and date_trunc("month", $p.seen) < now()',
    "date arithmetic": 'date_diff("day", $p.born, $p.born) > 3 and date_add("year", 18, $p.born) < date(now())',
    "conversions": 'to_int("3") = 3 and to_float("3") > 1 and to_string($p.age) = "3" and datetime($p.born) < now()',
    "coalesce": "coalesce($p.age, 0) > 1",
    "date and time literals": '$p.born < date("2020-01-01") and $p.seen < datetime("2020-01-01T10:00:00+02:00")',
    "unbounded hops": "$p knows{1,} $f",
    "optional": "optional { $p worksAt $c }",
    "optional after optional": "optional { $p worksAt $c } optional { $c worksAt $q }",
    "exists": "exists { $p worksAt $c }",
    "exists within not": "not { $p knows $f exists { $f worksAt $c } }",
    "aggregate blocks": "count { $p knows $f } > 2 sum($n.length) { $p wrote $n } >= 9 avg($g.age) { $g knows $p } < 9",
    "min and max of a block": "min($n.written) { $p wrote $n } < now() max($n.title) { $p wrote $n } = $p.name",
    "distinct in a block": "count(distinct $f.name) { $p knows $f } = 1",
    "shortest path": "shortest $way = $p knows{1,6} $f length($way) > 2",
    "undirected shortest path": "shortest $way = $p <knows>{1,} $f",
    "binding an interface": '$x: Named { name: "a" }',
    "an interface takes part in edges": "$x: Named $p worksAt $x",
    "an interface is tested in a block": "$x: Named exists { $x: Company { founded: 1 } $p worksAt $x }",
    "node id": '$p.@id = "a"',
    "edge ids and ends": "$p $w:knows $f $w.@id != $w.@src and $w.@dst = $f.@id",
    "comparison of nodes": "$p knows $f $f knows $g $g != $p",
    "binding by a property of another variable": "$p knows $f $x: Company { name: $f.name }",
    "score in a filter": 'bm25($p.bio, "a") > 0.5',
    "distance in a filter": 'nearest($p.taste, "a") < 0.5',
    "search within or": 'search($p.bio, "a") or fuzzy($p.bio, "b", 1) or match_text($p.bio, "c d")',
    "trailing comma in braces": '$x: Person { name: "a", }',
    "binding said twice": '$p: Person { age: 1 } $p: Named { name: "a" }',
    "anonymous binding": "$_: Company",
    "anonymous edge": "$p $_:knows $_",
    "no explicit binding": "$a knows $b $b knows $p",
    "an operator as edge": "$n: Note $n contains $m",
}

RESULTS = {
    "distinct": "return distinct { $p.name }",
    "distinct nodes by a property": "return distinct { $p } order { $p.name }",
    "offset": "return { $p.name } limit 3 offset 2",
    "offset alone": "return { $p.name } offset 2",
    "limit from a parameter": "return { $p.name } limit $n offset $m",
    "several keys": "return { $p.name } order { $p.age desc, $p.name, lower($p.name) asc }",
    "trailing comma": "return { $p.name, } order { $p.age, }",
    "order by an aggregate": "return { $p.name } order { count($p) desc, avg($p.age) }",
    "order by an alias": "return { $p.name, count($p) as n } order { n desc, $p.name }",
    "order by a column name": "return { $p.name, count($p) } order { p }",
    "count distinct": "return { $p.role, count(distinct $p.name) as n }",
    "collect": "return { $p.role, collect($p.name) as names, collect(distinct $p.age) as ages }",
    "min and max of all ordered types": "return { min($p.born) as a, max($p.seen) as b, min($p.active) as c }",
    "group by an expression": "return { year($p.born) as y, count($p) as n } order { y }",
    "arithmetic on aggregates": "return { $p.role, sum($p.age) / count($p) as mean }",
    "a group key beside an aggregate": "return { $p.age, count($p) + $p.age as n }",
    "a property of a grouped node": "return { $p, count($p.tags) as n } order { $p.name }",
    "columns by name": "return { $p.age as a, a + 1 as b, b * 2 as c }",
    "aggregates by name": "return { $p.role, count($p) as n, n * 2 as double }",
    "a condition as a column": "return { $p.age > 17 as adult, $p.name is null as nameless }",
    "scores as columns": """return { nearest($p.taste, "a") as d, bm25($p.bio, "b") as s, $p.name as name }
        order { d, name } limit 3""",
    "search as a column": 'return { search($p.bio, "a") as found }',
    "a fused ranking": 'return { $p.name } order { rrf(nearest($p.taste, $v), bm25($p.bio, "a"), 20) } limit 3',
    "now in a read": "return { now() as at }",
    "ids": "return { $p.@id, $p.@id as id }",
    "node": "return { $p }",
}

STATEMENTS = {
    "compound where": 'delete Person where name = "a" and (age > 3 or not active) and role in ["admin"]',
    "where null": "delete Person where age is null",
    "where id": 'delete Person where @id = "a"',
    "edge by its ends": 'delete Knows where from = "a" and to != "b"',
    "edge by its fields": 'delete Knows where @src = "a" or @id = "b"',
    "updating an edge": 'update Knows set { weight: 0.5, since: date("2020-01-01") } where from = "a"',
    "values from the row": "update Person set { age: age + 1, name: upper(name) } where age < 3",
    "null": "update Person set { age: null } where age < 0",
    "negative": "update Person set { age: -1 } where age < -1",
    "functions": 'insert Company { slug: lower($n), name: concat($n, "!") }',
    "vector": "update Person set { taste: [1, 2.5, -3] } where age > 1",
    "list": 'update Person set { tags: ["a", "b"] } where age > 1',
    "empty list": "update Person set { tags: [] } where age > 1",
    "embedding from its source": 'insert Note { title: "a", text: "b", written: now() }',
    "several statements": 'insert Company { slug: "a" name: "b" } insert WorksAt { from: $n, to: "a" }',
    "blob from a parameter": "update Person set { photo: $n } where age > 1",
}

# Names that are also words of the language.
WORDS_SCHEMA = """
node Thing { limit: I64? order: String? not: Bool? in: String? count: I64? match: String? null: I64? from: String? }
edge In: Thing -> Thing
edge Contains: Thing -> Thing
edge Limit: Thing -> Thing
edge Optional: Thing -> Thing
edge Shortest: Thing -> Thing
"""
WORDS = {
    "properties": """
        match { $t: Thing { limit: 1, order: "a", not: true, in: "b", count: 2, match: "c", null: 3 } }
        return { $t.limit $t.order $t.not $t.in $t.count $t.match $t.null }""",
    "edges": """
        match { $t: Thing $t in $u $u contains $v $v limit $w $w optional $x $x shortest $y }
        return { $t.limit }""",
    "edges with hops": "match { $t: Thing $t in{1,2} $u $u contains{1,3} $v } return { $t.limit }",
    "edges with variables": "match { $t: Thing $t $e:in $u $u $f:contains $v $v <limit> $w } return { $e.@id }",
    "aliases": """
        match { $t: Thing }
        return { $t.limit as limit, $t.order as order, $t.count as count, $t.in as desc }
        order { limit, order desc, count asc, desc desc } limit 1""",
    "mutation": 'update Thing set { limit: 1 order: "a" in: "b" } where limit = 2 and in = "c"',
}


@pytest.mark.parametrize("clause", CLAUSES.values(), ids=CLAUSES.keys())
def test_clause(clause: str) -> None:
    match(clause)


@pytest.mark.parametrize("rest", RESULTS.values(), ids=RESULTS.keys())
def test_result(rest: str) -> None:
    read(f"match {{ $p: Person }} {rest}", "$n: I64, $m: U32, $v: Vector(3)")


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS.keys())
def test_statement(statement: str) -> None:
    write(statement, "$n: String")


@pytest.mark.parametrize("body", WORDS.values(), ids=WORDS.keys())
def test_words_of_the_language_are_no_reserved_words(body: str) -> None:
    compile_queries(f"query limit() {{ {body} }}", compile_schema(WORDS_SCHEMA))


# -- meanings ------------------------------------------------------------------------------------------


def test_direction_follows_the_types() -> None:
    for clause, direction in {
        "$p worksAt $c": "out",
        "$c: Company $c worksAt $p": "in",
        "$c worksAt $p": "in",
        "$p knows $f": "out",
        "$f knows $p": "out",
        "$p <knows> $f": "both",
    }.items():
        (expand,) = match(clause).pattern.expansions
        assert expand.direction.value == direction, clause


def test_direction_inside_a_block_is_inferred_as_outside() -> None:
    for kind in ("not", "exists", "optional"):
        pattern = match(f"$c: Company {kind} {{ $c worksAt $p }}").pattern
        (block,) = (*pattern.blocks, *pattern.optionals)
        assert block.pattern.expansions[0].direction is ir.Direction.IN
        assert block.outer == ("c", "p")


def test_order_of_clauses_does_not_matter() -> None:
    one = read("match { $a knows $b $c worksAt $a $c: Company } return { $a.name }")
    two = read("match { $c: Company $c worksAt $a $a knows $b } return { $a.name }")
    assert set(one.pattern.expansions) == set(two.pattern.expansions)
    assert one.pattern.expansions[1].direction is ir.Direction.IN


def test_optional_variables_are_nullable() -> None:
    query = match("optional { $p $w:worksAt $c }", result="$c.name, $c, $w.title, $c.@id")
    assert all(column.type.nullable for column in query.columns)
    (block,) = query.pattern.optionals
    assert [(v.name, v.type.nullable) for v in block.pattern.variables] == [("c", False), ("w", False)]


def test_an_interface_has_all_types_that_implement_it() -> None:
    query = read("match { $x: Named } return { $x.name }")
    assert query.pattern.scans == (ir.Scan("x", ("Company", "Person"), "Named"),)
    assert query.reads == (ir.TypeUse(False, "Company"), ir.TypeUse(False, "Person"))


def test_a_parameter_comes_before_a_variable_of_its_name() -> None:
    query = read("match { $n: Person } return { $n.name, $n as given }", "$n: String")
    assert isinstance(query.columns[0].value, ir.Property)
    assert isinstance(query.columns[1].value, ir.Parameter)


def test_anonymous_variables_are_all_different() -> None:
    first, second = match("$p knows $_ $_ knows $p").pattern.expansions
    assert first.target != second.source


def test_column_names_are_as_before() -> None:
    query = read("match { $p: Person $p knows $f } return { $p.name $p count($f) sum($p.age) }")
    assert [c.name for c in query.columns] == ["p.name", "p", "f", "p.age"]
    assert [c.operation_name for c in query.columns] == ["name", "p", "count", "sum"]
    constants = read('match { $p: Person } return { $n, 1, now(), $p.@id, lower("A"), $p.age > 1 }', "$n: I64")
    assert [c.name for c in constants.columns] == ["n", "literal", "now", "p.@id", "lower", "value"]


def test_a_score_is_best_first_whatever_is_written() -> None:
    for direction in ("", "asc", "desc"):
        (key,) = read(f'match {{ $p: Person }} return {{ $p.name }} order {{ bm25($p.bio, "a") {direction} }}').order
        assert key.is_rank
        assert key.descending


def test_a_score_by_name_has_the_direction_written() -> None:
    for direction, descending in (("", False), ("desc", True)):
        query = read(f'match {{ $p: Person }} return {{ bm25($p.bio, "a") as s }} order {{ s {direction} }}')
        assert query.order[0].is_rank
        assert query.order[0].descending is descending


def test_a_column_made_from_an_aggregate_is_no_group_key() -> None:
    query = read("match { $p: Person } return { $p.role as r, count($p) as n, n * 2 as m, concat(r, n) as label }")
    assert [(c.name, c.aggregated) for c in query.columns] == [("r", False), ("n", True), ("m", True), ("label", True)]


def test_binding_conditions_on_other_variables_become_filters() -> None:
    pattern = match("$p knows $f $x: Company { name: $f.name, founded: 3 }").pattern
    assert [len(scan.conditions) for scan in pattern.scans] == [0, 1]
    assert len(pattern.filters) == 1


def test_reads_and_writes() -> None:
    insert = write('insert WorksAt { from: "a", to: "b" }')
    assert [(u.is_edge, u.type_name) for u in insert.reads] == [
        (False, "Company"),
        (False, "Person"),
        (True, "WorksAt"),
    ]
    assert [u.type_name for u in insert.writes] == ["WorksAt"]
    delete = write("delete Person where age > 1")
    assert [u.type_name for u in delete.writes] == ["Person", "Knows", "WorksAt", "Wrote"]
    assert delete.reads == delete.writes
    inside = match("not { $p worksAt $c }")
    assert [u.type_name for u in inside.reads] == ["Company", "Person", "WorksAt"]


def test_compiled_files_find_queries_by_name() -> None:
    text = "query a() { match { $p: Person } return { $p.name } } query b() { delete Person where age > 1 }"
    compiled = compile_queries(text, CATALOG)
    assert isinstance(compiled.query("a"), ir.CheckedRead)
    assert isinstance(compiled.query("b"), ir.CheckedMutation)
    assert compiled.query("c") is None
