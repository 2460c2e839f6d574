"""Schema changes, one by one, together and one after another: the rows a plain model expects, and little written."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from omnigraph.model import errors
from omnigraph.storage.handles import version_files
from omnigraph.storage.meter import Meter
from omnigraph.storage.staged import IndexBuild
from tests.storage.test_tables import tables_in

START = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("src", pa.string()),
        pa.field("text", pa.string()),
        pa.field("full", pa.string()),
        pa.field("must", pa.string(), nullable=False),
        pa.field("count", pa.int32()),
        pa.field("size", pa.uint32(), nullable=False),
        pa.field("real", pa.float32()),
        pa.field("numbers", pa.list_(pa.int32())),
        pa.field("vector", pa.list_(pa.float32(), 2)),
    ]
)
SAMPLES: dict[pa.DataType, Callable[[int], Any]] = {
    pa.string(): lambda n: f"t{n}",
    pa.int32(): lambda n: n - 10,
    pa.int64(): lambda n: n - 10 + 2**40,
    pa.uint32(): lambda n: n + 2**31,
    pa.uint64(): lambda n: n + 2**63,
    pa.float32(): lambda n: n / 2,
    pa.float64(): lambda n: n / 3,
    pa.list_(pa.int32()): lambda n: [n, None][: n % 3],
    pa.list_(pa.int64()): lambda n: [2**40, n][: n % 3],
    pa.list_(pa.float32(), 2): lambda n: [float(n), 1.0],
    pa.bool_(): lambda n: n % 2 == 0,
}


def sample(schema: pa.Schema, number: int) -> dict[str, Any]:
    """A row: every fourth optional value is missing."""
    made: dict[str, Any] = {"id": f"k{number:04}"}
    for place, field in enumerate(schema):
        if field.name == "id":
            continue
        is_missing = field.nullable and field.name != "full" and (number + place) % 4 == 0
        made[field.name] = None if is_missing else SAMPLES[field.type](number)
    return made


@dataclasses.dataclass
class Change:
    """A change of the schema, and what it does to each row."""

    fields: dict[str, pa.Field]
    rows: list[dict[str, Any]]
    renames: dict[str, str] = dataclasses.field(default_factory=dict)
    fills: dict[str, pa.Scalar] = dataclasses.field(default_factory=dict)

    @classmethod
    def start(cls, schema: pa.Schema, rows: list[dict[str, Any]]) -> Change:
        return cls({field.name: field for field in schema}, [dict(one) for one in rows])

    def rename(self, old: str, new: str) -> None:
        self.fields = {(new if name == old else name): field for name, field in self.fields.items()}
        self.fields[new] = self.fields[new].with_name(new)
        self.renames[new] = old
        self.rows = [{(new if name == old else name): value for name, value in one.items()} for one in self.rows]

    def swap(self, one: str, other: str) -> None:
        self.fields[one], self.fields[other] = self.fields[other].with_name(one), self.fields[one].with_name(other)
        self.renames |= {one: other, other: one}
        self.rows = [{**row, one: row[other], other: row[one]} for row in self.rows]

    def add(self, field: pa.Field, fill: Any = None) -> None:
        self.fields[field.name] = field
        if fill is not None:
            self.fills[field.name] = pa.scalar(fill, field.type)
        self.rows = [{**row, field.name: fill} for row in self.rows]

    def replace(self, field: pa.Field) -> None:
        self.add(field)
        self.fills[field.name] = pa.scalar(None, field.type)

    def drop(self, name: str) -> None:
        del self.fields[name]
        self.rows = [{key: value for key, value in row.items() if key != name} for row in self.rows]

    def retype(self, name: str, kind: pa.DataType) -> None:
        self.fields[name] = self.fields[name].with_type(kind)

    def require(self, name: str, required: bool) -> None:
        self.fields[name] = self.fields[name].with_nullable(not required)

    def reorder(self) -> None:
        first, *rest = self.fields.items()
        self.fields = dict([first, *reversed(rest)])

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(list(self.fields.values()))


STEPS: dict[str, Callable[[Change], None]] = {
    "rename": lambda c: c.rename("text", "title"),
    "rename, and a new one of the old name": lambda c: (c.rename("src", "origin"), c.add(pa.field("src", pa.bool_()))),
    "rename and widen": lambda c: (c.rename("count", "total"), c.retype("total", pa.int64())),
    "add": lambda c: c.add(pa.field("note", pa.string())),
    "add a list": lambda c: c.add(pa.field("marks", pa.list_(pa.int64()))),
    "add with a value": lambda c: c.add(pa.field("state", pa.string(), nullable=False), "it's new"),
    "add a list with a value": lambda c: c.add(pa.field("scores", pa.list_(pa.int32())), [1, None, 3]),
    "drop": lambda c: c.drop("vector"),
    "widen": lambda c: c.retype("real", pa.float64()),
    "widen a required one": lambda c: c.retype("size", pa.uint64()),
    "widen inside a list": lambda c: c.retype("numbers", pa.list_(pa.int64())),
    "require": lambda c: c.require("full", True),
    "no longer require": lambda c: c.require("must", False),
    "reorder": lambda c: c.reorder(),
}
WRITES_DATA = {name for name in STEPS if "widen" in name or "value" in name}


@pytest.fixture
def base(tmp_path: Path):
    """Three fragments with deletions, one without, and the rows in scan order."""
    tables = tables_in(tmp_path)
    handle = tables.open(tables.create("nodes/t", START).ref)
    for start in (0, 5, 10, 15):
        rows = [sample(START, number) for number in range(start, start + 5)]
        handle = tables.open(tables.stage_append(handle, pa.Table.from_pylist(rows, START)).ref)
    handle = tables.open(tables.stage_change(handle, None, ["k0000", "k0007", "k0008", "k0014"]).ref)
    return tables, handle, [sample(START, number) for number in range(20) if number not in {0, 7, 8, 14}]


def shaped(tables, handle, change: Change):
    staged = tables.stage_schema(handle, change.schema, renames=change.renames, fills=change.fills)
    assert staged.aspects == {"changed"}
    assert staged.base == handle.ref
    return staged, tables.open(staged.ref)


def check(tables, handle, schema: pa.Schema, rows: list[dict[str, Any]]) -> None:
    scan = handle.scan()
    assert handle.schema == schema
    assert scan.schema == schema
    assert scan.to_pylist() == [{name: one[name] for name in schema.names} for one in rows]
    assert handle.row_count == len(rows)
    ids = pa.array([one["id"] for one in rows[::3]])
    assert tables.find(handle, "id", ids, schema.names).to_pylist() == rows[::3]
    for name in schema.names:
        if schema.field(name).type == pa.string():
            found = tables.find(
                handle, name, pa.array(["t3", "t12", "k0003", "it's new"]), list(dict.fromkeys(["id", name]))
            )
            assert found["id"].to_pylist() == [
                one["id"] for one in rows if one[name] in {"t3", "t12", "k0003", "it's new"}
            ]


def fresh_process(tables, handle):
    other = tables_in(Path(tables.address.prefix))
    return other, other.open(handle.ref)


@pytest.mark.parametrize("name", STEPS)
def test_a_change_of_one_kind(base, name) -> None:
    tables, handle, rows = base
    before = handle.dataset.scanner(columns=["id"], with_row_id=True).to_table()
    change = Change.start(START, rows)
    STEPS[name](change)
    staged, after = shaped(tables, handle, change)
    check(tables, after, change.schema, change.rows)
    check(*fresh_process(tables, after), change.schema, change.rows)
    assert handle.scan().to_pylist() == rows, "the base stays as it was"
    old, new = version_files(handle), version_files(after)
    data = {file for file in new - old if "/data/" in file}
    assert len(data) == (len(handle.fragments()) if name in WRITES_DATA else 0)
    assert data <= set(staged.files)
    assert after.dataset.scanner(columns=["id"], with_row_id=True).to_table() == before, "row ids stay"


@pytest.mark.parametrize("names", [*itertools.combinations(STEPS, 3)], ids=" + ".join)
def test_changes_together(base, names) -> None:
    tables, handle, rows = base
    change = Change.start(START, rows)
    for name in names:
        STEPS[name](change)
    _, after = shaped(tables, handle, change)
    check(tables, after, change.schema, change.rows)


def test_everything_at_once_then_every_kind_of_write(base) -> None:
    tables, handle, rows = base
    change = Change.start(START, rows)
    for step in STEPS.values():
        step(change)
    change.swap("title", "note")
    change.renames |= {"note": "text"}  # what it was in the base
    change.renames.pop("title")
    _, after = shaped(tables, handle, change)
    check(tables, after, change.schema, change.rows)
    check_writes(tables, after, change.schema, change.rows, first=100)


def check_writes(tables, handle, schema, rows, first: int):
    """Append, upsert, delete and fold."""
    for number in range(first, first + 9):
        fresh = sample(schema, number)
        handle = tables.open(tables.stage_append(handle, pa.Table.from_pylist([fresh], schema)).ref)
        rows = [*rows, fresh]
    changed = {**sample(schema, 3), "id": rows[2]["id"]}
    doomed = rows[5]["id"]
    handle = tables.open(tables.stage_change(handle, pa.Table.from_pylist([changed], schema), [doomed]).ref)
    rows = [one for one in rows if one["id"] not in {changed["id"], doomed}] + [changed]
    check(tables, handle, schema, rows)
    folded = tables.open(tables.stage_fold(handle).ref)
    scan = folded.scan().to_pylist()
    assert sorted(scan, key=lambda one: one["id"]) == sorted(rows, key=lambda one: one["id"])
    check(tables, folded, schema, scan)
    return folded, scan


@pytest.mark.parametrize("seed", range(12))
def test_changes_one_after_another_with_writes_between(base, seed) -> None:
    tables, handle, rows = base
    rng = random.Random(seed)
    schema, number = START, 100
    for turn in range(6):
        change = Change.start(schema, rows)
        for _ in range(rng.randrange(1, 4)):
            _random_step(rng, change, schema, turn)
        _, handle = shaped(tables, handle, change)
        schema, rows = change.schema, change.rows
        if rng.random() < 0.3:
            tables, handle = fresh_process(tables, handle)
        check(tables, handle, schema, rows)
        if rng.random() < 0.5:
            handle, rows = check_writes(tables, handle, schema, rows, number)
            number += 20


WIDER = {
    pa.int32(): [pa.int64(), pa.float64()],
    pa.uint32(): [pa.uint64(), pa.int64(), pa.float64()],
    pa.float32(): [pa.float64()],
    pa.list_(pa.int32()): [pa.list_(pa.int64())],
}


def _random_step(rng: random.Random, change: Change, base: pa.Schema, turn: int) -> None:
    untouched = [
        name
        for name in change.fields
        if name in base.names and name != "id" and name not in {*change.renames, *change.fills}
    ]
    kind = rng.choice(["rename", "add", "fill", "drop", "widen", "replace", "loosen", "reorder"])
    fresh = f"c{turn}_{rng.randrange(1000)}"
    types = [pa.string(), pa.int32(), pa.float32(), pa.list_(pa.int32()), pa.list_(pa.float32(), 2)]
    if kind == "add":
        change.add(pa.field(fresh, rng.choice(types)))
    elif kind == "fill":
        kind_of = rng.choice(types)
        change.add(pa.field(fresh, kind_of, nullable=rng.random() < 0.5), SAMPLES[kind_of](5))
    elif kind == "reorder":
        change.reorder()
    elif len(untouched) > 2:
        name = rng.choice(untouched)
        if kind == "rename":
            change.rename(name, fresh)
        elif kind == "drop":
            change.drop(name)
        elif kind == "replace":
            change.replace(pa.field(name, rng.choice(types)))
        elif kind == "loosen":
            change.require(name, False)
        elif kind == "widen" and change.fields[name].type in WIDER:
            change.retype(name, rng.choice(WIDER[change.fields[name].type]))


def test_names_change_places(base) -> None:
    tables, handle, rows = base
    change = Change.start(START, rows)
    change.swap("text", "full")
    _, after = shaped(tables, handle, change)
    check(tables, after, change.schema, change.rows)


def test_an_empty_table_takes_any_schema(tmp_path: Path) -> None:
    tables = tables_in(tmp_path)
    handle = tables.open(tables.create("nodes/t", START).ref)
    change = Change.start(START, [])
    for step in STEPS.values():
        step(change)
    change.add(pa.field("needed", pa.string(), nullable=False))
    _, after = shaped(tables, handle, change)
    row = sample(change.schema, 1)
    after = tables.open(tables.stage_append(after, pa.Table.from_pylist([row], change.schema)).ref)
    assert after.scan().to_pylist() == [row]


@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (lambda c: c.require("text", True), "4 rows|rows have no value"),
        (lambda c: c.add(pa.field("needed", pa.string(), nullable=False)), "needed is required"),
        (lambda c: c.retype("full", pa.int64()), "does not fit"),
        (lambda c: c.renames.update(none="text"), "cannot rename"),
        (lambda c: c.renames.update(text="none"), "cannot rename"),
        (lambda c: c.fills.update(none=pa.scalar(1)), "only a new column"),
        (lambda c: (c.add(pa.field("n", pa.int32())), c.fills.update(n=pa.scalar("x"))), "is no int32"),
    ],
)
def test_what_cannot_be_is_refused(base, spoil, match) -> None:
    tables, handle, rows = base
    change = Change.start(START, rows)
    spoil(change)
    with pytest.raises(errors.BadRequest, match=match):
        shaped(tables, handle, change)


def test_what_is_remembered_of_rows_outlives_a_new_column(base) -> None:
    tables, handle, rows = base
    change = Change.start(START, rows)
    STEPS["add with a value"](change)
    _, after = shaped(tables, handle, change)
    with Meter() as meter:
        assert tables.ids_present(after, pa.array(["k0001", "k0000"])).to_pylist() == ["k0001"]
    assert meter.requests == 0


def test_an_index_follows_its_column(base) -> None:
    tables, handle, rows = base
    numbers = [fragment.id for fragment in handle.fragments()]
    for column in ("text", "count", "full"):
        handle = tables.open(tables.stage_indexes(handle, [IndexBuild(column, "BTREE", tuple(numbers))]).ref)
    change = Change.start(START, rows)
    change.rename("text", "title")
    change.retype("count", pa.int64())
    change.drop("full")
    change.add(pa.field("state", pa.string()), "new")
    _, after = shaped(tables, handle, change)
    check(tables, after, change.schema, change.rows)
    assert [index.name for index in after.dataset.describe_indices()] == ["btree-2"]
    assert "ScalarIndex" in after.dataset.scanner(filter="title = 't3'").explain_plan()
    assert after.scan(["id"], "title = 't3'")["id"].to_pylist() == ["k0003"]
    assert after.scan(["id"], "count = -6")["id"].to_pylist() == ["k0004"]
    check_writes(tables, after, change.schema, change.rows, first=100)


def test_rows_are_replaced_from_a_stream(base) -> None:
    tables, handle, _ = base
    rows = [sample(START, number) for number in range(50, 60)]
    batches = pa.Table.from_pylist(rows, START).to_batches(max_chunksize=3)
    staged = tables.stage_overwrite(handle, pa.RecordBatchReader.from_batches(START, iter(batches)))
    assert tables.open(staged.ref).scan().to_pylist() == rows
    nothing = tables.stage_overwrite(handle, pa.RecordBatchReader.from_batches(START, iter([])))
    assert tables.open(nothing.ref).row_count == 0
