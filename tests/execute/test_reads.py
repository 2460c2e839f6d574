"""The engine and the oracle agree on random queries over random graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, note, settings

from omnigraph.execute import patterns
from omnigraph.execute.access import Access
from omnigraph.execute.cache import SnapshotCache
from omnigraph.execute.dense import DenseGraph
from omnigraph.execute.engines import ReadRequest
from omnigraph.execute.memory import SnapshotMemory
from omnigraph.execute.probe import ProbeGraph
from omnigraph.execute.query import SnapshotSizes
from omnigraph.execute.read import run_with
from omnigraph.execute.watch import NEVER
from omnigraph.model.diagnostics import LanguageError
from omnigraph.plan.reads import plan_read
from omnigraph.plan.touched import columns_read
from omnigraph.query import CheckedRead, compile_queries
from tests.execute.oracle import Reads, canon
from tests.execute.queries import queries
from tests.execute.worlds import CATALOG, CITY, KNOWS, LIVES, NOW, PERSON, World, snapshot_of, worlds

Way = Callable[[ReadRequest], Access]


def dense(request: ReadRequest) -> Access:
    memory = SnapshotMemory(request.snapshot, CATALOG, SnapshotCache(1 << 20))
    return DenseGraph(memory, request.params, request.now)


def probe(request: ReadRequest) -> Access:
    read = columns_read(request.plan, CATALOG)
    return ProbeGraph(request.snapshot, CATALOG, request.params, request.now, read=read)


WAYS = pytest.mark.parametrize("way", [dense, probe])


def engine_rows(read: CheckedRead, world: World, way: Way) -> list[dict[str, Any]]:
    snapshot = snapshot_of(world, 3)
    request = ReadRequest(None, snapshot, CATALOG, plan_read(read, CATALOG, SnapshotSizes(snapshot)), {}, NOW, NEVER)
    return run_with(request, way(request)).to_pylist()


def compare(text: str, world: World, way: Way) -> bool:
    """Run a query both ways; tells whether it has rows."""
    (read,) = compile_queries(text, CATALOG).queries
    assert isinstance(read, CheckedRead)
    wanted = [canon(row) for row in Reads(world, CATALOG, {}, NOW).rows(read)]
    found = [canon(row) for row in engine_rows(read, world, way)]
    assert found == wanted if read.order else Counter(found) == Counter(wanted)
    return bool(wanted)


LONELY = World({PERSON: [{"id": "a2", "name": "a2", "age": None, "score": None, "nick": None}], CITY: [],
                KNOWS: [], LIVES: []})  # fmt: skip


@WAYS
@pytest.mark.parametrize(
    "text",
    [
        "match { $p: Person shortest $w = $p knows{1,} $q $q knows $r } return distinct { $p.age }",
        "match { $p: Person optional { $p knows $q } } return distinct { $p.age }",
        "match { $p: Person optional { $p livesIn $c } optional { $c livesIn $q } } return { count($q) as n }",
        "match { $p: Person optional { $p knows $p optional { $p livesIn $c } } } return distinct { $p.age }",
        "match { $p: Person $p = $p } return { $p }",
        "match { $p: Person optional { $p knows $q } $q is null } return { $p.name, $q }",
    ],
)
def test_nothing_to_find(way: Way, text: str) -> None:
    """What once failed where tables or blocks are empty."""
    compare(f"query q() {{ {text} }}", LONELY, way)


@WAYS
@pytest.mark.parametrize("pairs_max", [0, patterns.PAIRS_MAX], ids=["joins", "pairs"])
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=queries(), world=worlds())
def test_engine_agrees_with_oracle(way: Way, pairs_max: int, text: str, world: World) -> None:
    note(text)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(patterns, "PAIRS_MAX", pairs_max)
            event("rows" if compare(text, world, way) else "no rows")
    except LanguageError as error:
        event(f"refused {error.diagnostics[0].code}")
        assume(False)


PATHS = World({PERSON: [{"id": name, "name": name, "age": None, "score": None, "nick": None} for name in "cabd"],
               CITY: [], LIVES: [], KNOWS: [{"id": f"k{n}", "src": s, "dst": d, "since": None}
                                            for n, (s, d) in enumerate(("cd", "ab", "bd", "da", "ac"))]})  # fmt: skip


@WAYS
def test_groups_that_only_a_path_tells_apart_have_an_order(way: Way) -> None:
    text = "match { $p: Person shortest $w = $p knows{1,} $q } return distinct { $p.age as age, $w } order { age }"
    assert compare(f"query q() {{ {text} }}", PATHS, way)
