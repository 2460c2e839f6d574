"""Decisions: Cedar says what the rules say when they are read by hand."""

import itertools

import pytest

from omnigraph.model.errors import Denied
from omnigraph.policy import Action, Ask, Policy, PolicyGate, ReadOnlyGate, parse_bundle
from tests.policy.bundles import ACTIONS, ACTORS, BUNDLE, plain_reading

BRANCHES = (None, "main", "feature")
TYPES = ((), ("node:Person",), ("edge:Person",), ("edge:Knows", "node:Person"), ("node:Person", "node:Secret"))


@pytest.fixture(scope="module")
def policy() -> Policy:
    return Policy(parse_bundle(BUNDLE), "knowledge")


def test_every_question_is_answered_as_the_rules_read(policy):
    for actor, action, branch, target, types, query in itertools.product(
        ACTORS, ACTIONS, BRANCHES, BRANCHES, TYPES, (None, "salaries", "other")
    ):
        ask = Ask(actor, action, branch, target, types, query)
        assert policy.decide(ask).allowed == plain_reading(policy.bundle, ask), ask


def test_the_smallest_matching_rule_is_named(policy):
    assert policy.decide(Ask("ada", Action.CHANGE, "main")).matched_rule == "leads-change"
    assert policy.decide(Ask("ada", Action.READ, "main")).matched_rule == "team-read"


def test_a_denial_says_only_what_was_asked(policy):
    message = policy.decide(Ask("bot", Action.READ, "secret-branch", types=("node:Secret",))).message
    assert message == "policy denies read on branch 'secret-branch'"


def test_a_server_bundle_speaks_of_the_server():
    text = """
version: 1
groups: {ops: [ada]}
rules: [{id: list, allow: {actors: {group: ops}, actions: [graph_list]}}]
"""
    policy = Policy(parse_bundle(text), "root")
    assert policy.decide(Ask("ada", Action.GRAPH_LIST)).allowed
    assert not policy.decide(Ask("ben", Action.GRAPH_LIST)).allowed


@pytest.mark.parametrize(
    "name", ['a"b', "a\\", "two words", "é", "a\nb", "x::y", '"}; permit(principal,action,resource);//']
)
def test_names_cannot_break_out_of_the_policy(name):
    import json

    quoted = json.dumps(name)
    text = f"""
version: 1
groups: {{ {quoted}: [{quoted}] }}
rules:
  - id: {quoted}
    allow: {{actors: {{group: {quoted}}}, actions: [read], types: [{quoted}]}}
"""
    policy = Policy(parse_bundle(text), name)
    allowed = policy.decide(Ask(name, Action.READ, types=(f"node:{name}",)))
    assert allowed.allowed
    assert allowed.matched_rule == name
    assert not policy.decide(Ask("other", Action.READ, types=(f"node:{name}",))).allowed
    assert not policy.decide(Ask(name, Action.CHANGE, types=(f"node:{name}",))).allowed


def test_a_gate_raises_what_the_policy_denies(policy):
    gate = PolicyGate(policy, "ben")
    gate.require(Action.CHANGE, branch="feature")
    with pytest.raises(Denied, match="policy denies change on branch 'main'"):
        gate.require(Action.CHANGE, branch="main")


def test_a_stored_query_opens_what_its_rule_says(policy):
    gate = PolicyGate(policy, "bot")
    assert not gate.sees(Action.READ, "main", "node:Secret")
    assert gate.within("salaries").sees(Action.READ, "main", "node:Secret")


def test_without_a_policy_known_actors_only_read():
    ReadOnlyGate().require(Action.READ, branch="main")
    with pytest.raises(Denied):
        ReadOnlyGate().require(Action.CHANGE, branch="main")
