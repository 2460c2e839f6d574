"""Rows from records: columns, defaults, ids."""

import gc
import pickle
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnigraph.model.clock import SystemIds
from omnigraph.schema import table_schema
from omnigraph.schema.keys import canonical_id
from omnigraph.write.batches import SLICE_LINES, read_batches
from omnigraph.write.ids import fresh_ids

from .people import CATALOG, DAY, KNOWS, PERSON, SPOT, counted_ids, faults, rows


def person(data: str) -> str:
    return '{"type":"Person","data":{"name":"Ada"' + data + "}}"


def test_columns_are_those_of_the_table() -> None:
    batch = rows(person(',"age":36,"tags":["a"],"at":[1,2],"born":"1815-12-10"'))["node:Person"]
    assert batch.table.schema.equals(table_schema(PERSON))
    row = {"id": "Ada", "name": "Ada", "age": 36, "born": date(1815, 12, 10), "role": "guest", "tags": ["a"]}
    assert batch.table.to_pylist()[0].items() >= (row | {"at": [1, 2], "photo": None}).items()
    assert (batch.given_id.to_pylist(), batch.violations.total, batch.bad_cells) == ([True], 0, {})


def test_edges_have_ends() -> None:
    batch = rows(
        '{"edge":"knows","from":"a","to":"b","data":{"since":0,"id":"e1"}}\n{"edge":"Knows","from":"c","to":"d"}'
    )
    knows = batch["edge:Knows"]
    assert knows.table.schema.equals(table_schema(KNOWS))
    assert knows.table.select(["id", "src", "dst"]).to_pylist() == [
        {"id": "e1", "src": "a", "dst": "b"},
        {"id": "new-1", "src": "c", "dst": "d"},
    ]
    assert knows.given_id.to_pylist() == [True, False]


def test_defaults_are_for_what_is_absent() -> None:
    batch = rows('{"type":"Note","data":{"text":"a"}}\n{"type":"Note","data":{"text":"b","stars":null}}')["node:Note"]
    assert batch.table.column("stars").to_pylist() == [3, None]
    given_null = rows(person(',"role":null'))["node:Person"]
    assert given_null.table.column("role").to_pylist() == [None]


def test_what_does_not_fit_is_told_with_its_line() -> None:
    batch = rows("\n".join([person(',"age":"x"'), "", person(',"age":1,"tags":[null],"at":[1]')]))["node:Person"]
    assert faults(batch.violations) == [
        'line 1: Person.age is I32: "x" is not a whole number',
        "line 3: Person.at is Vector(2): it takes 2 numbers, not 1",
        "line 3: Person.tags is [String]: item 1: it is null",
    ]
    assert batch.bad_cells == {"age": {0}, "at": {1}, "tags": {1}}
    assert batch.table.column("age").to_pylist() == [None, 1]


def test_permissive_values_become_null() -> None:
    batch = rows(person(',"age":"x","role":7'), strict=False)["node:Person"]
    assert batch.violations.total == 0
    assert batch.table.select(["age", "role"]).to_pylist() == [{"age": None, "role": None}]


def test_managed_blobs() -> None:
    batch = rows(person(',"photo":"base64:aGk="'))["node:Person"]
    assert batch.table.column("photo").to_pylist() == [b"hi"]
    assert faults(rows(person(',"photo":"base64:!"'))["node:Person"].violations)[0].startswith(
        "line 1: Person.photo is Blob: "
    )


# -- ids -----------------------------------------------------------------------------------------------


def test_a_key_gives_the_id() -> None:
    batches = rows('{"type":"Day","data":{"day":"1970-01-08"}}\n{"type":"Spot","data":{"x":1.0,"y":7}}')
    assert batches["node:Day"].table.column("id").to_pylist() == ["7"]
    assert batches["node:Spot"].table.column("id").to_pylist() == ['["1","7"]']


def test_a_supplied_id_has_to_follow_from_the_key() -> None:
    lines = [person(',"id":"Ada"'), person(',"id":"Bob"')]
    batch = rows("\n".join(lines))["node:Person"]
    assert faults(batch.violations) == [
        "line 2: the id of a Person follows from its key: it is 'Ada', not 'Bob'; or leave 'id' out"
    ]
    assert batch.violations.kept[0].entity_id == "Ada"
    assert batch.bad_cells == {"id": {1}}


def test_permissive_ids_may_be_spelled_otherwise() -> None:
    text = '{"type":"Day","data":{"day":7,"id":"1970-01-08"}}\n{"type":"Day","data":{"day":8,"id":"x"}}'
    batch = rows(text, strict=False)["node:Day"]
    assert (batch.remap, batch.table.column("id").to_pylist()) == ({"1970-01-08": "7"}, ["7", "8"])
    assert faults(batch.violations)[0].startswith("line 2: the id of a Day follows from its key: it is '8', not 'x'")
    assert len(faults(rows(text)["node:Day"].violations)) == 2


@given(st.integers(-700_000, 2_900_000) | st.dates())
def test_a_spelling_never_stands_for_two_ids(value: int | date) -> None:
    canonical = canonical_id(DAY, str(value))
    assert canonical is not None
    assert canonical_id(DAY, canonical) == canonical


def test_a_key_that_is_missing_or_wrong_is_told_once() -> None:
    lines = [
        '{"type":"Day","data":{"title":"a"}}',
        '{"type":"Day","data":{"day":"x","id":"7"}}',
        '{"type":"Day","data":{"day":null}}',
        '{"type":"Day","data":{"day":7}}',
    ]
    batch = rows("\n".join(lines))["node:Day"]
    assert faults(batch.violations) == [
        "line 1: Day.day is missing; the id is derived from it",
        'line 2: Day.day is Date: "x" is not a day; write YYYY-MM-DD',
        "line 3: Day.day is missing; the id is derived from it",
    ]
    assert batch.table.column("id").to_pylist() == ["new-1", "7", "new-2", "7"]
    assert batch.given_id.to_pylist() == [False, False, False, True]
    assert batch.bad_cells == {"day": {0, 1, 2}}


def test_no_id_from_a_number_that_is_none() -> None:
    batch = rows('{"type":"Spot","data":{"x":"NaN","y":1}}\n{"type":"Spot","data":{"x":2,"y":1}}')["node:Spot"]
    assert faults(batch.violations) == ["line 1: Spot.x is nan; no id can be derived from it"]
    assert batch.table.column("id").to_pylist() == ["new-1", '["2","1"]']
    assert SPOT.key == ("x", "y")


def test_ids_are_strings() -> None:
    lines = ['{"type":"Note","data":{"text":"a","id":7}}', '{"type":"Note","data":{"text":"a","id":null}}']
    for strict, count in ((True, 2), (False, 1)):
        batch = rows("\n".join(lines), strict=strict)["node:Note"]
        assert len(faults(batch.violations)) == count
        assert faults(batch.violations)[0] == "line 1: 'id' is a string: 7 is not a string"


def test_fresh_ids_are_ulids_in_order() -> None:
    new_ids = fresh_ids(SystemIds())
    made = [text for count in (1, 2000, 0, 999) for text in new_ids(count).to_pylist()]
    assert made == sorted(set(made))
    assert {len(text) for text in made} == {26}
    assert new_ids(1)[0].as_py()[:10] == made[0][:10]
    assert fresh_ids(SystemIds())(1)[0].as_py()[10:22] != made[0][10:22]


def test_ids_go_on_after_a_million() -> None:
    many = fresh_ids(SystemIds())(2**20 + 2)
    assert pc.count_distinct(many).as_py() == len(many)
    assert many.null_count == 0


# -- batches -------------------------------------------------------------------------------------------


def test_slices_are_put_together() -> None:
    lines = [f'{{"type":"Person","data":{{"name":"p{n}","age":{n}}}}}'.encode() for n in range(SLICE_LINES * 2 + 5)]
    lines[SLICE_LINES + 1] = b'{"type":"Person","data":{"name":"x","age":"bad"}}'
    lines[SLICE_LINES + 2] = b"nonsense"
    batches = read_batches(lines, 11, CATALOG, new_ids=counted_ids())
    batch = batches.tables["node:Person"]
    assert len(batch) == len(lines) - 1
    assert batch.positions[-1] == len(lines) + 10
    assert batch.bad_cells == {"age": {SLICE_LINES + 1}}
    assert [v.position for v in batches.violations.kept] == [SLICE_LINES + 12, SLICE_LINES + 13]


def test_batches_travel() -> None:
    batch = rows(person(',"age":"x"'))["node:Person"]
    back = pickle.loads(pickle.dumps(batch))
    assert back.table.equals(batch.table)
    assert back.violations == batch.violations


def test_python_values_and_records() -> None:
    records: list[dict[str, object]] = [
        {"type": "Person", "data": {"name": "Ada", "photo": b"raw", "born": date(1815, 12, 10), "tags": ("a", "b")}},
        {"edge": "Knows", "from": "Ada", "to": "Ada\ud800"},
    ]
    batches = read_batches(records, 1, CATALOG, new_ids=counted_ids(), word="record")
    row = batches.tables["node:Person"].table.to_pylist()[0]
    assert (row["photo"], row["born"], row["tags"]) == (b"raw", date(1815, 12, 10), ["a", "b"])
    assert faults(batches.violations) == ["record 2: dst: half of a surrogate pair is no text"]
    assert batches.tables["edge:Knows"].table.column("dst").to_pylist() == [""]


@pytest.mark.parametrize("strict", [True, False])
@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["Person", "Day", "Spot", "Note"])},
            optional={
                "data": st.dictionaries(
                    st.sampled_from(
                        ["id", "name", "age", "born", "day", "x", "y", "tags", "at", "photo", "text", "stars"]
                    ),
                    st.none()
                    | st.booleans()
                    | st.integers()
                    | st.floats()
                    | st.text(max_size=3)
                    | st.lists(st.none() | st.floats() | st.text(max_size=2), max_size=3)
                    | st.binary(max_size=2),
                )
            },
        ),
        max_size=5,
    )
)
def test_no_records_crash(strict: bool, records: list[dict[str, object]]) -> None:
    batches = read_batches(records, 1, CATALOG, new_ids=counted_ids(), strict=strict)
    for batch in batches.tables.values():
        batch.table.validate(full=True)
        assert batch.table.column("id").null_count == 0
        assert batch.given_id.type == pa.bool_()


def test_blobs_fill_every_column_the_table_has(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = [field for field in table_schema(PERSON) if not field.name.startswith("photo")]
    blob = [("photo", pa.large_binary()), ("photo@uri", pa.string()), ("photo@size", pa.int64())]
    schema = pa.schema([*plain, *(pa.field(name, kind) for name, kind in blob)])
    monkeypatch.setattr("omnigraph.write.rows.table_schema", lambda _: schema)
    lines = [person(',"photo":"base64:aGk="'), person(',"photo":"s3://b/k"'), person(',"photo":"base64:"'), person("")]
    batch = rows("\n".join(lines))["node:Person"]
    assert batch.table.schema.equals(schema)
    assert batch.table.select([name for name, _ in blob]).to_pylist() == [
        {"photo": b"hi", "photo@uri": None, "photo@size": 2},
        {"photo": None, "photo@uri": "s3://b/k", "photo@size": None},
        {"photo": b"", "photo@uri": None, "photo@size": 0},
        {"photo": None, "photo@uri": None, "photo@size": None},
    ]


def test_the_collector_is_left_as_it_was() -> None:
    rows(person("") + "\nnonsense")
    assert gc.isenabled()
