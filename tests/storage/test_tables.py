"""Tables staged in the dark: content before publish, rebases that are proven or refused, one request to open."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from omnigraph.model import errors
from omnigraph.storage.address import parse_address
from omnigraph.storage.meter import Meter
from omnigraph.storage.staged import IndexBuild, RebaseRefused, TableRef
from omnigraph.storage.store import connect
from omnigraph.storage.tables import LanceTables
from tests.support.graphs import NODE, rows


def tables_in(folder: Path) -> LanceTables:
    address = parse_address(folder)
    return LanceTables(address, connect(address))


@pytest.fixture
def tables(tmp_path: Path) -> LanceTables:
    return tables_in(tmp_path)


@pytest.fixture
def base(tables: LanceTables):
    """A table with three rows, in two fragments."""
    empty = tables.open(tables.create("nodes/t", NODE).ref)
    first = tables.open(tables.stage_append(empty, rows("a", "b", v=1)).ref)
    return tables.open(tables.stage_append(first, rows("c", v=1)).ref)


def content(handle) -> dict[str, int]:
    scan = handle.scan(["id", "v"])
    ids = scan.column("id").to_pylist()
    assert len(set(ids)) == len(ids), f"a row is there twice: {ids}"
    assert handle.row_count == len(ids)
    return dict(zip(ids, scan.column("v").to_pylist(), strict=True))


def test_a_staged_change_is_readable_and_its_base_is_not_changed(tables, base) -> None:
    staged = tables.stage_change(base, rows("a", "new", v=9), ["c"])
    assert content(tables.open(staged.ref)) == {"a": 9, "b": 1, "new": 9}
    assert content(base) == {"a": 1, "b": 1, "c": 1}
    assert staged.aspects == {"added", "changed", "removed"}


def test_a_change_says_what_it_did_to_the_content(tables, base) -> None:
    assert tables.stage_change(base, rows("new")).aspects == {"added"}
    assert tables.stage_change(base, rows("a", v=2)).aspects == {"changed"}
    assert tables.stage_change(base, None, ["a"]).aspects == {"removed"}
    assert tables.stage_change(base, None, ["nobody"]) is None
    assert tables.stage_append(base, rows("new")).aspects == {"added"}
    assert tables.stage_overwrite(base, rows("x")).aspects == {"added", "changed", "removed"}


def test_another_process_opens_a_staged_version_with_one_request(tables, base, tmp_path) -> None:
    staged = tables.stage_change(base, rows("a", v=5))
    with Meter() as meter:
        handle = tables_in(tmp_path).open(staged.ref)
    assert meter.requests == 1
    assert content(handle) == {"a": 5, "b": 1, "c": 1}


def test_what_another_process_opened_can_be_changed_folded_and_indexed(tables, base, tmp_path) -> None:
    """Nothing Lance needs for its next version is lost by opening it from its manifest."""
    other = tables_in(tmp_path)
    indexed = other.stage_indexes(other.open(base.ref), [IndexBuild("id", "BTREE", (0, 1))])
    third = tables_in(tmp_path)
    handle = third.open(indexed.ref)
    assert [index.name for index in handle.dataset.describe_indices()] == ["btree-0"]
    changed = third.stage_change(handle, rows("b", "d", v=7))
    fourth = tables_in(tmp_path).open(changed.ref)
    assert content(fourth) == {"a": 1, "b": 7, "c": 1, "d": 7}
    assert [index.name for index in fourth.dataset.describe_indices()] == ["btree-0"]
    assert fourth.scan(where="id = 'b'").column("v").to_pylist() == [7]


@pytest.mark.parametrize("damage", [b"", b"LANC", b"x" * 400, b"\xff" * 12 + b"LANC"])
def test_a_damaged_manifest_of_a_table_is_a_typed_error(tables, base, tmp_path, damage) -> None:
    path = tmp_path / "nodes/t/_versions" / f"d{base.ref.version}.manifest"
    assert path.exists()
    path.write_bytes(damage)
    with pytest.raises(errors.CorruptObject, match=path.name):
        tables_in(tmp_path).open(base.ref)


def test_a_version_that_is_gone_was_reclaimed(tables, base, tmp_path) -> None:
    with pytest.raises(errors.SnapshotReclaimed):
        tables.open(TableRef("nodes/t", 12345))
    with pytest.raises(errors.SnapshotReclaimed):
        tables.open(TableRef("nodes/none", 1))


def test_an_append_moves_to_any_base_without_uploading_again(tables, base) -> None:
    staged = tables.stage_append(base, rows("new"))
    moved = tables.stage_change(base, rows("a", v=3), ["b"])
    with Meter() as meter:
        rebased = tables.rebase(staged, moved.ref)
    assert meter.puts == 2
    assert content(tables.open(rebased.ref)) == {"a": 3, "c": 1, "new": 0}


def test_a_change_moves_where_its_fragments_are_untouched(tables, base) -> None:
    staged = tables.stage_change(base, rows("c", v=2))
    moved = tables.stage_change(base, rows("a", v=3))
    assert content(tables.open(tables.rebase(staged, moved.ref).ref)) == {"a": 3, "b": 1, "c": 2}


@pytest.mark.parametrize(
    "moved",
    [
        pytest.param(lambda tables, base: tables.stage_change(base, rows("a", v=3)), id="the same row was changed"),
        pytest.param(lambda tables, base: tables.stage_change(base, None, ["b"]), id="its fragment lost another row"),
        pytest.param(lambda tables, base: tables.stage_change(base, None, ["a", "b"]), id="its fragment is gone"),
        pytest.param(lambda tables, base: tables.stage_append(base, rows("new")), id="its new key was inserted"),
        pytest.param(lambda tables, base: tables.stage_overwrite(base, rows("a")), id="everything was replaced"),
    ],
)
def test_a_change_that_is_not_proven_safe_is_refused(tables, base, moved) -> None:
    """Lance itself would bring deleted rows back or double them, without an error."""
    staged = tables.stage_change(base, rows("a", "new", v=9))
    with pytest.raises(RebaseRefused):
        tables.rebase(staged, moved(tables, base).ref)


def test_a_fold_keeps_rows_and_their_ids(tables) -> None:
    handle = tables.open(tables.create("nodes/t", NODE).ref)
    for number in range(10):
        handle = tables.open(tables.stage_append(handle, rows(f"k{number}", f"l{number}", v=number)).ref)
    handle = tables.open(tables.stage_change(handle, rows("k3", v=33), ["k5"]).ref)
    before = handle.dataset.scanner(columns=["id", "v"], with_row_id=True).to_table().sort_by("id")
    fold = tables.stage_fold(handle)
    folded = tables.open(fold.ref)
    assert fold.aspects == frozenset()
    assert len(folded.fragments()) < len(handle.fragments())
    after = folded.dataset.scanner(columns=["id", "v"], with_row_id=True).to_table().sort_by("id")
    assert after == before


def test_a_fold_does_not_move_over_a_changed_fragment(tables) -> None:
    handle = tables.open(tables.create("nodes/t", NODE).ref)
    for number in range(8):
        handle = tables.open(tables.stage_append(handle, rows(f"k{number}", v=number)).ref)
    fold = tables.stage_fold(handle)
    deleted = tables.stage_change(handle, None, ["k3"])
    with pytest.raises(RebaseRefused):
        tables.rebase(fold, deleted.ref)
    grown = tables.stage_append(handle, rows("late"))
    assert len(content(tables.open(tables.rebase(fold, grown.ref).ref))) == 9


WIDER = NODE.append(pa.field("note", pa.string()))


def test_columns_come_and_go_without_rewriting(tables, base) -> None:
    files = {name for fragment in base.fragments() for name in fragment.files}
    wider = tables.open(tables.stage_schema(base, WIDER).ref)
    assert wider.schema.names == ["id", "v", "note"]
    assert {name for fragment in wider.fragments() for name in fragment.files} == files
    assert wider.scan().column("note").to_pylist() == [None] * 3
    more = tables.open(tables.stage_append(wider, pa.table({"id": ["z"], "v": [1], "note": ["hi"]}, WIDER)).ref)
    assert more.scan().column("note").to_pylist() == [None, None, None, "hi"]
    narrow = tables.open(tables.stage_schema(more, NODE).ref)
    assert content(narrow) == {"a": 1, "b": 1, "c": 1, "z": 1}


def test_a_column_of_another_type_is_rewritten(tables, base) -> None:
    floats = pa.schema([NODE.field("id"), pa.field("v", pa.float64())])
    changed = tables.open(tables.stage_schema(base, floats).ref)
    assert changed.schema.field("v").type == pa.float64()
    assert content(changed) == {"a": 1.0, "b": 1.0, "c": 1.0}


def test_fragments_uploaded_elsewhere_become_one_version(tables, base, tmp_path) -> None:
    worker = tables_in(tmp_path)
    uploaded = [text for number in range(3) for text in worker.upload(worker.open(base.ref), rows(f"w{number}"))]
    staged = tables.stage_fragments(base, uploaded)
    assert content(tables.open(staged.ref)).keys() == {"a", "b", "c", "w0", "w1", "w2"}


@pytest.mark.parametrize(
    ("upsert", "delete"),
    [
        (pa.table({"id": ["x", "x"], "v": [1, 2]}, NODE), []),
        (rows("x"), ["x"]),
        (pa.table({"id": pa.array([None], pa.string()), "v": [1]}), []),
    ],
    ids=["double", "written and deleted", "missing"],
)
def test_bad_keys_are_refused(tables, base, upsert, delete) -> None:
    with pytest.raises(errors.BadRequest, match="key"):
        tables.stage_change(base, upsert, delete)
