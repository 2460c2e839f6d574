"""Keys of a load in units: what meets where, and what comes back to the driver."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnigraph as og
from omnigraph.model.hashes import hashes
from omnigraph.pipeline import gather, jobs, splits
from omnigraph.pipeline.keys import judge, passes, plan
from omnigraph.pipeline.keys.shares import cut, shares_of
from tests.pipeline.inputs import as_lines, edge, node

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = """
node Person { name: String @key  email: String? @unique }
edge Knows: Person -> Person @card(0..5)
"""


@given(st.lists(st.text(max_size=90)), st.integers(0, 5), st.integers(1, 40))
def test_equal_texts_share_however_they_are_held(texts: list[str], skipped: int, units: int) -> None:
    values = pa.array(texts, pa.string())
    alone = [int(shares_of([pa.array([text])], units)[0]) for text in texts]
    assert shares_of([values], units).tolist() == alone
    held_otherwise = pa.concat_arrays([pa.array(["x"] * skipped, pa.string()), values]).slice(skipped)
    assert shares_of([held_otherwise], units).tolist() == alone


@given(st.lists(st.tuples(st.integers(0, 3), st.text(max_size=3))), st.integers(1, 9))
def test_each_row_is_in_one_share_in_its_order(rows: list[tuple[int, str]], units: int) -> None:
    table = pa.table(
        {"a": pa.array([a for a, _ in rows], pa.int64()), "b": pa.array([b for _, b in rows], pa.string())}
    )
    shares = shares_of([table.column(name).combine_chunks() for name in ("a", "b")], units)
    found = {share: some.to_pylist() for share, some in cut(table, shares, units)}
    for share, some in found.items():
        assert some == [row for row, of in zip(table.to_pylist(), shares.tolist(), strict=True) if of == share]
    assert sum(map(len, found.values())) == len(rows)


def test_shares_are_about_equal():
    for texts in ([f"person {n}" for n in range(20_000)], [f"{n:026d}" for n in range(20_000)]):
        counts = np.bincount(shares_of([pa.array(texts)], 16), minlength=16)
        assert counts.min() > 20_000 / 16 * 0.8
        assert counts.max() < 20_000 / 16 * 1.2


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1.5, float("nan"), None]),
        pa.array([1, 2, None], pa.uint64()),
        pa.array([True, False, None]),
        pa.array([dt.date(2020, 1, 1), dt.date(1960, 1, 1), None]),
        pa.array([dt.datetime(2020, 1, 1, tzinfo=dt.UTC), None], pa.timestamp("us", "UTC")),
        pa.array([dt.time(1, 2), None], pa.time64("us")),
    ],
)
def test_every_type_that_can_be_unique_has_a_hash(values: pa.Array) -> None:
    assert len(set(hashes(values).tolist())) == len(values)


def test_what_comes_to_the_driver_does_not_grow_with_the_rows(
    tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four times the rows in as many splits and units: reports as large, and not a key is read here."""
    monkeypatch.setattr(gather, "KEYS_HERE_MAX", 0)
    monkeypatch.setattr(splits, "SPLIT_BYTES_MIN", 1)
    monkeypatch.setattr(gather, "get_keys", None)
    monkeypatch.setattr(judge, "get_keys", None)
    real, sizes = jobs.run, list[int]()

    def counted(*asked: Any) -> list[Any]:
        rows = real(*asked)
        sizes[-1] += sum(len(bytes(row.report)) for row in rows)
        return rows

    monkeypatch.setattr(passes, "run", counted)
    for people in (500, 2000):
        monkeypatch.setattr(plan, "UNIT_ROWS", people)
        records = [node("Person", name=f"p{n}", email=f"{n}@x") for n in range(people)]
        records += [edge("Knows", f"p{n}", f"p{n * 7 % people}", id=f"k{n}") for n in range(people)]
        data = tmp_path / f"{people}.jsonl"
        data.write_bytes(as_lines(records))
        graph = og.init(tmp_path / str(people), SCHEMA)
        sizes.append(0)
        done = graph.load(data, mode="append", engine="spark", spark=spark)
        assert (done.nodes, done.edges) == ({"Person": people}, {"Knows": people})
    assert 0 < sizes[1] < 1.2 * sizes[0]
