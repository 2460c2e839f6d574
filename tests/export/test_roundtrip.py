"""What an export writes, a load reads back as the same graph, in every format."""

from __future__ import annotations

import base64
import io
import json
import math
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import omnigraph as og
from omnigraph.export import order
from omnigraph.model.errors import BadRequest
from omnigraph.write.values import MS_BOUNDS

SCHEMA = """
node Thing {
    name: String @key
    s: String?  b: Bool?  i: I32?  j: I64?  u: U32?  w: U64?  f: F32?  g: F64?
    d: Date?  t: DateTime?  e: enum(red, green)?
    ss: [String]?  bs: [Bool]?  js: [I64]?  gs: [F64]?  ds: [Date]?  ts: [DateTime]?
    v: Vector(3)?  file: Blob?
}
node Loose { text: String? }
edge Links: Thing -> Thing { since: DateTime?  note: String? }
edge Near: Thing -> Loose
"""

FLOATS32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
DAYS = st.dates(date(1, 1, 1), date(9999, 12, 31))
TIMES = st.integers(*MS_BOUNDS)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = {
    "s": TEXTS,
    "b": st.booleans(),
    "i": st.integers(-(2**31), 2**31 - 1),
    "j": st.integers(-(2**63), 2**63 - 1),
    "u": st.integers(0, 2**32 - 1),
    "w": st.integers(0, 2**64 - 1),
    "f": FLOATS32,
    "g": st.floats(),
    "d": DAYS,
    "t": TIMES,
    "e": st.sampled_from(["red", "green"]),
    "ss": st.lists(TEXTS, max_size=3),
    "bs": st.lists(st.booleans(), max_size=3),
    "js": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3),
    "gs": st.lists(st.floats(), max_size=3),
    "ds": st.lists(DAYS, max_size=3),
    "ts": st.lists(TIMES, max_size=2),
    "v": st.lists(FLOATS32, min_size=3, max_size=3),
    "file": st.binary(max_size=20),
}
THINGS = st.lists(
    st.fixed_dictionaries(
        {"name": st.text("abcäöü\U0001f600-", min_size=1, max_size=6)},
        optional={name: st.none() | values for name, values in VALUES.items()},
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda thing: thing["name"],
)


def table_rows(graph: og.Graph, key: str) -> list[str]:
    """Rows as texts by id: in these NaN equals NaN, and -0.0 is not 0.0."""
    handle = graph.snapshot().table(key)
    return sorted(map(repr, handle.scan(handle.schema.names).to_pylist()))


def same(one: og.Graph, other: og.Graph) -> None:
    for key in one.snapshot().state.tables:
        assert table_rows(one, key) == table_rows(other, key), key


def filled(path: Path, things: list[dict[str, object]]) -> og.Graph:
    graph = og.init(path, schema=SCHEMA)
    names = [thing["name"] for thing in things]
    links = [{"edge": "Links", "from": names[0], "to": name, "data": {"since": 5}} for name in names]
    graph.load([{"type": "Thing", "data": thing} for thing in things] + links)
    return graph


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(things=THINGS)
def test_lines_are_the_graph(things: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("lines")
    graph = filled(folder / "a.omni", things)
    text = b"".join(graph.export_lines())
    again = og.init(folder / "b.omni", schema=SCHEMA)
    again.load(io.BytesIO(text), mode="append")
    same(graph, again)
    assert b"".join(again.export_lines()) == text


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(things=THINGS, form=st.sampled_from(["parquet", "csv"]))
def test_files_of_columns_are_the_graph(
    things: list[dict[str, object]], form: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("files")
    graph = filled(folder / "a.omni", things)
    result = graph.export(folder / "out", format=form, types=["Thing", "Links"])
    assert result.nodes == {"Thing": len(things)}
    again = og.init(folder / "b.omni", schema=SCHEMA)
    for name in sorted(result.files, reverse=True):  # nodes before edges
        again.load(folder / "out" / name, type=Path(name).parent.name)
    same(graph, again)
    at_once = og.init(folder / "c.omni", schema=SCHEMA)
    if result.files:
        assert at_once.load(folder / "out").commit is not None
    same(graph, at_once)


def test_lines_are_as_the_contract_has_them(tmp_path: Path) -> None:
    graph = og.init(tmp_path / "g.omni", schema=SCHEMA, external_blobs=("s3://known/",))
    graph.load(
        [
            {"type": "Thing", "data": {"name": "b", "d": "2024-02-29", "t": "2024-02-29T10:00:00.5Z", "g": math.inf}},
            {"type": "Thing", "data": {"name": "a", "file": b"\x00\x01", "v": [0.5, 1, 2], "gs": [math.nan, 1.5]}},
            {"type": "Thing", "data": {"name": "c", "file": "s3://known/x"}},
            {"edge": "Links", "from": "a", "to": "b", "data": {"id": "e1", "note": "x"}},
        ],
        mode="overwrite",
    )
    lines = [json.loads(line) for line in b"".join(graph.export_lines()).splitlines()]
    assert [next(iter(line)) for line in lines] == ["edge", "type", "type", "type"]
    assert lines[0] == {"edge": "Links", "from": "a", "to": "b", "data": {"id": "e1", "note": "x", "since": None}}
    a, b, c = (line["data"] for line in lines[1:])
    assert list(a) == ["id", *sorted(["name", *VALUES])]
    assert (a["id"], a["file"], a["v"], a["gs"]) == ("a", "base64:AAE=", [0.5, 1.0, 2.0], ["NaN", 1.5])
    assert (b["d"], b["t"], b["g"], b["file"]) == ("2024-02-29", "2024-02-29T10:00:00.500Z", "Infinity", None)
    assert c["file"] == "s3://known/x"


def test_a_commit_and_some_types_can_be_exported(tmp_path: Path) -> None:
    graph = filled(tmp_path / "g.omni", [{"name": "a"}])
    before = graph.snapshot().commit_id
    graph.load([{"type": "Thing", "data": {"name": "b"}}])
    assert b"".join(graph.export_lines(types=["Thing"], snapshot=before)).count(b"\n") == 1
    assert b"".join(graph.export_lines(types=["node:Thing"])).count(b"\n") == 2
    with pytest.raises(BadRequest, match="Thing"):
        graph.export_lines(types=["Thin"])
    with pytest.raises(BadRequest, match="not both"):
        graph.export_lines(branch="main", snapshot=before)


def test_an_export_of_the_earlier_system_is_read(tmp_path: Path) -> None:
    """It wrote days and times as numbers, ids in `data` and edges after or before their nodes."""
    lines = [
        {"edge": "Links", "from": "a", "to": "a", "data": {"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "since": 1709200800500}},
        {"type": "Thing", "data": {"id": "a", "name": "a", "d": 19782, "t": 1709200800500, "ds": [19782], "v": None}},
    ]
    graph = og.init(tmp_path / "g.omni", schema=SCHEMA)
    graph.load("\n".join(map(json.dumps, lines)).encode(), mode="overwrite")
    found = {line.get("type"): line["data"] for line in map(json.loads, b"".join(graph.export_lines()).splitlines())}
    assert (found["Thing"]["d"], found["Thing"]["t"]) == ("2024-02-29", "2024-02-29T10:00:00.500Z")
    assert found["Thing"]["ds"] == ["2024-02-29"]
    assert found[None]["since"] == "2024-02-29T10:00:00.500Z"


def test_parts_and_packed_files(tmp_path: Path) -> None:
    graph = og.init(tmp_path / "g.omni", schema=SCHEMA)
    graph.load([{"type": "Thing", "data": {"name": f"n{i:05}"}} for i in range(20_000)])
    result = graph.export(tmp_path / "out", compression="gzip", part_rows=9_000)
    assert [name for name in result.files if "Thing" in name] == [
        f"nodes/Thing/part-{part:05}.jsonl.gz" for part in range(3)
    ]
    again = og.init(tmp_path / "b.omni", schema=SCHEMA)
    for name in result.files:
        again.load(tmp_path / "out" / name)
    same(graph, again)
    with pytest.raises(BadRequest, match="not an empty folder"):
        graph.export(tmp_path / "out")
    graph.export(tmp_path / "all.jsonl.zst")
    packed = og.init(tmp_path / "c.omni", schema=SCHEMA)
    packed.load(tmp_path / "all.jsonl.zst")
    same(graph, packed)


def test_blobs_larger_than_memory_allows_are_read_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnigraph.storage.rows.BLOB_BYTES", 1000)
    graph = og.init(tmp_path / "g.omni", schema=SCHEMA)
    blobs = {f"n{size:05}": bytes(size) for size in (1500, 10, 0, 990, 20, 2000)}
    graph.load([{"type": "Thing", "data": {"name": name, "file": data}} for name, data in blobs.items()])
    lines = [json.loads(line)["data"] for line in b"".join(graph.export_lines()).splitlines()]
    assert {line["id"]: base64.b64decode(line["file"][7:]) for line in lines} == blobs
    assert [line["id"] for line in lines] == sorted(blobs)


@pytest.mark.parametrize("run_bytes", [1, 300, 10_000, 10**9])
def test_rows_come_in_order_from_any_number_of_runs(run_bytes: int) -> None:
    ids = [f"{number * 7919 % 1009:04}" for number in range(1009)]
    batches = [
        pa.table({"id": ids[start : start + 50], "n": list(range(len(ids[start : start + 50])))})
        for start in range(0, len(ids), 50)
    ]
    merged = pa.concat_tables(order.in_order(batches, "id", run_bytes=run_bytes))
    assert merged.column("id").to_pylist() == sorted(ids)
    expected = sorted(pair for batch in batches for pair in zip(*batch.to_pydict().values(), strict=True))
    assert list(zip(*merged.to_pydict().values(), strict=True)) == expected
