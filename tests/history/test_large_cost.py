"""What a change of a few entities reads and writes in optimized graphs of two sizes: nearly the same.

Their fragments are too large for their ids to be remembered, so indexes have to be asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import omnigraph as og
from omnigraph.storage.find import SMALL_ROWS
from tests.history.graphs import do, knows, person
from tests.history.test_cost import filled, quiet

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.storage.meter import Meter

    Act = Callable[[og.Graph], object]

SMALL, LARGE = 100_000, 400_000
MORE_REQUESTS = {"cold": 8, "warm": 2}
"""The first question to an index of more pages takes a few more requests."""
GROWTH_MAX = 2
BYTES_MAX = 600_000
"""One and a half for each row of the large graph: no column was read whole."""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> tuple[og.Graph, og.Graph]:
    made = [filled(tmp_path_factory.mktemp("large"), count) for count in (SMALL, LARGE)]
    for graph in made:
        graph.optimize()
        tables = [graph.snapshot().table(key) for key in ("node:Person", "edge:Knows")]
        assert all(fragment.rows > SMALL_ROWS for table in tables for fragment in table.fragments())
    return made[0], made[1]


def name(number: int) -> str:
    return f"p{number:07d}"


def insert(at: int) -> Act:
    return lambda graph: do(graph, f'insert Person {{ name: "{name(at)}" age: 7 }}')


def update(at: int) -> Act:
    return lambda graph: do(graph, f'update Person set {{ age: 3 }} where name = "{name(at)}"')


def load(at: int) -> Act:
    """Five people who are there, and five who are not."""
    names = [name(at + number * 97) for number in range(5)] + [f"new{at + number}" for number in range(5)]
    rows = pa.table({"name": names, "age": pa.array(range(10), pa.int32())})
    return lambda graph: graph.load({"Person": rows}, mode="merge")


def connect(at: int) -> Act:
    """An edge, whose ends have to be there."""
    return lambda graph: graph.load([knows(f"e{at}", name(at), name(at + 5000))], mode="append")


def separate(at: int) -> Act:
    return lambda graph: do(graph, f'delete Knows where @src = "{name(at)}"')


def fork(graph: og.Graph, at: int) -> str:
    """A branch with ten changes of neighbours and others, beside changes of the same tables on main."""
    branch, other = f"work{at}", quiet(graph)
    base = other.snapshot().commit_id
    other.branches.create(branch)
    rows = pa.table({"name": [name(at + number) for number in range(3)], "age": pa.array([1] * 3, pa.int32())})
    other.load({"Person": rows}, mode="merge", branch=branch)
    other.load([person(f"{branch}-{number}") for number in range(3)], mode="append", branch=branch)
    other.load([knows(f"{branch}-{n}", name(at + n), f"{branch}-1") for n in range(3)], mode="append", branch=branch)
    do(other, f'delete Knows where @src = "{name(at + 50)}"', branch)
    assert len(other.diff(base, branch)) == 10
    do(other, f'update Person set {{ age: 2 }} where name = "{name(at + 11)}"')
    do(other, f'delete Knows where @src = "{name(at + 60)}"')
    return branch


def merge(branch: str) -> Act:
    return lambda graph: graph.branches.merge(branch)


def cold_and_warm(graph: og.Graph, acts: list[Act]) -> list[Meter]:
    """Do something in a process that has read nothing yet, and the like again in the same process."""
    fresh, meters = quiet(graph), []
    for act in acts:
        with fresh.meter() as meter:
            act(fresh)
        meters.append(meter)
    return meters


def check(what: str, small: list[Meter], large: list[Meter], figure: Callable[[str], None]) -> None:
    for state, few, many in zip(("cold", "warm"), small, large, strict=True):
        told = ", ".join(f"{each.requests} requests {each.bytes:,} bytes" for each in (few, many))
        figure(f"{what}, {state}, {SMALL:,} and {LARGE:,}: {told}")
        assert few.puts == many.puts
        assert many.requests <= few.requests + MORE_REQUESTS[state]
        assert many.bytes <= few.bytes * GROWTH_MAX
        assert many.bytes <= BYTES_MAX


@pytest.mark.parametrize(("number", "act"), list(enumerate((insert, update, load, connect, separate))))
def test_a_small_write_costs_the_same(
    graphs: tuple[og.Graph, og.Graph], number: int, act: Callable[[int], Act], figure: Callable[[str], None]
) -> None:
    places = (1_000 + number * 10_000, 4_000 + number * 10_000)
    small, large = (cold_and_warm(graph, [act(at) for at in places]) for graph in graphs)
    check(act.__name__, small, large, figure)


def test_a_small_merge_costs_the_same(graphs: tuple[og.Graph, og.Graph], figure: Callable[[str], None]) -> None:
    small, large = (
        cold_and_warm(graph, [merge(branch) for branch in (fork(graph, 70_000), fork(graph, 80_000))])
        for graph in graphs
    )
    check("merge of 10", small, large, figure)
