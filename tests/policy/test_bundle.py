"""Bundles: what is wrong with one is said in full."""

import pytest

from omnigraph.model.documents import DocumentInvalid
from omnigraph.policy import PolicyKind, parse_bundle, parse_cases
from tests.policy.bundles import BUNDLE

RULE = "rules: [{id: r, allow: {actors: {group: g}, actions: [read]}}]"
GOOD = f"version: 1\ngroups: {{g: [a]}}\n{RULE}\n"


def test_a_good_bundle():
    bundle = parse_bundle(BUNDLE)
    assert bundle.kind is PolicyKind.GRAPH
    assert bundle.groups_of("ada") == ("team", "leads")
    assert parse_bundle(GOOD).rules[0].id == "r"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("version: 1", "version: 2"), "version: it must be 1"),
        (GOOD.replace("version: 1", "version: true"), "version: it must be 1"),
        (GOOD + "kinds: graph\n", "kinds: unknown key; did you mean 'kind'?"),
        (GOOD + "version: 1\n", "'version' is given twice"),
        (GOOD + "kind: server\n", "kind: it is server, and a rule is about the graph"),
        (GOOD.replace("{g: [a]}", "{g: []}"), "groups.g: the list is empty"),
        (GOOD.replace("{g: [a]}", "{g: [' ']}"), "groups.g[0]: it is blank"),
        (GOOD.replace("{g: [a]}", "{g: [1]}"), "groups.g[0]: text is expected, not a number"),
        (GOOD.replace("group: g", "group: h"), "there is no group 'h'"),
        (GOOD.replace("[read]", "[raed]"), "'raed' is no action; did you mean 'read'?"),
        (GOOD.replace("[read]", "[read, graph_list]"), "use two bundles"),
        (GOOD.replace("[read]", "[]"), "actions: the list is empty"),
        (GOOD.replace("[read]", "[read], target_branch_scope: any"), "does not go with the action read"),
        (GOOD.replace("[read]", "[invoke_query], branch_scope: any"), "does not go with the action invoke_query"),
        (GOOD.replace("[read]", "[read], branch_scope: some"), "it is one of any, protected, unprotected"),
        (GOOD.replace("[read]", "[export], queries: [q]"), "does not go with the action export"),
        (GOOD.replace("[read]", "[schema_apply], types: [T]"), "does not go with the action schema_apply"),
        (GOOD.replace("id: r, ", ""), "rules[0].id: text is expected, not nothing"),
        (
            GOOD.replace("rules: [", "rules: [{id: r, allow: {actors: {group: g}, actions: [read]}}, "),
            "is used 2 times",
        ),
        ("[", "line"),
        ("- a", "a mapping is expected, not a list"),
        ("a: &x 1\nb: *x", "aliases are not allowed"),
        ("[" * 5000, "nested too deeply"),
    ],
)
def test_a_bad_bundle_is_refused(text, said):
    with pytest.raises(DocumentInvalid) as refused:
        parse_bundle(text, "p.yaml")
    assert said in refused.value.message


def test_all_problems_are_told_at_once():
    with pytest.raises(DocumentInvalid) as refused:
        parse_bundle("version: 3\nextra: 1\ngroups: {g: []}\nrules: {}")
    assert len(refused.value.problems) == 4


def test_bad_cases_are_refused():
    with pytest.raises(DocumentInvalid) as refused:
        parse_cases("version: 1\ncases: [{id: c, actor: a, action: fly, expect: maybe, x: 1}]")
    assert len(refused.value.problems) == 3
