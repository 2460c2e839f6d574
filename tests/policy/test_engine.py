"""The gate inside of the engine: whoever holds a graph through a policy cannot write around it."""

import pytest

from omnigraph.graph import init_graph
from omnigraph.model.errors import Denied
from omnigraph.policy import Policy, PolicyGate, parse_bundle

SCHEMA = """
node Person {
    name: String @key
}

node Secret {
    name: String @key
}

edge Knows: Person -> Person
"""
BUNDLE = """
version: 1
groups: {w: [writer], p: [people], k: [keeper]}
protected_branches: [main]
rules:
  - id: w
    allow: {actors: {group: w}, actions: [change], branch_scope: unprotected}
  - id: w2
    allow: {actors: {group: w}, actions: [branch_create, branch_delete, schema_apply], target_branch_scope: unprotected}
  - id: k
    allow: {actors: {group: k}, actions: [maintain]}
  - id: p
    allow: {actors: {group: p}, actions: [change], types: [Person]}
"""
PERSON = [{"type": "Person", "data": {"name": "ada"}}]
SECRET = [{"type": "Secret", "data": {"name": "x"}}]
INSERT = 'query add() { insert Person { name: "ben" } }'


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return init_graph(tmp_path_factory.mktemp("policy") / "g.omni", SCHEMA)


@pytest.fixture(scope="module")
def policy():
    return Policy(parse_bundle(BUNDLE), "g")


def test_every_write_asks(graph, policy):
    held = graph.as_actor("writer", PolicyGate(policy, "writer"))
    before = graph.snapshot().commit_id
    for write in (
        lambda: held.load(PERSON),
        lambda: held.mutate(INSERT),
        lambda: held.schema.apply(SCHEMA + "\nnode More { name: String @key }\n"),
        lambda: held.branches.delete("main"),
        lambda: held.as_actor("people", PolicyGate(policy, "people")).branches.create("x"),
        lambda: held.write(lambda txn: txn.plan("load")),
        lambda: held.tags.create("main"),
        lambda: held.tags.delete("main"),
        held.optimize,
        lambda: held.cleanup(keep=1),
        lambda: held.branches.reset("main", before),
        lambda: held.commits.revert(before),
        lambda: held.commits.cherry_pick(before),
        lambda: held.branches.merge("main", "main"),
        held.embed,
    ):
        with pytest.raises(Denied):
            write()
    assert graph.snapshot().commit_id == before


def test_what_is_allowed_goes_through_under_the_actors_name(graph, policy):
    held = graph.as_actor("writer", PolicyGate(policy, "writer"))
    held.branches.create("work")
    commit = held.load(PERSON, branch="work").commit
    assert commit is not None
    assert commit.actor == "writer"
    held.load(SECRET, branch="other", base="main")
    held.branches.delete("work")


def test_upkeep_is_one_permission_and_giving_up_history_another(graph, policy):
    held = graph.as_actor("keeper", PolicyGate(policy, "keeper"))
    assert {table.key for table in held.optimize()} >= {"node:Person"}
    with pytest.raises(Denied, match="policy denies admin"):
        held.cleanup(keep=1, confirm=True)
    with pytest.raises(Denied):
        held.load(PERSON)


def test_a_tag_takes_what_a_branch_of_its_name_takes(graph, policy):
    held = graph.as_actor("writer", PolicyGate(policy, "writer"))
    held.tags.create("v1")
    held.tags.delete("v1")
    assert [tag.name for tag in graph.tags.list()] == []


def test_a_rule_by_type_lets_only_these_types_in(graph, policy):
    held = graph.as_actor("people", PolicyGate(policy, "people"))
    assert held.mutate(INSERT).affected_nodes == 1
    with pytest.raises(Denied):
        held.load([*PERSON, *SECRET])
    with pytest.raises(Denied):
        held.load(PERSON, branch="fresh", base="main")
    assert "fresh" not in [ref.name for ref in graph.branches.list()]
