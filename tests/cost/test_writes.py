"""Requests of mutations and loads, exactly, through a counting proxy before a real S3 server; the meter must agree.

A number here is a promise to users: a change that makes one grow fails.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

import omnigraph as og
from omnigraph.storage.meter import Meter
from omnigraph.storage.tiers import fragments_bound
from tests.support import CountingProxy
from tests.support.overlap import fewest_hops

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support import SeaweedServer
    from tests.support.exchange import Counts

pytestmark = [pytest.mark.s3, pytest.mark.slow, pytest.mark.xdist_group("cost")]

DEPTHS = (0, 10, 100, 1000)
INSERT = 4  # data file, Lance transaction, Lance manifest, chain entry; an edge's ends are remembered
UPDATE_ALONE = 6  # a look for a newer head, the row, then as an insert
UPDATE_OF_MANY = 7  # and a deletion file, beside the data file
DELETE_ALONE = 4  # a look for a newer head; no data file
DELETE_OF_MANY = 5
DELETE_WITH_EDGE = 6  # two tables, each a Lance transaction and manifest; a look and the chain entry
NO_CHANGE = 1  # the look for a newer head
COLD_EDGE = 10  # LIST and GET of the head, schema, manifests of both tables, one refused PUT; then as an insert
COLD_EDGE_HOPS = 11  # all of these and, at once, the ids of the node table: one request for each of its fragments

SCHEMA = """
node Person { name: String @key  age: I32? }
node City { name: String @key }
node Note { text: String }
edge Knows: Person -> Person { since: Date? }
edge LivesIn: Person -> City
"""
QUERIES = """
query step($name: String) { insert Person { name: $name } insert Knows { from: $name, to: "ada" } }
query person($name: String) { insert Person { name: $name } }
query note($text: String) { insert Note { text: $text } }
query knows($from: String, $to: String) { insert Knows { from: $from, to: $to } }
query age($name: String, $age: I32) { update Person set { age: $age } where name = $name }
query forget($name: String) { delete Person where name = $name }
query move($name: String) {
    insert Person { name: $name }
    insert City { name: $name }
    insert Note { text: $name }
    insert Knows { from: $name, to: $name }
    insert LivesIn { from: $name, to: $name }
}
"""


@dataclass
class Place:
    """A graph behind a counting proxy."""

    proxy: CountingProxy
    uri: str

    def make(self) -> og.Graph:
        return og.init(self.uri, SCHEMA, storage_options=self.proxy.storage_options)

    def open(self) -> og.Graph:
        """As another process has it; without upkeep after its writes, which is counted apart."""
        graph = og.open(self.uri, storage_options=self.proxy.storage_options)
        graph.repository.parts = replace(graph.repository.parts, auto_fold=False)
        return graph

    def count(self, act: Callable[[], object]) -> tuple[Counts, Meter]:
        with self.proxy.counting() as seen, Meter() as meter:
            act()
        assert (seen.requests, seen.puts) == (meter.requests, meter.puts), f"{seen}\n{meter}"
        return seen, meter

    def requests(self, act: Callable[[], object]) -> int:
        return self.count(act)[0].requests


@pytest.fixture(scope="module")
def proxy(seaweed: SeaweedServer) -> Iterator[CountingProxy]:
    with CountingProxy(seaweed.endpoint) as counting:
        yield counting


@pytest.fixture
def place(seaweed: SeaweedServer, proxy: CountingProxy) -> Place:
    return Place(proxy, f"s3://{seaweed.bucket()}/g.omni")


def people(*names: str) -> list[dict[str, object]]:
    return [{"type": "Person", "data": {"name": name}} for name in names]


def knows(source: str, target: str) -> list[dict[str, object]]:
    return [{"edge": "Knows", "from": source, "to": target}]


def test_a_write_costs_the_same_at_any_depth(place: Place, seaweed: SeaweedServer) -> None:
    builder = og.init(place.uri, SCHEMA, storage_options=seaweed.storage_options)  # past the proxy: quicker
    builder.load([*people("ada", "bob"), *knows("ada", "bob")])
    builder.mutate(QUERIES, "note", {"text": "first"})
    done = 0
    for depth in DEPTHS:
        for number in range(done, depth):
            builder.mutate(QUERIES, "step", {"name": f"k{number:04}"})
        done = depth
        _cold(place, depth)
        _warm(place, depth)


def _cold(place: Place, depth: int) -> None:
    """A process that has just started writes an edge. The fragments of the tail are read side by side."""
    fragments = place.open().snapshot().table("node:Person").fragments()
    assert len(fragments) <= fragments_bound(depth + 10 * len(DEPTHS)), f"depth {depth}: {len(fragments)} fragments"
    reads = len(fragments) + sum(fragment.deletion is not None for fragment in fragments)
    hops = COLD_EDGE_HOPS + any(fragment.deletion is not None for fragment in fragments)

    def act() -> Counts:
        seen, _ = place.count(lambda: place.open().mutate(QUERIES, "knows", {"from": "ada", "to": "bob"}))
        assert seen.requests == COLD_EDGE + reads, f"depth {depth}: {seen}"
        return seen

    seen = fewest_hops(place.proxy, act, at_most=hops)
    assert seen.hops <= hops, f"depth {depth}: {seen}"
    assert _schema_reads(seen) == 1


def _warm(place: Place, depth: int) -> None:
    """A process that has written to these tables before."""
    graph = place.open()

    def run(query: str, /, **params: object) -> Callable[[], object]:
        return lambda: graph.mutate(QUERIES, query, params)

    for learn in (run("step", name=f"w{depth}"), run("note", text="w"), run("forget", name=f"w{depth}")):
        learn()
    graph.load(people(f"a{depth}", f"b{depth}"))
    graph.load(people(f"c{depth}", f"d{depth}"))
    counted = {
        "keyed node": (run("person", name=f"n{depth}"), INSERT),
        "unkeyed node": (run("note", text="n"), INSERT),
        "edge": (run("knows", **{"from": f"n{depth}", "to": "ada"}), INSERT),
        "edge by merge": (lambda: graph.load(knows(f"n{depth}", "bob"), mode="merge"), INSERT),
        "update, alone in its file": (run("age", name=f"n{depth}", age=depth + 1), UPDATE_ALONE),
        "update, one of many": (run("age", name=f"a{depth}", age=depth + 1), UPDATE_OF_MANY),
        "node and edge": (run("step", name=f"m{depth}"), 2 * (INSERT - 1) + 1),
        "delete with an edge": (run("forget", name=f"m{depth}"), DELETE_WITH_EDGE),
        "one more": (run("person", name=f"l{depth}"), INSERT),
        "delete, alone in its file": (run("forget", name=f"l{depth}"), DELETE_ALONE),
        "delete, one of many": (run("forget", name=f"c{depth}"), DELETE_OF_MANY),
        "nothing to delete": (run("forget", name="nobody"), NO_CHANGE),
        "nothing to update": (run("age", name="nobody", age=1), NO_CHANGE),
    }
    for what, (act, expected) in counted.items():
        seen, _ = place.count(act)
        assert seen.requests == expected, f"{what} at depth {depth}: {seen}"
        assert _schema_reads(seen) == 0
        assert expected != NO_CHANGE or seen.puts == 0


def _schema_reads(seen: Counts) -> int:
    return sum("/__schema/" in exchange.path and exchange.kind == "get" for exchange in seen.exchanges)


def test_five_tables_are_staged_side_by_side(place: Place) -> None:
    graph = place.make()
    graph.repository.parts = replace(graph.repository.parts, auto_fold=False)
    graph.mutate(QUERIES, "move", {"name": "first"})
    names = (f"n{number}" for number in range(9))

    def act() -> Counts:
        seen, meter = place.count(lambda: graph.mutate(QUERIES, "move", {"name": next(names)}))
        assert (seen.requests, meter.hops) == (3 * 5 + 1, 4), seen
        return seen

    seen = fewest_hops(place.proxy, act, at_most=4)
    assert seen.hops == 4, seen


def test_what_is_refused_writes_nothing(place: Place) -> None:
    graph = place.make()
    graph.load(people("ada"))

    def refused() -> None:
        with pytest.raises(og.OmniGraphError, match="not found in Person"):
            graph.mutate(QUERIES, "knows", {"from": "ada", "to": "nobody"})

    seen, _ = place.count(refused)
    assert seen.puts == 0, seen
    with pytest.raises(og.OmniGraphError):
        graph.load(people("ada", "ada"))
    seen, _ = place.count(lambda: graph.mutate(QUERIES, "age", {"name": "nobody", "age": 1}))
    assert seen.puts == 0, seen


def test_a_process_reads_the_schema_at_most_once(place: Place) -> None:
    maker = place.make()
    seen, _ = place.count(lambda: maker.load(people("ada")))
    assert _schema_reads(seen) == 0
    opened = place.open()

    def work() -> None:
        opened.load(people("bob"))
        opened.mutate(QUERIES, "person", {"name": "cyd"})
        opened.mutate(QUERIES, "forget", {"name": "bob"})
        assert opened.schema.source

    assert _schema_reads(place.count(work)[0]) == 1
