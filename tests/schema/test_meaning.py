"""What accepted schemas mean: types, constraints, interfaces, indexes, keys."""

import math

import pytest

from omnigraph.model.diagnostics import LanguageError
from omnigraph.schema import compile_schema
from omnigraph.schema.catalog import Embed, IndexKind, NodeType
from omnigraph.schema.constraints import Cardinality, Index, Key, Range, Unique


def node(body: str) -> NodeType:
    return compile_schema(f"node A {{ {body} }}").node_types["A"]


@pytest.mark.parametrize(
    ("written", "scalar", "nullable", "is_list", "values"),
    [
        ("String", "String", False, False, None),
        ("Bool?", "Bool", True, False, None),
        ("[DateTime]?", "DateTime", True, True, None),
        ("Vector(3072)", {"Vector": 3072}, False, False, None),
        ("enum(b, a)?", "String", True, False, ["a", "b"]),
    ],
)
def test_types_as_json(written: str, scalar: object, nullable: bool, is_list: bool, values: object) -> None:
    declared = node(f"x: {written}").properties_by_name["x"].type
    assert declared.to_json() == {"scalar": scalar, "nullable": nullable, "list": is_list, "enum_values": values}
    assert type(declared).from_json(declared.to_json()) == declared


def test_escapes() -> None:
    catalog = compile_schema(r'node A @description("\" \\ \n \r \t' + '\n") {}')
    assert catalog.node_types["A"].description == '" \\ \n \r \t\n'


def test_a_bare_word_is_its_text() -> None:
    bare, quoted = (node(f"text: String v: Vector(2) @embed({written})") for written in ("text", '"text"'))
    assert bare == quoted
    assert bare.properties_by_name["v"].embed == Embed("text")


def test_the_bound_behind_the_dots_is_the_upper_one() -> None:
    assert node("x: I32 @range(x, ..9)").constraints == (Range("x", None, 9),)
    assert node("x: I32 @range(x, 9..)").constraints == (Range("x", 9, None),)
    assert node("x: I32 @range(x, -9..-1)").constraints == (Range("x", -9, -1),)


def test_ranges_are_inclusive_and_refuse_nan() -> None:
    limits = Range("x", 0, 9)
    assert [limits.allows(v) for v in (-1, 0, 9, 10, math.nan)] == [False, True, True, False, False]
    assert Range("x", None, None).allows(math.nan) is False


def test_cardinality_counts_edges_of_a_source() -> None:
    edges = compile_schema("node A {} edge E: A -> A edge F: A -> A @card(1..2) edge G: A -> A @card(3..)").edge_types
    assert edges["E"].cardinality == Cardinality(0, None)
    assert edges["E"].cardinality.is_default
    assert [edges["F"].cardinality.allows(n) for n in (0, 1, 2, 3)] == [False, True, True, False]
    assert str(edges["G"].cardinality) == "3.."


def test_a_key_implies_an_index() -> None:
    declared = node("x: I32 y: I32 @key(y, x) z: I32")
    assert declared.is_indexed("x")
    assert declared.indexes == {"id": IndexKind.BTREE, "x": IndexKind.BTREE, "y": IndexKind.BTREE}


def test_kinds_of_index() -> None:
    declared = node(
        "t: String @index e: enum(a) @index n: I32 @index d: Date @index v: Vector(2) @index l: [I32] @index(l)"
    )
    assert {name: kind.value for name, kind in declared.indexes.items()} == {
        "id": "btree",
        "d": "btree",
        "e": "btree",
        "n": "btree",
        "t": "inverted",
        "v": "vector",
    }
    edge = compile_schema("node A {} edge E: A -> A { w: F64 @index }").edge_types["E"]
    assert set(edge.indexes) == {"src", "dst", "w"}


def test_tuples_are_sorted_and_said_once() -> None:
    assert node("b: I32 a: I32 @unique(b, a) @unique(a, b) @index(b, a) c: I32 @unique @unique(c)").constraints == (
        Unique(("a", "b")),
        Unique(("c",)),
        Index(("a", "b")),
    )


def test_interfaces_give_properties_with_their_annotations() -> None:
    catalog = compile_schema(
        """
        interface Named { name: String @key @description("how it is called") }
        interface Ranked { rank: I32 @unique @index @default(7) }
        node A implements Ranked, Named { own: Bool }
        node B implements Named { name: String }
        """
    )
    a, b = catalog.node_types["A"], catalog.node_types["B"]
    assert a.implements == ("Named", "Ranked")
    assert [p.name for p in a.properties] == ["name", "own", "rank"]
    assert a.constraints == (Key(("name",)), Unique(("rank",)), Index(("rank",)))
    assert a.properties_by_name["rank"].default == 7
    assert a.properties_by_name["name"].description == "how it is called"
    # What a node type declares itself is taken as it is.
    assert b.constraints == ()
    assert [t.name for t in catalog.implementing("Named")] == ["A", "B"]


def test_what_must_be_given() -> None:
    declared = node("a: I32 b: I32? c: I32 @default(1) t: String v: Vector(2) @embed(t)")
    assert [p.name for p in declared.properties if p.must_be_given] == ["a", "t"]


def test_properties_accepted_later_come_last_in_a_key() -> None:
    first = compile_schema("node A { m: I32 z: I32 }")
    second = compile_schema("node A { m: I32 z: I32 a: I32 @key(a, z, m) }", previous=first)
    assert second.node_types["A"].key == ("m", "z", "a")


def test_edges_are_found_whatever_their_case() -> None:
    catalog = compile_schema("node A {} edge WorksAt: A -> A edge A: A -> A")
    assert catalog.edge("worksat") is catalog.edge("WORKSAT") is catalog.edge_types["WorksAt"]
    assert catalog.node("a") is None
    assert catalog.edge("a") is catalog.edge_types["A"]


def test_unknown_annotations_are_preserved() -> None:
    declared = compile_schema('node A @color(red, shade=1.5) @flag { x: I32 @unit("cm") }').node_types["A"]
    assert [(a.name, a.value, a.arguments) for a in declared.annotations] == [
        ("color", "red", (("shade", 1.5),)),
        ("flag", None, ()),
    ]
    assert declared.properties_by_name["x"].annotations[0].value == "cm"


@pytest.mark.parametrize(
    ("declared", "written", "stored"),
    [
        ("String", '"a"', "a"),
        ("String", "word", "word"),
        ("Bool", "true", True),
        ("I32", "-7", -7),
        ("F64", "1", 1.0),
        ("F32", "0.1", 0.10000000149011612),
        ("Date", '"2020-02-29"', "2020-02-29"),
        ("DateTime", '"2020-01-01T01:00:00+01:00"', "2020-01-01T00:00:00.000Z"),
        ("enum(a, b)", "b", "b"),
    ],
)
def test_defaults_are_stored_as_the_type_has_them(declared: str, written: str, stored: object) -> None:
    default = node(f"x: {declared} @default({written})").properties_by_name["x"].default
    assert default == stored
    assert type(default) is type(stored)


def test_a_default_too_large_for_f32_is_refused() -> None:
    with pytest.raises(LanguageError, match="does not fit in F32"):
        compile_schema("node N {\n    x: F32? @default(1000000000000000000000000000000000000000.0)\n}\n")
