"""Frames: names, casts, and the libraries and files they come from."""

import csv
import gzip
import io
import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from omnigraph.model.errors import BadRequest, NotFound
from omnigraph.model.types import PropType, ScalarType
from omnigraph.schema import arrow_type, compile_schema, table_schema
from omnigraph.write.casts import cast_column
from omnigraph.write.columns import Column
from omnigraph.write.frames import frame_batches, frame_rows, is_frame
from omnigraph.write.rows import RowBatch
from omnigraph.write.tabular import Dialect, read_csv, read_parquet
from omnigraph.write.texts import read_texts

from .people import KNOWS, NOTE, PERSON, counted_ids, faults

S = ScalarType
MS = 1_577_836_800_000
DAY = 18_262
WIDE = compile_schema(
    """
node All {
    name: String @key
    i: I32?  u: U64?  f: F32?  g: F64?  b: Bool?
    d: Date?  t: DateTime?  l: [I64]?  v: Vector(2)?  e: enum(a, b)?
}
"""
).nodes[0]


def load(table: Any, frame: Any, mapping: dict[str, str] | None = None, **options: Any) -> RowBatch:
    (batch,) = frame_batches(frame)
    return frame_rows(table, batch, mapping, new_ids=counted_ids(), **options)


def cast(
    values: Any, word: str, kind: pa.DataType | None = None, **more: Any
) -> tuple[list[object], list[tuple[int, str]]]:
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, kind)
    declared = PropType(S(word), **more)
    column = cast_column(array, declared)
    assert isinstance(column, Column)
    assert column.array.type == arrow_type(declared)
    column.array.validate(full=True)
    stored = column.array
    if word == "Date" and not more:
        stored = stored.cast(pa.int32())
    if word == "DateTime" and not more:
        stored = stored.cast(pa.int64())
    return stored.to_pylist(), column.bad


# -- casts ---------------------------------------------------------------------------------------------

NS = pa.timestamp("ns")


@pytest.mark.parametrize(
    ("values", "kind", "word", "stored"),
    [
        (["a", None], pa.large_string(), "String", ["a", None]),
        (["a"], pa.string_view(), "String", ["a"]),
        (["a", "a"], pa.dictionary(pa.int8(), pa.large_string()), "String", ["a", "a"]),
        ([True, None], pa.bool_(), "Bool", [True, None]),
        ([1, None], pa.int64(), "I32", [1, None]),
        ([1.0, None], pa.float64(), "I32", [1, None]),
        ([Decimal("1.00")], pa.decimal128(5, 2), "I64", [1]),
        ([2**64 - 1], pa.uint64(), "U64", [2**64 - 1]),
        ([2**53 + 1], pa.int64(), "F64", [float(2**53)]),
        ([Decimal("0.1")], pa.decimal256(40, 2), "F64", [0.1]),
        ([1.5], pa.float16(), "F64", [1.5]),
        ([0.1, None], pa.float64(), "F32", [float(np.float32(0.1)), None]),
        ([DAY, None], pa.int64(), "Date", [DAY, None]),
        ([date(2020, 1, 1), None], pa.date32(), "Date", [DAY, None]),
        ([date(2020, 1, 1)], pa.date64(), "Date", [DAY]),
        ([datetime(2020, 1, 1, 23, tzinfo=UTC), None], pa.timestamp("us", "America/New_York"), "Date", [DAY, None]),
        ([-1], pa.timestamp("ns"), "Date", [-1]),
        (["2020-01-01", None], pa.string(), "Date", [DAY, None]),
        ([MS], pa.int64(), "DateTime", [MS]),
        ([MS // 1000], pa.timestamp("s"), "DateTime", [MS]),
        ([MS], pa.timestamp("ms", "+02:00"), "DateTime", [MS]),
        ([MS * 1000 + 999, -1], pa.timestamp("us"), "DateTime", [MS, -1]),
        ([MS * 10**6 + 1, -1, None], pa.timestamp("ns", "Europe/Berlin"), "DateTime", [MS, -1, None]),
        ([date(2020, 1, 1)], pa.date32(), "DateTime", [MS]),
        ([date(2020, 1, 1)], pa.date64(), "DateTime", [MS]),
        (["2020-01-01T00:00:00Z"], pa.string(), "DateTime", [MS]),
        ([None, None], pa.null(), "DateTime", [None, None]),
    ],
)
def test_what_is_stored(values: list[object], kind: pa.DataType, word: str, stored: list[object]) -> None:
    assert cast(values, word, kind) == (stored, [])
    chunked = pa.chunked_array([pa.array(values, kind), pa.array(values, kind)])
    assert cast(chunked, word) == (stored * 2, [])
    sliced = pa.concat_arrays([pa.array([None], kind), pa.array(values, kind)]).slice(1)
    assert cast(sliced, word) == (stored, [])


@pytest.mark.parametrize(
    ("values", "kind", "word", "reason"),
    [
        ([1], pa.int64(), "String", "1 is not a string"),
        ([b"x"], pa.binary(), "String", "1 bytes is not a string"),
        ([1], pa.int64(), "Bool", "1 is neither true nor false"),
        ([2**31], pa.int64(), "I32", "2147483648 is outside -2147483648 to 2147483647"),
        ([-1], pa.int8(), "U64", "-1 is outside 0 to 18446744073709551615"),
        ([1.5], pa.float64(), "I32", "1.5 is not a whole number"),
        ([math.nan], pa.float64(), "I32", "nan is not a whole number"),
        ([True], pa.bool_(), "I32", "true is not a whole number"),
        (["1"], pa.string(), "I32", '"1" is not a whole number'),
        ([Decimal("1.50")], pa.decimal128(5, 2), "I64", "Decimal('1.50') is not a whole number"),
        ([1e39], pa.float64(), "F32", "1e+39 does not fit in F32"),
        ([math.nan], pa.float64(), "F32", "nan is not finite"),
        ([True], pa.bool_(), "F64", "true is not a number"),
        ([2**31 - 1], pa.date32(), "Date", "2147483647 is outside the years 1 to 9999"),
        ([2**62], pa.timestamp("s"), "DateTime", "is outside the years 1 to 9999"),
        ([-(2**62)], pa.timestamp("us"), "Date", "is outside the years 1 to 9999"),
        ([time(1)], pa.time64("ns"), "DateTime", "is not a time"),
        ([1], pa.time64("ns"), "DateTime", "is not a time"),
        ([timedelta(1)], pa.duration("ns"), "Date", "is not a day"),
        ([{"a": 1}], pa.struct({"a": pa.int64()}), "String", "an object is not a string"),
        ([1.5], pa.float64(), "Date", "1.5 is not a day"),
    ],
)
def test_what_is_refused(values: list[object], kind: pa.DataType, word: str, reason: str) -> None:
    good = cast(pa.concat_arrays([pa.array([None], kind), pa.array(values, kind)]), word)
    assert good[0] == [None, None]
    ((index, why),) = good[1]
    assert index == 1
    assert reason in why


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.int64()), pa.large_list(pa.int8()), pa.list_view(pa.int64()), pa.list_(pa.decimal128(3, 0))]
)
def test_lists(kind: pa.DataType) -> None:
    assert cast([[1, 2], None, [], [3]], "I64", kind, is_list=True) == ([[1, 2], None, [], [3]], [])
    assert cast([[1], [2, None]], "I64", kind, is_list=True) == ([[1], None], [(1, "item 2: it is null")])
    assert cast(["x"], "I64", is_list=True)[1] == [(0, '"x" is not an array')]


def test_lists_of_times() -> None:
    assert cast([[MS * 10**6 + 1], None], "DateTime", pa.list_(NS), is_list=True)[1] == []
    assert cast([["a"], ["b", "c"]], "String", pa.list_(pa.large_string()), is_list=True)[0] == [["a"], ["b", "c"]]
    dictionary = pa.list_(pa.dictionary(pa.int8(), pa.string()))
    assert cast([["a"], ["b", "a"]], "String", dictionary, is_list=True)[0] == [["a"], ["b", "a"]]


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.float64(), 2), pa.list_(pa.float32()), pa.large_list(pa.float64()), pa.list_(pa.int64(), 2)]
)
def test_vectors(kind: pa.DataType) -> None:
    array = pa.array([[9, 9], [1, 2], None, [3, 4]], kind).slice(1)
    assert cast(array, "Vector", vector_dim=2) == ([[1, 2], None, [3, 4]], [])
    assert cast(array, "Vector", vector_dim=3)[1] == [
        (0, "it takes 3 numbers, not 2"),
        (2, "it takes 3 numbers, not 2"),
    ]


def test_vectors_stay_finite() -> None:
    assert cast([[1.0, 1e39], [1.0, 2.0]], "Vector", vector_dim=2) == (
        [None, [1, 2]],
        [(0, "item 2: 1e+39 does not fit in F32")],
    )


@given(
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)),
    st.sampled_from(["I32", "U32", "U64", "F64", "Date", "DateTime"]),
)
def test_integers_are_as_in_records(values: list[int | None], word: str) -> None:
    from omnigraph.write.columns import build_column

    column = build_column(values, PropType(S(word)))
    found = cast_column(pa.array(values, pa.int64()), PropType(S(word)))
    assert isinstance(found, Column)
    assert (found.array.equals(column.array), found.bad) == (True, column.bad)


# -- names and ids -------------------------------------------------------------------------------------


def test_columns_by_name_and_by_mapping() -> None:
    frame = pa.table({"full": ["Ada"], "age": [36], "junk": [1]})
    batch = load(PERSON, frame, {"full": "name", "junk": ""})
    assert batch.table.schema.equals(table_schema(PERSON))
    assert batch.table.select(["id", "name", "age", "role"]).to_pylist() == [
        {"id": "Ada", "name": "Ada", "age": 36, "role": "guest"}
    ]
    assert (batch.violations.total, batch.given_id.to_pylist()) == (0, [True])


HINT = (
    "Person has no property 'Age' for column 'Age'; did you mean 'age'? names are case-sensitive; "
    'mapping={"Age": "age"} or --map Age=age says which property a column is, "" leaves it out'
)


def test_unknown_columns_are_told_once() -> None:
    batch = load(PERSON, pa.table({"name": ["a", "b"], "Age": [1, 2]}), {"nmae": "name"})
    assert faults(batch.violations) == [
        HINT,
        "there is no column 'nmae'; did you mean 'name'?",
    ]
    assert len(batch) == 2


def test_two_columns_for_one_property() -> None:
    assert faults(load(NOTE, pa.table({"text": ["a"], "b": ["c"]}), {"b": "text"}).violations) == [
        "two columns are 'text' of Note"
    ]
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["text", "text"])
    assert faults(load(NOTE, twice).violations) == ["two columns are 'text' of Note"]


def test_rows_are_numbered() -> None:
    batch = load(PERSON, pa.table({"name": ["a", "b"], "age": [1, 2**40]}), first_row=100)
    assert faults(batch.violations) == [
        "row 101: Person.age is I32: 1099511627776 is outside -2147483648 to 2147483647"
    ]
    assert batch.positions.tolist() == [100, 101]
    assert batch.bad_cells == {"age": {1}}


@pytest.mark.parametrize(("source", "target"), [("from", "to"), ("src", "dst")])
def test_edges(source: str, target: str) -> None:
    batch = load(KNOWS, pa.table({source: ["a", "b"], target: [1, 2], "id": ["e", None]}))
    assert batch.table.select(["id", "src", "dst"]).to_pylist() == [
        {"id": "e", "src": "a", "dst": "1"},
        {"id": "new-1", "src": "b", "dst": "2"},
    ]
    assert batch.given_id.to_pylist() == [True, False]


def test_edges_without_ends() -> None:
    frame = pa.table({"a": ["x", None, "y"], "b": ["x", "x", None], "weight": ["bad", "bad", "bad"]})
    batch = load(KNOWS, frame, {"a": "from", "b": "to"})
    assert faults(batch.violations) == [
        'row 1: Knows.weight is F64: "bad" is not a number',
        "row 2: an edge needs 'from': the id of a node",
        "row 3: an edge needs 'to': the id of a node",
    ]
    assert (len(batch), batch.positions.tolist(), batch.bad_cells) == (1, [1], {"weight": {0}})
    nothing = load(KNOWS, pa.table({"to": ["x"]}))
    assert "there is no column 'from'" in faults(nothing.violations)[0]
    assert len(nothing) == 0


def test_ids_of_another_type() -> None:
    batch = load(NOTE, pa.table({"id": [1.5], "text": ["a"]}))
    assert faults(batch.violations) == ["row 1: 'id' is an id: 1.5 is not a string"]
    keyed = load(PERSON, pa.table({"id": ["x"], "name": ["a"]}))
    assert "it is 'a', not 'x'" in faults(keyed.violations)[0]


def test_blobs() -> None:
    frame = pa.table({"name": ["a", "b"], "photo": pa.array([b"x", None], pa.binary_view())})
    assert load(PERSON, frame).table.column("photo").to_pylist() == [b"x", None]
    assert load(PERSON, pa.table({"name": ["a"], "photo": ["base64:aGk="]})).table.column("photo").to_pylist() == [
        b"hi"
    ]


# -- libraries -----------------------------------------------------------------------------------------

ROWS = {
    "name": ["Ada", "Bob"],
    "i": [1, None],
    "g": [0.5, None],
    "b": [True, None],
    "t": [datetime(2020, 1, 1, tzinfo=UTC), None],
    "l": [[1, 2], None],
    "v": [[1.0, 2.0], None],
    "e": ["a", None],
}


def check(frame: Any) -> None:
    assert is_frame(frame)
    batch = load(WIDE, frame)
    assert faults(batch.violations) == []
    expected = [{name: values[row] for name, values in ROWS.items()} for row in range(2)]
    assert batch.table.select(list(ROWS)).to_pylist() == expected


def test_arrow() -> None:
    table = pa.table(ROWS)
    for frame in (table, table.to_batches()[0], pa.RecordBatchReader.from_batches(table.schema, table.to_batches())):
        check(frame)


def test_polars() -> None:
    frame = pl.DataFrame(ROWS).with_columns(pl.col("e").cast(pl.Categorical))
    check(frame)
    check(frame.lazy())


def test_pandas() -> None:
    frame = pd.DataFrame(ROWS).astype({"e": "category"})
    check(frame)
    check(frame.iloc[[0, 1]].set_axis([7, 3]))
    check(frame.set_index("name"))


def test_pandas_columns_of_no_type() -> None:
    with pytest.raises(BadRequest, match="the DataFrame cannot be read as Arrow"):
        load(WIDE, pd.DataFrame({"name": [1, "x"]}))


def test_no_frame() -> None:
    assert not is_frame([1])
    with pytest.raises(BadRequest, match="a list is no frame"):
        list(frame_batches([1]))


def test_frames_come_in_batches() -> None:
    frame = pa.table({"name": [str(n) for n in range(10)]})
    assert [table.num_rows for table in frame_batches(frame, 4)] == [4, 4, 2]


# -- files ---------------------------------------------------------------------------------------------


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    parquet.write_table(pa.table(ROWS), path)
    for source in (path, str(path), path.read_bytes(), io.BytesIO(path.read_bytes())):
        (table,) = read_parquet(source)
        check(table)
    assert [table.num_rows for table in read_parquet(path, batch_rows=1)] == [1, 1]
    with pytest.raises(BadRequest, match="cannot be read as Parquet"):
        list(read_parquet(b"no parquet"))
    with pytest.raises(NotFound):
        list(read_parquet(tmp_path / "nope.parquet"))


CSV = """name,i,u,f,g,b,d,t,l,v,e
Ada,1,18446744073709551615,0.5,1e3,true,2020-01-01,2020-01-01T00:00:00Z,"[1, 2]","[0.5,1]",a
"Bob, the
2nd", 2 ,,,,False,18262,1577836800000,,,
"""


def csv_rows(text: str | bytes, **options: Any) -> RowBatch:
    data = text.encode() if isinstance(text, str) else text
    (table,) = read_csv(data, **options)
    return load(WIDE, table, text=True)


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode()))
    for source in (path, CSV.encode(), b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode()):
        (table,) = read_csv(source)
        batch = load(WIDE, table, text=True)
        assert faults(batch.violations) == []
        first, second = batch.table.to_pylist()
        moment = datetime(2020, 1, 1, tzinfo=UTC)
        assert first == {
            "id": "Ada", "name": "Ada", "i": 1, "u": 2**64 - 1, "f": 0.5, "g": 1000.0, "b": True, "d": date(2020, 1, 1),
            "t": moment, "l": [1, 2], "v": [0.5, 1.0], "e": "a",
        }  # fmt: skip
        assert second["name"].startswith("Bob, the")
        rest = {
            "i": 2,
            "u": None,
            "f": None,
            "b": False,
            "d": date(2020, 1, 1),
            "t": moment,
            "l": None,
            "v": None,
            "e": None,
        }
        assert second.items() >= rest.items()


def test_csv_null_is_nothing_and_empty_is_quoted() -> None:
    batch = csv_rows('name,e,i\n"",,""\nNA,null,\n')
    assert batch.table.select(["name", "e", "i"]).to_pylist() == [
        {"name": "", "e": None, "i": None},
        {"name": "NA", "e": "null", "i": None},
    ]


def test_csv_dialects() -> None:
    batch = csv_rows("name;e\n'a;b';b\n", dialect=Dialect(";", "'"))
    assert batch.table.select(["name", "e"]).to_pylist() == [{"name": "a;b", "e": "b"}]
    with pytest.raises(BadRequest, match="one character each"):
        csv_rows("name\na\n", dialect=Dialect(";;"))


def test_csv_values_that_do_not_fit() -> None:
    batch = csv_rows("name,i,f,b,d,l,v\na,1.0,x,yes,soon,7,[1]\nb,0x1f,inf,1,1_000,[1,[\nc,2147483648,1e39,,,,\n")
    assert [violation.split(": ", 2)[0] for violation in faults(batch.violations)] == [
        *["row 1"] * 6,
        *["row 2"] * 6,
        *["row 3"] * 2,
    ]
    assert batch.table.column("i").null_count == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "has no header"),
        (b"\n", "has no header"),
        (b"name,i\na\n", "cannot be read as CSV"),
        (b"name\n\xff\n", "cannot be read as CSV"),
    ],
)
def test_csv_that_is_none(text: bytes, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        list(read_csv(text))


_cell = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=6) | st.sampled_from(
    ["1", "-1", "1.5", "true", "[1]", "2020-01-01"]
)


@given(st.lists(_cell, min_size=1, max_size=4), st.sampled_from([kind for kind in S if kind not in (S.BLOB, S.VECTOR)]))
def test_no_text_crashes(cells: list[str], kind: ScalarType) -> None:
    column = read_texts(pa.array(cells, pa.string()), PropType(kind))
    assert len(column.bad) <= len(cells)


@given(st.lists(st.tuples(_cell, _cell), min_size=1, max_size=4))
def test_csv_round_trip(rows: list[tuple[str, str]]) -> None:
    sink = io.StringIO()
    csv.writer(sink, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([("name", "e"), *rows])
    batch = csv_rows(sink.getvalue())
    assert list(zip(*(batch.table.column(name).to_pylist() for name in ("name", "e")), strict=True)) == rows


def test_large_csv() -> None:
    text = "name,i\n" + "".join(f"p{n},{n}\n" for n in range(150_000))
    tables: Iterator[pa.Table] = read_csv(text.encode())
    assert sum(table.num_rows for table in tables) == 150_000
