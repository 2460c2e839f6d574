"""Search beside raw Lance scans over the same table: `python -m bench.search [ROWS]`. Recall is held against numpy.

Ours is a whole query, from text to rows; Lance's is the bare call. Both are warm, and take turns.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

import omnigraph as og
from bench.timing import Line, add_line

ROWS = 100_000
DIMENSION = 128
WORDS = 30_000
WORDS_OF_ROW = 20
ROUNDS = 15
BOUND = 1.5
SCHEMA = f"""
node Note {{
    slug: String @key
    text: String? @index
    size: I64?
    v: Vector({DIMENSION})? @index
}}
"""
READS = """
query words($q: String) {
    match { $n: Note search($n.text, $q) }
    return { $n.slug as slug }
}
query phrase($q: String) {
    match { $n: Note match_text($n.text, $q) }
    return { $n.slug as slug }
}
query best($q: String) {
    match { $n: Note }
    return { $n.slug as slug }
    order { bm25($n.text, $q) desc }
    limit 10
}
query near($q: Vector(128)) {
    match { $n: Note }
    return { $n.slug as slug }
    order { nearest($n.v, $q) }
    limit 10
}
query near_some($q: Vector(128)) {
    match { $n: Note $n.size < 50000 }
    return { $n.slug as slug }
    order { nearest($n.v, $q) }
    limit 10
}
"""
random = np.random.default_rng(7)


def make(folder: str, rows: int) -> tuple[og.Graph, list[str], np.ndarray[Any, Any]]:
    """A graph of made-up texts, words as frequent as in a language, and vectors."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    vocabulary = ["".join(random.choice(letters, size=random.integers(3, 10))) for _ in range(WORDS)]
    weights = 1 / np.arange(1, WORDS + 1)
    picks = random.choice(WORDS, size=(rows, WORDS_OF_ROW), p=weights / weights.sum())
    vectors = random.standard_normal((rows, DIMENSION)).astype(np.float32)
    columns = {
        "slug": [f"n{number}" for number in range(rows)],
        "text": [" ".join(vocabulary[number] for number in row) for row in picks],
        "size": pa.array(range(rows)),
        "v": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), DIMENSION),
    }
    graph = og.init(folder, schema=SCHEMA)
    graph.load({"Note": pa.table(columns)}, mode="append")
    graph.optimize()
    return graph, vocabulary, vectors


def turns(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of both, taking turns: what else the machine does meets both alike."""
    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for act, times in zip((ours, theirs), took, strict=True):
            started_s = time.perf_counter()
            act()
            times.append((time.perf_counter() - started_s) * 1000)
    return median(took[0][1:]), median(took[1][1:])


def main(rows: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        graph, vocabulary, vectors = make(f"{folder}/g", rows)
        dataset: Any = graph.snapshot().table("node:Note").dataset
        words = f"{vocabulary[300]} {vocabulary[50]}"
        goal = random.standard_normal(DIMENSION).astype(np.float32)

        def ask(name: str, value: Any) -> list[str]:
            return graph.query(READS, name, {"q": value}).to_arrow().column("slug").to_pylist()

        def lance_words(limit: int | None = None) -> Any:
            how = {"full_text_query": {"columns": ["text"], "query": words}, "limit": limit}
            return dataset.scanner(columns=["slug", "_score"], **how).to_table()

        def lance_near(**how: Any) -> Any:
            nearest = {"column": "v", "q": goal, "k": 10, "metric": "cosine", "use_index": False}
            return dataset.scanner(columns=["slug", "_distance"], nearest=nearest, **how).to_table()

        some = {"filter": "size < 50000", "prefilter": True}
        pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "rows with words": (lambda: ask("words", words), lance_words),
            "ten best by words": (lambda: ask("best", words), lambda: lance_words(10)),
            "ten nearest": (lambda: ask("near", goal.tolist()), lance_near),
            "ten nearest of some": (lambda: ask("near_some", goal.tolist()), lambda: lance_near(**some)),
        }
        table = Table("search", "ours, Lance", "ratio", "bound")
        broken = False
        for name, (ours, theirs) in pairs.items():
            mine, raw = turns(ours, theirs)
            line: Line = name, f"{mine:.1f} ms, {raw:.1f} ms", mine / raw, BOUND
            broken |= add_line(table, line)
        exact = vectors.astype(np.float64)
        distances = 1 - exact @ goal / np.sqrt((exact * exact).sum(axis=1)) / np.linalg.norm(goal)
        expected = {f"n{row}" for row in np.argsort(distances)[:10]}
        missed = 1 - len(expected & set(ask("near", goal.tolist()))) / 10
        broken |= add_line(table, ("nearest that are missed", "", missed, 0))
        same = set(ask("words", words)) == set(lance_words().column("slug").to_pylist())
        broken |= add_line(table, ("rows with words that differ", "", float(not same), 0))
        Console().print(table)
        return int(broken)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))
