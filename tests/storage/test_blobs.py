"""Blob columns: byte for byte the same after every kind of write, in no file of their own, read in parts."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from omnigraph.model import errors
from omnigraph.storage.blobs import BlobInfo
from omnigraph.storage.meter import Meter
from tests.storage.test_tables import tables_in

MARK = {"lance-encoding:blob": "true"}
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("p", pa.large_binary(), metadata=MARK),
        pa.field("p@uri", pa.string()),
        pa.field("v", pa.int32()),
        pa.field("q", pa.large_binary(), metadata=MARK),
        pa.field("q@uri", pa.string()),
        pa.field("tags", pa.list_(pa.string())),
    ]
)
BIG = random.Random(1).randbytes(5 * 2**20)
BLOBS: dict[str, bytes | None] = {"null": None, "empty": b"", "one": b"\x00", "big": BIG, "outside": None}
URIS = {"outside": "s3://elsewhere/photo.jpg"}


def row(name: str, blob: bytes | None = b"other", v: int = 1) -> dict[str, Any]:
    q = None if blob is None else blob[:3] + b"!"
    return {"id": name, "p": blob, "p@uri": URIS.get(name), "v": v, "q": q, "q@uri": None, "tags": [name]}


ROWS = [row(name, blob) for name, blob in BLOBS.items()]


def table_of(rows: list[dict[str, Any]], schema: pa.Schema = SCHEMA) -> pa.Table:
    return pa.Table.from_pylist(rows, schema)


@pytest.fixture
def base(tmp_path: Path):
    """A table with every kind of blob, in one fragment."""
    tables = tables_in(tmp_path)
    empty = tables.open(tables.create("nodes/t", SCHEMA).ref)
    return tables, tables.open(tables.stage_append(empty, table_of(ROWS)).ref)


def check(tables, handle, expected: list[dict[str, Any]], column: str = "p") -> None:
    names = handle.schema.names
    assert handle.scan(names).to_pylist() == expected
    assert handle.scan(names).schema == handle.schema
    for one in expected:
        info = tables.blob_info(handle, one["id"], column)
        data = one[column]
        assert info == BlobInfo(None if data is None else len(data), one.get(f"{column}@uri"))
        assert info.is_null == (data is None and one.get(f"{column}@uri") is None)
        if data is not None:
            assert tables.read_blob(handle, one["id"], column) == data


def check_no_extra_files(tables, handle) -> None:
    """Every data file on the disk belongs to a fragment: there is nothing the collector does not know."""
    folder = Path(tables.address.prefix) / handle.ref.location / "data"
    assert not [path for path in folder.rglob("*") if path.is_dir() or path.suffix != ".lance"]
    known = {name for fragment in handle.fragments() for name in fragment.files}
    assert known <= {path.name for path in folder.iterdir()}


def test_null_and_empty_are_different_and_bytes_are_the_same(base, tmp_path) -> None:
    tables, handle = base
    assert handle.schema == SCHEMA
    assert handle.schema.field("p").metadata == SCHEMA.field("p").metadata
    check(tables, handle, ROWS)
    check(tables, handle, ROWS, "q")
    check_no_extra_files(tables, handle)
    other = tables_in(tmp_path)
    check(other, other.open(handle.ref), ROWS)


def test_a_write_of_blobs_is_one_file(base) -> None:
    tables, handle = base
    with Meter() as meter:
        staged = tables.stage_append(handle, table_of([row("more", BIG), row("less", b"")]))
    assert meter.puts <= 5  # parts of the one data file, transaction, manifest
    assert len([name for name in staged.files if "/data/" in name]) == 1
    check(tables, tables.open(staged.ref), [*ROWS, row("more", BIG), row("less", b"")])
    check_no_extra_files(tables, tables.open(staged.ref))


def test_a_scan_reads_no_blob_that_is_not_asked_for(base) -> None:
    tables, handle = base
    plain = [name for name in SCHEMA.names if name not in {"p", "q"}]
    with Meter() as meter:
        assert handle.scan().schema.names == plain
        assert [name for batch in handle.batches() for name in batch.schema.names] == plain
        assert handle.scan(["id"], "v = 1").num_rows == len(ROWS)
        assert tables.find(handle, "id", pa.array(["big"]), ["tags", "p@uri"]).num_rows == 1
        tables.blob_info(handle, "big", "p")
    assert meter.bytes < 100_000


def test_what_is_asked_for_comes_as_bytes(base) -> None:
    tables, handle = base
    expected = [{"p": one["p"], "id": one["id"]} for one in ROWS]
    assert handle.scan(["p", "id"]).to_pylist() == expected
    batches = list(handle.batches(["p", "id"]))
    assert [one for batch in batches for one in batch.to_pylist()] == expected
    found = tables.find(handle, "id", pa.array(["big", "empty", "null"]), ["q", "p"])
    assert found.schema == pa.schema([SCHEMA.field("q"), SCHEMA.field("p")])
    assert found.to_pylist() == [{"q": ROWS[n]["q"], "p": ROWS[n]["p"]} for n in (0, 1, 3)]


END = len(BIG)
PARTS = [(0, None), (0, 0), (0, 1), (0, 10), (1, None), (3, END + 100), (2**20 - 1, 2)]
PARTS_AT_THE_END = [(END - 10, 10), (END - 1, None), (END - 1, 5), (END, 3), (END, None), (END + 9, None)]


@pytest.mark.parametrize(("offset", "length"), [*PARTS, *PARTS_AT_THE_END])
def test_a_part_is_that_part(base, offset, length) -> None:
    tables, handle = base
    expected = BIG[offset:] if length is None else BIG[offset : offset + length]
    assert tables.read_blob(handle, "big", "p", offset, length) == expected


def test_a_part_costs_a_part(base, tmp_path) -> None:
    _, handle = base
    tables = tables_in(tmp_path)
    handle = tables.open(handle.ref)
    with Meter() as meter:
        tables.read_blob(handle, "big", "p", 2_000_000, 100)
    assert meter.bytes < 50_000
    tables.read_blob(handle, "big", "p", 0, 10)
    with Meter() as meter:
        tables.read_blob(handle, "big", "p", 3_000_000, 100)
    assert meter.requests <= 2


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda t, h: t.read_blob(h, "nobody", "p"), errors.NotFound),
        (lambda t, h: t.blob_info(h, "nobody", "p"), errors.NotFound),
        (lambda t, h: t.read_blob(h, "null", "p"), errors.NotFound),
        (lambda t, h: t.read_blob(h, "outside", "p"), errors.NotFound),
        (lambda t, h: t.read_blob(h, "big", "tags"), errors.BadRequest),
        (lambda t, h: t.blob_info(h, "big", "none"), errors.BadRequest),
        (lambda t, h: t.read_blob(h, "big", "p", -1), errors.BadRequest),
        (lambda t, h: t.read_blob(h, "big", "p", 0, -1), errors.BadRequest),
        (lambda t, h: t.find(h, "p", pa.array([b""]), ["id"]), errors.BadRequest),
    ],
)
def test_what_is_not_there_is_said(base, act, error) -> None:
    with pytest.raises(error):
        act(*base)


def test_blobs_outlive_changes_of_other_rows_and_folds(base) -> None:
    tables, handle = base
    rows = list(ROWS)
    for number in range(9):
        fresh = row(f"k{number}", bytes([number]) * number * 1000)
        handle = tables.open(tables.stage_append(handle, table_of([fresh])).ref)
        rows.append(fresh)
    changed = [row("one", b"", v=2), row("k3", BIG[:1000], v=3)]
    handle = tables.open(tables.stage_change(handle, table_of(changed), ["k5", "null"]).ref)
    rows = [one for one in rows if one["id"] not in {"one", "k3", "k5", "null"}] + changed
    check(tables, handle, rows)
    fold = tables.stage_fold(handle)
    folded = tables.open(fold.ref)
    assert len(folded.fragments()) < len(handle.fragments())
    order = [one["id"] for one in folded.scan(["id"]).to_pylist()]
    rows = sorted(rows, key=lambda one: order.index(one["id"]))
    check(tables, folded, rows)
    check(tables, folded, rows, "q")
    check_no_extra_files(tables, folded)


def test_blobs_outlive_another_schema(base) -> None:
    tables, handle = base
    handle = tables.open(tables.stage_change(handle, None, ["null"]).ref)
    target = pa.schema(
        [
            SCHEMA.field("id"),
            pa.field("n", pa.string(), nullable=False),
            SCHEMA.field("p").with_name("photo"),
            SCHEMA.field("p@uri").with_name("photo@uri"),
            pa.field("v", pa.int64()),
            pa.field("r", pa.large_binary(), metadata=MARK),
            pa.field("r@uri", pa.string()),
        ]
    )
    staged = tables.stage_schema(
        handle, target, renames={"photo": "p", "photo@uri": "p@uri"}, fills={"n": pa.scalar("new")}
    )
    after = tables.open(staged.ref)
    assert after.schema == target
    rows = [
        {"id": one["id"], "n": "new", "photo": one["p"], "photo@uri": one["p@uri"], "v": 1, "r": None, "r@uri": None}
        for one in ROWS[1:]
    ]
    check(tables, after, rows, "photo")
    check(tables, after, rows, "r")
    for number in range(9):
        fresh = {"id": f"k{number}", "n": "x", "photo": b"12", "photo@uri": None, "v": 2**40, "r": BIG, "r@uri": None}
        after = tables.open(tables.stage_append(after, table_of([fresh], target)).ref)
        rows.append(fresh)
    check(tables, after, rows, "r")
    folded = tables.open(tables.stage_fold(after).ref)
    order = [one["id"] for one in folded.scan(["id"]).to_pylist()]
    rows = sorted(rows, key=lambda one: order.index(one["id"]))
    check(tables, folded, rows, "r")
    check(tables, folded, rows, "photo")
    check_no_extra_files(tables, folded)


def test_a_table_without_blobs_gets_one(tmp_path: Path) -> None:
    tables = tables_in(tmp_path)
    plain = pa.schema([SCHEMA.field("id"), SCHEMA.field("v")])
    handle = tables.open(tables.create("nodes/t", plain).ref)
    handle = tables.open(tables.stage_append(handle, table_of([{"id": "old", "v": 1}], plain)).ref)
    handle = tables.open(tables.stage_schema(handle, SCHEMA).ref)
    assert handle.schema == SCHEMA
    handle = tables.open(tables.stage_append(handle, table_of(ROWS)).ref)
    old = dict.fromkeys(SCHEMA.names) | {"id": "old", "v": 1}
    check(tables, handle, [old, *ROWS])
    check_no_extra_files(tables, handle)
    handle = tables.open(tables.stage_schema(handle, plain).ref)
    assert handle.scan().num_rows == len(ROWS) + 1


def test_rows_with_blobs_are_replaced_whole(base) -> None:
    tables, handle = base
    rows = [row("x", BIG), row("y", b""), row("outside", None)]
    check(tables, tables.open(tables.stage_overwrite(handle, table_of(rows)).ref), rows)
    reader = pa.RecordBatchReader.from_batches(SCHEMA, iter(table_of(rows).to_batches(max_chunksize=1)))
    over = tables.open(tables.stage_overwrite(handle, reader).ref)
    check(tables, over, rows)
    check(tables, tables.open(tables.stage_append(over, table_of([row("z", BIG)])).ref), [*rows, row("z", BIG)])
    check_no_extra_files(tables, over)
    empty = tables.open(tables.stage_overwrite(handle, SCHEMA.empty_table()).ref)
    check(tables, tables.open(tables.stage_append(empty, table_of(rows)).ref), rows)


def test_rows_need_not_carry_the_mark(base) -> None:
    tables, handle = base
    bare = pa.schema([field.remove_metadata() for field in SCHEMA])
    staged = tables.stage_append(handle, table_of([row("more", BIG)], bare))
    check(tables, tables.open(staged.ref), [*ROWS, row("more", BIG)])


def test_a_blob_is_made_of_blobs_only(base) -> None:
    tables, handle = base
    fill = pa.field("n", pa.large_binary(), metadata=MARK)
    with pytest.raises(errors.BadRequest, match="blobs"):
        tables.stage_schema(handle, SCHEMA.append(fill), fills={"n": pa.scalar(b"x", pa.large_binary())})


def test_many_rows(tmp_path: Path) -> None:
    tables = tables_in(tmp_path)
    rng = random.Random(3)
    rows = [row(f"k{n:05}", None if n % 7 == 0 else rng.randbytes(rng.choice([0, 1, 200, 9000]))) for n in range(3000)]
    handle = tables.open(tables.create("nodes/t", SCHEMA).ref)
    for start in range(0, 3000, 1000):
        handle = tables.open(tables.stage_append(handle, table_of(rows[start : start + 1000])).ref)
    doomed = [one["id"] for one in rows[::11]]
    handle = tables.open(tables.stage_change(handle, None, doomed).ref)
    rows = [one for n, one in enumerate(rows) if n % 11]
    assert handle.scan(SCHEMA.names).to_pylist() == rows
    ids = pa.array([one["id"] for one in rows[::13]])
    assert tables.find(handle, "id", ids, ["id", "p"]).to_pylist() == [
        {"id": one["id"], "p": one["p"]} for one in rows[::13]
    ]
    for one in rng.sample(rows, 30):
        if one["p"] is not None:
            assert tables.read_blob(handle, one["id"], "p", 1, 50) == one["p"][1:51]
