"""Search functions by brute force: what matches, in what order, and that it does not depend on the rows beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from omnigraph.execute.bindings import Bindings, Entities
from omnigraph.execute.ranking import rank_rows
from omnigraph.execute.searching import search_values
from omnigraph.model.errors import BadRequest
from omnigraph.model.types import PropType, ScalarType
from omnigraph.query import ir
from tests.execute.memory import all_rows, execution

SCHEMA = "node Note {\n    text: String? @index\n    v: Vector(2)?\n}\n"
KEY = "node:Note"
TEXTS = [
    "The quick brown foxes jumped over the lazy dogs",
    "A lazy cat",
    None,
    "Databases and lazy database engineers, lazy all day",
    "",
    "Café society",
    "brown quick",
]
VECTORS = [[1, 0], [0, 1], None, [1, 1], [0, 0], [-1, 0], [2, 0]]


def notes() -> dict[str, pa.Table]:
    ids = [f"n{n}" for n in range(len(TEXTS))]
    vectors = pa.array(VECTORS, pa.list_(pa.float32(), 2))
    return {KEY: pa.table({"id": ids, "text": TEXTS, "v": vectors})}


def text(value: str | None) -> ir.Literal:
    return ir.Literal(value, ir.STRING)


def match(function: str, query: str | None, edits: int | None = None) -> ir.TextMatch:
    given = None if edits is None else ir.Literal(edits, ir.I64)
    return ir.TextMatch(function, "n", "text", text(query), given, ir.BOOL.optional)


def nearest(*numbers: float) -> ir.Nearest:
    vector = ir.Literal(tuple(numbers), PropType(ScalarType.F64, is_list=True))
    return ir.Nearest("n", "v", vector, embed_text=False, type=ir.F64.optional)


def bm25(query: str) -> ir.TextScore:
    return ir.TextScore("n", "text", text(query), ir.F64.optional)


def values(value: ir.Expression, rows: list[int] | None = None) -> list[Any]:
    running = execution(SCHEMA, notes())
    bindings = all_rows(running, "n", KEY)
    if rows is not None:
        bindings = Bindings(len(rows), {"n": Entities((KEY,), np.array(rows))})
    return search_values(running, bindings, value).to_pylist()


def rows_found(value: ir.Expression) -> list[int]:
    found = values(value)
    assert found[2] is None, "where there is no text, nothing is known"
    return [row for row, hit in enumerate(found) if hit]


def test_search_finds_any_word_whatever_its_ending_case_and_accents() -> None:
    assert rows_found(match("search", "LAZIER lazy")) == [0, 1, 3]
    assert rows_found(match("search", "fox jumping")) == [0]
    assert rows_found(match("search", "cafe")) == [5]
    assert rows_found(match("search", "the of")) == [], "stop words find nothing"
    assert rows_found(match("search", "")) == []


def test_a_phrase_is_words_in_a_row() -> None:
    assert rows_found(match("match_text", "quick brown")) == [0]
    assert rows_found(match("match_text", "brown quick")) == [6]
    assert rows_found(match("match_text", "jumped over the lazy")) == [0]
    assert rows_found(match("match_text", "jumped lazy")) == [], "stop words have their places"
    assert rows_found(match("match_text", "lazi dog society")) == []
    assert rows_found(match("match_text", "the")) == []


def test_fuzzy_finds_misspellings() -> None:
    assert rows_found(match("fuzzy", "databse")) == [3]
    assert rows_found(match("fuzzy", "lasy")) == [0, 1, 3]
    assert rows_found(match("fuzzy", "bron", 0)) == []
    assert rows_found(match("fuzzy", "cax")) == [1]
    assert rows_found(match("fuzzy", "databsae")) == [3], "of databases as well"
    assert rows_found(match("fuzzy", "engineers", 0)) == [3]
    assert values(ir.TextMatch("fuzzy", "n", "text", text("a"), ir.Literal(None, ir.I64))) == [None] * 7
    with pytest.raises(BadRequest, match="edits"):
        values(match("fuzzy", "x", -1))


def test_a_null_question_has_no_answer() -> None:
    assert values(match("search", None)) == [None] * 7


def test_relevance_counts_all_rows_whatever_is_asked_for() -> None:
    everything = values(bm25("lazy database"))
    assert [row for row, score in enumerate(everything) if score is not None] == [0, 1, 3]
    assert everything[3] > everything[1] > everything[0]
    assert values(bm25("lazy database"), [3, 1, 3]) == [everything[3], everything[1], everything[3]]


def test_distance_is_of_directions() -> None:
    found = values(nearest(3, 0))
    assert found[0] == found[6] == 0
    assert found[1] == 1
    assert found[5] == 2
    assert found[3] == pytest.approx(1 - 0.5**0.5)
    assert found[2] is None
    assert found[4] is None, "zeros have no direction"
    with pytest.raises(BadRequest, match="zeros"):
        values(nearest(0, 0))


def test_a_distance_does_not_depend_on_the_rows_beside_it() -> None:
    random = np.random.default_rng(1)
    flat = random.standard_normal((501, 37)).astype(np.float32)
    schema = "node Note {\n    v: Vector(37)?\n}\n"
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(flat.ravel()), 37)
    running = execution(schema, {KEY: pa.table({"id": [str(n) for n in range(501)], "v": vectors})})
    value = nearest(*random.standard_normal(37))
    together = search_values(running, all_rows(running, "n", KEY), value).to_pylist()
    for row in range(0, 501, 7):
        alone = Bindings(1, {"n": Entities((KEY,), np.array([row]))})
        assert search_values(running, alone, value).to_pylist() == [together[row]]


def ranked(rank: ir.Rank, count: int | None) -> tuple[list[int], list[int]]:
    running = execution(SCHEMA, notes(), depth=count)
    found = rank_rows(running, all_rows(running, "n", KEY), rank, count)
    column = found.bindings.columns["n"]
    assert isinstance(column, Entities)
    return column.ordinals.tolist(), found.places.tolist()


def test_a_ranking_shows_what_it_has_a_value_for_and_keeps_ties() -> None:
    assert ranked(nearest(1, 0), None) == ([0, 1, 3, 5, 6], [0, 2, 1, 3, 0])
    assert ranked(nearest(1, 0), 1) == ([0, 6], [0, 0])
    assert ranked(nearest(1, 0), 3) == ([0, 3, 6], [0, 1, 0])
    assert ranked(nearest(1, 0), 0) == ([], [])
    assert ranked(bm25("lazy"), 2)[0] == [1, 3]


def test_a_fusion_adds_what_places_are_worth() -> None:
    fusion = ir.Fusion(nearest(0, 1), bm25("lazy database"), ir.Literal(60, ir.I64), ir.F64.optional)
    running = execution(SCHEMA, notes())
    found = search_values(running, all_rows(running, "n", KEY), fusion).to_pylist()
    # By distance 1, 3, 0, 5, 6 (the last three are alike, ids decide); by words 3, 1, 0.
    assert found[1] == found[3] == pytest.approx(1 / 61 + 1 / 62)
    assert found[0] == pytest.approx(2 / 63)
    assert found[5] == pytest.approx(1 / 64)
    assert found[2] is None
    assert ranked(fusion, 2) == ([1, 3], [0, 1]), "ties go by the first ranking"


def test_relevance_of_an_interface_counts_all_its_types() -> None:
    schema = """
interface Written {
    text: String?
}
node Book implements Written {
    pages: I64?
}
node Page implements Written {
    book: String?
}
"""
    books = pa.table({"id": ["b0", "b1"], "text": ["lazy dogs", "graphs"]})
    pages = pa.table({"id": ["p0", "p1"], "text": ["graphs and lazy graphs", None]})
    running = execution(schema, {"node:Book": books, "node:Page": pages})
    kinds = np.array([0, 0, 1, 1], np.int8)
    bindings = Bindings(4, {"n": Entities(("node:Book", "node:Page"), np.array([0, 1, 0, 1]), kinds)})
    together = search_values(running, bindings, bm25("graphs")).to_pylist()
    one = execution(
        SCHEMA, {KEY: pa.table({"id": list("abcd"), "text": pa.concat_arrays([books[1].chunk(0), pages[1].chunk(0)])})}
    )
    assert together == search_values(one, all_rows(one, "n", KEY), bm25("graphs")).to_pylist()
    assert search_values(running, bindings, match("search", "graph")).to_pylist() == [False, True, True, None]
    fusion = ir.Fusion(bm25("graphs"), bm25("lazy"), ir.Literal(60, ir.I64), ir.F64.optional)
    assert search_values(running, bindings, fusion).null_count == 1
