"""A bundle as Cedar: policies, entities and the schema both are checked against. Nobody writes Cedar by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from omnigraph.policy.action import Action, PolicyKind, Scope

if TYPE_CHECKING:
    from omnigraph.policy.bundle import Bundle, Rule

SCHEMA = """
namespace Omnigraph {
  entity Group;
  entity Actor in [Group];
  entity Graph;
  entity Server;
  type Circumstances = {
    has_branch: Bool, branch?: String, branch_is_protected: Bool,
    has_target_branch: Bool, target_branch?: String, target_branch_is_protected: Bool,
    has_type: Bool, type?: String,
    has_query: Bool, query?: String,
  };
%s
}
"""


def cedar_schema() -> str:
    """What principals, actions and resources there are."""
    resource = {PolicyKind.GRAPH: "Graph", PolicyKind.SERVER: "Server"}
    actions = "\n".join(
        f'  action "{action}" appliesTo {{ principal: [Actor], resource: [{resource[action.kind]}], '
        f"context: Circumstances }};"
        for action in Action
    )
    return SCHEMA % actions


def cedar_policies(bundle: Bundle) -> str:
    """One `permit` for each rule, named by the rule's id."""
    return "\n".join(_permit(rule, bundle.kind) for rule in bundle.rules)


def cedar_entities(bundle: Bundle) -> str:
    """Actors and their groups, as JSON."""
    actors = sorted({actor for members in bundle.groups.values() for actor in members})
    groups = [_entity("Group", name, []) for name in bundle.groups]
    members = [_entity("Actor", actor, [_uid("Group", g) for g in bundle.groups_of(actor)]) for actor in actors]
    return json.dumps(groups + members)


def _entity(kind: str, name: str, parents: list[dict[str, str]]) -> dict[str, object]:
    return {"uid": _uid(kind, name), "attrs": {}, "parents": parents}


def _uid(kind: str, name: str) -> dict[str, str]:
    return {"type": f"Omnigraph::{kind}", "id": name}


def _permit(rule: Rule, kind: PolicyKind) -> str:
    actions = ", ".join(f'Omnigraph::Action::"{action}"' for action in rule.actions)
    resource = "Graph" if kind is PolicyKind.GRAPH else "Server"
    conditions = list(_conditions(rule))
    when = f"\nwhen {{ {' && '.join(conditions)} }}" if conditions else ""
    return (
        f"@id({quoted(rule.id)})\n"
        f"permit (principal in Omnigraph::Group::{quoted(rule.group)}, action in [{actions}], "
        f"resource is Omnigraph::{resource}){when};"
    )


def _conditions(rule: Rule) -> list[str]:
    found: list[str] = []
    for scope, name in ((rule.branch_scope, "branch"), (rule.target_branch_scope, "target_branch")):
        if scope in (Scope.PROTECTED, Scope.UNPROTECTED):
            negated = "!" if scope is Scope.UNPROTECTED else ""
            found.append(f"context.has_{name} && {negated}context.{name}_is_protected")
    if rule.types:
        names = [full for name in rule.types for full in full_names(name)]
        found.append(f"context.has_type && context has type && [{_list(names)}].contains(context.type)")
    if rule.queries:
        found.append(f"context.has_query && context has query && [{_list(rule.queries)}].contains(context.query)")
    return found


def full_names(name: str) -> tuple[str, ...]:
    """The tables a type name of a rule stands for: `Person`, or `node:Person` to be exact."""
    return (name,) if name.startswith(("node:", "edge:")) else (f"node:{name}", f"edge:{name}")


def _list(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(quoted(name) for name in names)


def quoted(text: str) -> str:
    """A Cedar string: everything but plain characters is escaped."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in " _-./:@+") else f"\\u{{{ord(c):x}}}" for c in text)
    return f'"{plain}"'
