"""Text to catalog, catalog to bytes and back, catalog to Arrow."""

import pyarrow as pa
import pytest

from omnigraph.model.errors import CorruptObject, FormatTooNew
from omnigraph.schema import compile_schema, decode_catalog, encode_catalog, schema_hash, table_schemas
from omnigraph.schema.constraints import Cardinality, Check, Index, Key, Range, Unique

SCHEMA = """
// Everything the language has, once.
interface Named { name: String @index }
node Person @description("a person") @color(red, shade="dark") implements Named {
    email: String @key
    age: I32?
    status: enum(open, closed)
    bio: String
    vector: Vector(4) @embed(bio, model="small")
    tags: [String]?
    born: Date
    seen: DateTime?
    photo: Blob?
    score: F64 @default(1)
    @range(age, 0..150)
    @range(score, ..9.5)
    @check(email, "@")
    @unique(name, bio)
}
edge Knows: Person -> Person @card(0..3) @instruction("who knows whom") { since: Date? @unique(src, dst) }
edge Likes: Person -> Person
"""


def test_catalog_of_everything() -> None:
    catalog = compile_schema(SCHEMA)
    person, knows = catalog.node_types["Person"], catalog.edge_types["Knows"]
    assert [p.name for p in person.properties] == sorted(p.name for p in person.properties)
    assert person.constraints == (
        Key(("email",)),
        Unique(("bio", "name")),
        Index(("name",)),
        Range("age", 0, 150),
        Range("score", None, 9.5),
        Check("email", "@"),
    )
    assert person.properties_by_name["status"].type.enum_values == ("closed", "open")
    assert knows.cardinality == Cardinality(0, 3)
    assert knows.uniques == (("dst", "src"),)
    assert catalog.edge("knows") is knows


def test_ids_do_not_depend_on_the_order_of_the_text() -> None:
    one = compile_schema("node B { y: String x: I32 } node A { z: Bool }")
    two = compile_schema("node A { z: Bool }\nnode B { x: I32 y: String }")
    assert one == two
    assert encode_catalog(one) == encode_catalog(two)


def test_ids_survive_renames_and_are_never_given_twice() -> None:
    first = compile_schema("node A { x: I32 y: I32 }")
    second = compile_schema('node B @rename_from("A") { x2: I32 @rename_from("x") }', previous=first)
    third = compile_schema("node B { x2: I32 y: I32 }", previous=second)
    before, after = first.node_types["A"], third.node_types["B"]
    assert after.id == before.id
    assert after.properties_by_name["x2"].id == before.properties_by_name["x"].id
    assert after.properties_by_name["y"].id >= first.next_id


def test_key_is_ordered_by_stable_id() -> None:
    first = compile_schema("node A { b: I32 c: I32 @key(c, b) }")
    assert first.node_types["A"].key == ("b", "c")
    renamed = compile_schema('node A { z: I32 @rename_from("b") c: I32 @key(c, z) }', previous=first)
    assert renamed.node_types["A"].key == ("z", "c")


@pytest.mark.parametrize("text", ["", SCHEMA, "node A {}"])
def test_codec_round_trip(text: str) -> None:
    catalog = compile_schema(text)
    data = encode_catalog(catalog)
    assert decode_catalog(data) == catalog
    assert encode_catalog(decode_catalog(data)) == data
    assert len(schema_hash(catalog)) == 64


def test_hash_changes_with_the_schema() -> None:
    assert schema_hash(compile_schema("node A { x: I32 }")) != schema_hash(compile_schema("node A { x: I32? }"))


def test_damaged_and_newer_catalogs_are_refused() -> None:
    for data in (b"", b"{", b"[]", b'{"format":1}', b'{"format":"x"}'):
        with pytest.raises(CorruptObject):
            decode_catalog(data)
    with pytest.raises(FormatTooNew):
        decode_catalog(b'{"format":99}')


def test_arrow_schemas() -> None:
    schemas = table_schemas(compile_schema(SCHEMA))
    assert list(schemas) == ["node:Person", "edge:Knows", "edge:Likes"]
    assert schemas["edge:Knows"] == pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("src", pa.string(), nullable=False),
            pa.field("dst", pa.string(), nullable=False),
            pa.field("since", pa.date32()),
        ]
    )
    person = schemas["node:Person"]
    assert person.names[0] == "id"
    assert person.field("vector") == pa.field("vector", pa.list_(pa.float32(), 4), nullable=False)
    assert person.field("status").type == pa.string()
    assert person.field("seen").type == pa.timestamp("ms", "UTC")
    assert person.field("photo").type == pa.large_binary()
    assert person.field("photo").metadata == {b"lance-encoding:blob": b"true"}
    assert person.field("photo@uri") == pa.field("photo@uri", pa.string())
    assert person.names.index("photo@uri") == person.names.index("photo") + 1
    assert person.field("tags").type == pa.list_(pa.string())
    assert person.field("age").nullable
    assert not person.field("born").nullable
