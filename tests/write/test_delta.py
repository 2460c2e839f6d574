"""Sets of ids: few are looked up one by one, many are joined, and nobody can tell."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from omnigraph.model.hashes import BLOCK_ROWS, are_distinct
from omnigraph.write.delta import JOINED_MIN, distinct_without


@pytest.mark.parametrize("others", [0, 5, JOINED_MIN, 3 * JOINED_MIN])
@pytest.mark.parametrize("values", [0, 7, JOINED_MIN, 2 * JOINED_MIN])
def test_what_is_not_among_others(values: int, others: int) -> None:
    chance = random.Random(values * 31 + others)
    known = [f"id {number} é" for number in range(others)]
    wanted = [f"id {chance.randrange(4 * JOINED_MIN)} é" if chance.random() < 0.99 else None for _ in range(values)]
    half = len(wanted) // 2
    columns = [pa.chunked_array([pa.array(part, pa.string())]) for part in (wanted[:half], wanted[half:])]
    found = distinct_without(columns, pa.array(known, pa.string())).to_pylist()
    assert len(found) == len(set(found))
    assert set(found) == set(wanted) - set(known) - {None}


@pytest.mark.parametrize("count", [0, 1, 2, 100, BLOCK_ROWS + 1])
def test_texts_that_are_there_twice(count: int) -> None:
    texts = [f"text {number} é" for number in range(count)]
    assert are_distinct(pa.array(texts, pa.string()))
    assert not are_distinct(pa.array(["twice", *texts, "twice"], pa.string()))
    assert are_distinct(pa.array(["twice", *texts, "twice"], pa.string()).slice(1))


def test_texts_that_share_a_hash_are_compared() -> None:
    long = [f"{'a' * 64}{letter}{'z' * 64}" for letter in "bcd"]
    assert are_distinct(pa.array(long))
    assert not are_distinct(pa.array([*long, long[1]]))
