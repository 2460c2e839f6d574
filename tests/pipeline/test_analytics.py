"""Analytics against networkx on a small graph with everything that is awkward in it."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import networkx as nx
import pytest
from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python

import omnigraph as og
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = """
node Person { name: String @key  score: F64?  community: String?  friends: I64?  note: String? }
node Club { name: String @key }
edge Knows: Person -> Person { weight: F64? }
edge Joined: Person -> Club
"""
WEIGHTS = (1.0, 2.0, 0.5)


def arrows() -> list[tuple[str, str, float]]:
    """Three parts, an edge to itself, parallel edges, a vertex without edges."""
    chance = random.Random(7)
    names = [f"p{n:02}" for n in range(24)]
    found = [(*chance.sample(names[:14], 2), chance.choice(WEIGHTS)) for _ in range(34)]
    found += [(names[n], names[n + 1], 1.0) for n in range(14, 21)]
    return [*found, ("p03", "p03", 1.0), found[0], ("p22", "p22", 2.0)]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> og.Graph:
    graph = og.init(tmp_path_factory.mktemp("analytics") / "g.omni", schema=SCHEMA, actor="ada")
    records: list[dict[str, Any]] = [{"type": "Person", "data": {"name": f"p{n:02}", "note": "x"}} for n in range(24)]
    records += [{"edge": "Knows", "from": a, "to": b, "data": {"weight": w}} for a, b, w in arrows()]
    records += [{"type": "Club", "data": {"name": name}} for name in ("p00", "chess")]
    records += [{"edge": "Joined", "from": name, "to": "chess"} for name in ("p00", "p20", "p23")]
    graph.load(records)
    return graph


@pytest.fixture(scope="module")
def directed() -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(f"p{n:02}" for n in range(24))
    graph.add_weighted_edges_from(arrows())
    return graph


def run(graph: og.Graph, spark: SparkSession, algorithm: str, **how: Any) -> dict[str, Any]:
    rows = graph.analyze(algorithm, spark=spark, **{"edges": ["Knows"], **how}).to_arrow().to_pylist()
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    return {row.pop("id"): tuple(row.values())[1:] for row in rows}


def test_components_across_types(spark: SparkSession, people: og.Graph, directed: nx.MultiDiGraph) -> None:
    """Ids are unique within a type, so a vertex among several types has its type in its name."""
    whole = nx.Graph(nx.relabel_nodes(directed, lambda v: f"Person/{v}"))
    whole.add_nodes_from(["Club/p00", "Club/chess"])
    whole.add_edges_from((f"Person/{name}", "Club/chess") for name in ("p00", "p20", "p23"))
    expected = {v: min(part) for part in nx.connected_components(whole) for v in part}
    rows = people.analyze("components", spark=spark).to_arrow().to_pylist()
    assert {f"{row['type']}/{row['id']}": row["component"] for row in rows} == expected
    assert expected["Club/p00"] == "Club/p00"


def test_pagerank(spark: SparkSession, people: og.Graph, directed: nx.MultiDiGraph) -> None:
    found = run(people, spark, "pagerank", weight="weight", tolerance=1e-3)
    expected = _pagerank_python(directed, tol=1e-3)
    assert {v: round(rank, 9) for v, (rank,) in found.items()} == {v: round(rank, 9) for v, rank in expected.items()}


def test_degrees(spark: SparkSession, people: og.Graph, directed: nx.MultiDiGraph) -> None:
    expected = {v: (directed.in_degree(v), directed.out_degree(v), directed.degree(v)) for v in directed}
    assert run(people, spark, "degrees") == expected


def test_triangles(spark: SparkSession, people: og.Graph, directed: nx.MultiDiGraph) -> None:
    simple = nx.Graph(directed)
    simple.remove_edges_from(nx.selfloop_edges(simple))
    closeness = nx.clustering(simple)
    expected = {v: (count, pytest.approx(closeness[v])) for v, count in nx.triangles(simple).items()}
    assert run(people, spark, "triangles") == expected
    assert any(count for count, _ in expected.values())


def test_labels(spark: SparkSession, people: og.Graph, directed: nx.MultiDiGraph) -> None:
    labels = {v: v for v in directed}
    for _ in range(3):
        before = dict(labels)
        for v in directed:
            votes = Counter(before[b if a == v else a] for a, b, _ in arrows() if v in (a, b) and a != b)
            if votes:
                labels[v] = min(votes, key=lambda label: (-votes[label], label))
    assert run(people, spark, "labels", iterations=3) == {v: (label,) for v, label in labels.items()}


def test_paths(spark: SparkSession, people: og.Graph, directed: nx.MultiDiGraph) -> None:
    sources = ["p00", "p14"]
    lengths = nx.multi_source_dijkstra_path_length(directed, set(sources))
    found = run(people, spark, "paths", sources=sources, weight="weight")
    assert {v: distance for v, (distance, _) in found.items()} == lengths
    for v, (distance, previous) in found.items():
        if v in sources:
            assert (distance, previous) == (0.0, None)
        else:
            steps = [data["weight"] for data in directed.get_edge_data(previous, v).values()]
            assert distance == found[previous][0] + min(steps)
    near = run(people, spark, "paths", sources=["p21"], direction="in", hops=2)
    assert near == {"p19": (2.0, "p20"), "p20": (1.0, "p21"), "p21": (0.0, None)}


def test_what_is_found_can_be_stored(spark: SparkSession, people: og.Graph, directed: nx.MultiDiGraph) -> None:
    people.branches.create("ranked")
    found = people.analyze("degrees", edges=["Knows"], spark=spark)
    commit = found.write({"degree": "friends", "in_degree": "score"}, branch="ranked")
    assert commit is not None
    assert (commit.actor, commit.operation) == ("ada", "analyze degrees")
    rows = people.snapshot("ranked").table("node:Person").scan().to_pylist()
    assert {row["id"]: (row["friends"], row["score"], row["note"]) for row in rows} == {
        v: (directed.degree(v), float(directed.in_degree(v)), "x") for v in directed
    }
    assert found.write({"degree": "friends"}, branch="ranked") is None
    assert people.snapshot().table("node:Person").scan(["friends"]).column(0).null_count == 24
    with pytest.raises(BadRequest, match="cannot be assigned"):
        found.write({"degree": "name"}, branch="ranked")


def test_a_wrong_request_says_so(spark: SparkSession, people: og.Graph) -> None:
    for algorithm, how, said in (
        ("pagernak", {}, "did you mean"),
        ("pagerank", {"edges": ["Knwos"]}, "no edge type"),
        ("pagerank", {"nodes": ["Person"], "edges": ["Joined"]}, "other types"),
        ("degrees", {"iterations": 3}, "no parameter"),
        ("paths", {"sources": ["nobody"]}, "no node 'nobody'"),
        ("pagerank", {"damping": 1.5}, "damping"),
    ):
        with pytest.raises(BadRequest, match=said):
            people.analyze(algorithm, spark=spark, **{"edges": ["Knows"], **how})
