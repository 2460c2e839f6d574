"""Rows by value in any column: the same as a filter in plain Python, and without a read where a process is warm."""

from __future__ import annotations

import datetime as dt
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from omnigraph.model import errors
from omnigraph.storage import find
from omnigraph.storage.meter import Meter
from omnigraph.storage.remember import ColumnCache
from omnigraph.storage.staged import IndexBuild
from omnigraph.storage.tables import LanceTables
from tests.storage.test_tables import tables_in

WIDE = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("src", pa.string()),
        pa.field("dst", pa.string()),
        pa.field("text", pa.string()),
        pa.field("flag", pa.bool_()),
        pa.field("small", pa.int32()),
        pa.field("big", pa.uint64()),
        pa.field("real", pa.float64()),
        pa.field("day", pa.date32()),
        pa.field("time", pa.timestamp("ms", "UTC")),
        pa.field("tags", pa.list_(pa.string())),
        pa.field("vector", pa.list_(pa.float32(), 2)),
    ]
)
ODD = ["it's", 'a "quote"', "", "nothing`;--", "ünïcode\U0001f600", "back\\slash", "%_", None]


def row(number: int) -> dict[str, Any]:
    day = dt.date(1969, 12, 30) + dt.timedelta(days=number % 7)
    return {
        "id": f"k{number:05}",
        "src": f"s{number % 5}",
        "dst": f"d{number % 3}",
        "text": ODD[number % len(ODD)],
        "flag": None if number % 3 == 0 else number % 2 == 0,
        "small": number % 11 - 5,
        "big": 2**64 - 1 - number % 4,
        "real": number / 4,
        "day": day,
        "time": dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=number % 9),
        "tags": [f"t{number}"] * (number % 3),
        "vector": [float(number), 0.5],
    }


SOUGHT: dict[str, list[Any]] = {
    "id": ["k00003", "k00017", "k00018", "none", None],
    "src": ["s1", "s4"],
    "text": ["it's", "", None, 'a "quote"', "ünïcode\U0001f600", "nothing`;--", "back\\slash", "%_"],
    "flag": [True],
    "small": [-5, 0, 3],
    "big": [2**64 - 1, 2**64 - 3, 0],
    "real": [0.25, 3.0, 1e300],
    "day": [dt.date(1969, 12, 31), dt.date(1970, 1, 2)],
    "time": [dt.datetime(2024, 1, 1, 0, 0, 0, 4000, dt.UTC)],
}
COLUMNS = [["id"], ["dst", "id"], ["id", "small", "day"], ["vector", "text", "id", "tags"], WIDE.names]


def world(tables: LanceTables, folder: str, fragments: int = 4, size: int = 10):
    """A table of several fragments with deletions, and its rows in scan order."""
    handle = tables.open(tables.create(folder, WIDE).ref)
    for start in range(0, fragments * size, size):
        rows = pa.Table.from_pylist([row(number) for number in range(start, start + size)], WIDE)
        handle = tables.open(tables.stage_append(handle, rows).ref)
    changed = [{**row(number), "src": "s1", "small": 3, "text": "it's"} for number in (3, 25)]
    doomed = [f"k{number:05}" for number in (0, 7, 8, 19, 22)]
    handle = tables.open(tables.stage_change(handle, pa.Table.from_pylist(changed, WIDE), doomed).ref)
    gone = {*doomed, *(one["id"] for one in changed)}
    kept = [row(number) for number in range(fragments * size)]
    return handle, [one for one in kept if one["id"] not in gone] + changed


@pytest.fixture(params=["remembered", "cold", "large", "large, many values", "large, indexed", "forgetful"])
def seen(request, tmp_path: Path, monkeypatch):
    """One table through every way of finding."""
    tables = tables_in(tmp_path)
    handle, expected = world(tables, "nodes/t")
    if request.param.startswith("large"):
        monkeypatch.setattr(find, "SMALL_ROWS", 0)
    if request.param == "large, many values":
        monkeypatch.setattr(find, "FEW_VALUES", 0)
    if request.param == "large, indexed":
        for column in SOUGHT:
            if column not in {"real", "flag"}:
                numbers = [fragment.id for fragment in handle.fragments()]
                handle = tables.open(tables.stage_indexes(handle, [IndexBuild(column, "BTREE", tuple(numbers))]).ref)
    if request.param in {"cold", "large"}:
        tables = tables_in(tmp_path)
        handle = tables.open(handle.ref)
    if request.param == "forgetful":
        tables._versions.finder.cache = ColumnCache(bytes_max=100)
    return tables, handle, expected


@pytest.mark.parametrize("column", SOUGHT)
def test_it_finds_what_a_plain_filter_finds(seen, column) -> None:
    tables, handle, expected = seen
    values = SOUGHT[column]
    matches = [one for one in expected if one[column] is not None and one[column] in values]
    assert matches
    for columns in COLUMNS:
        found = tables.find(handle, column, pa.array(values, WIDE.field(column).type), columns)
        assert found.schema.names == columns
        assert found.to_pylist() == [{name: one[name] for name in columns} for one in matches]


def test_nothing_is_found_for_nothing(seen) -> None:
    tables, handle, _ = seen
    for values in (pa.array([], pa.string()), pa.nulls(2), pa.array(["nobody"])):
        found = tables.find(handle, "id", values, ["id", "vector"])
        assert found.num_rows == 0
        assert found.schema.names == ["id", "vector"]


def test_values_are_brought_to_the_type_of_the_column(seen) -> None:
    tables, handle, expected = seen
    found = tables.find(handle, "small", pa.array([3], pa.int64()), ["id"])
    assert found["id"].to_pylist() == [one["id"] for one in expected if one["small"] == 3]


@pytest.mark.parametrize(
    ("column", "values", "columns"),
    [
        ("vector", pa.array([[1.0, 2.0]]), ["id"]),
        ("tags", pa.array([["x"]]), ["id"]),
        ("small", pa.array(["no number"]), ["id"]),
        ("small", pa.array([2**40]), ["id"]),
        ("none", pa.array(["x"]), ["id"]),
        ("id", pa.array(["x"]), ["none"]),
    ],
)
def test_what_cannot_be_looked_up_is_refused(seen, column, values, columns) -> None:
    tables, handle, _ = seen
    with pytest.raises(errors.BadRequest):
        tables.find(handle, column, values, columns)


def test_not_a_number_is_found_the_same_way_everywhere(seen) -> None:
    tables, handle, _ = seen
    more = tables.open(tables.stage_append(handle, pa.Table.from_pylist([row(99) | {"real": math.nan}], WIDE)).ref)
    assert tables.find(more, "real", pa.array([math.nan]), ["id"])["id"].to_pylist() == ["k00099"]


def requests(act) -> int:
    with Meter() as meter:
        act()
    return meter.requests


def test_a_process_needs_no_read_for_what_it_wrote(tmp_path: Path) -> None:
    tables = tables_in(tmp_path)
    handle, _ = world(tables, "nodes/t", fragments=10)

    def check() -> None:
        tables.ids_present(handle, pa.array(["k00003", "none"]))
        tables.find(handle, "src", pa.array(["s1"]), ["id", "src", "dst"])
        tables.find(handle, "dst", pa.array(["d1"]), ["src"])

    assert requests(check) == 0
    handle = tables.open(tables.stage_fold(handle).ref)
    assert requests(check) == 0


def test_a_cold_process_reads_each_fragment_once(tmp_path: Path) -> None:
    made, _ = world(tables_in(tmp_path), "nodes/t")
    tables = tables_in(tmp_path)
    handle = tables.open(made.ref)
    values = pa.array(["it's"])
    first = requests(lambda: tables.find(handle, "text", values, ["id", "src"]))
    assert 0 < first <= 4 * len(handle.fragments())  # tail of the data file, its columns, the deletion file
    assert requests(lambda: tables.find(handle, "text", values, ["src", "id"])) == 0
    found = requests(lambda: tables.find(handle, "id", pa.array(["k00004"]), ["vector"]))
    assert found <= 4, "only the fragment that has the row is read"


def test_a_deletion_keeps_what_is_remembered(tmp_path: Path) -> None:
    tables = tables_in(tmp_path)
    handle, expected = world(tables, "nodes/t")
    handle = tables.open(tables.stage_change(handle, None, [expected[4]["id"]]).ref)
    assert requests(lambda: tables.find(handle, "dst", pa.array(["d1", "d2"]), ["id"])) == 0
    found = tables.find(handle, "dst", pa.array(["d1", "d2"]), ["id"])["id"].to_pylist()
    assert found == [one["id"] for n, one in enumerate(expected) if n != 4 and one["dst"] in {"d1", "d2"}]


def test_many_rows_are_taken_in_portions(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(find, "TAKE_ROWS", 7)
    tables = tables_in(tmp_path)
    handle, expected = world(tables, "nodes/t")
    ids = pa.array([one["id"] for one in reversed(expected)])
    assert tables.find(handle, "id", ids, WIDE.names).to_pylist() == expected


def test_batches_are_the_scan(tmp_path: Path) -> None:
    handle, expected = world(tables_in(tmp_path), "nodes/t")
    batches = list(handle.batches(["id", "tags"], "small > 0"))
    assert [one for batch in batches for one in batch.to_pylist()] == [
        {"id": one["id"], "tags": one["tags"]} for one in expected if one["small"] > 0
    ]
