"""A policy bundle as people write it: YAML in, checked values out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnigraph.model.diagnostics import suggest
from omnigraph.model.documents import Reader, read_yaml
from omnigraph.policy.action import BY_QUERY, ON_BRANCH, ON_TARGET, Action, PolicyKind, Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

_KINDS = {"graph": PolicyKind.GRAPH, "server": PolicyKind.SERVER, "cluster": PolicyKind.SERVER}
_ALLOW_KEYS = ("actors", "actions", "branch_scope", "target_branch_scope", "types", "queries")
_NARROWED_BY = {"branch_scope": ON_BRANCH, "target_branch_scope": ON_TARGET, "types": ON_BRANCH, "queries": BY_QUERY}


@dataclass(frozen=True)
class Rule:
    """Allows a group some actions; whatever no rule allows is denied."""

    id: str
    group: str
    actions: tuple[Action, ...]
    branch_scope: Scope | None = None
    target_branch_scope: Scope | None = None
    types: tuple[str, ...] = ()
    """Only these node and edge types, if any are named."""
    queries: tuple[str, ...] = ()
    """Only within these stored queries, if any are named."""


@dataclass(frozen=True)
class Bundle:
    """Groups of actors, protected branches and rules."""

    kind: PolicyKind
    groups: Mapping[str, tuple[str, ...]]
    protected_branches: tuple[str, ...]
    rules: tuple[Rule, ...]

    def groups_of(self, actor: str) -> tuple[str, ...]:
        """The groups an actor is in."""
        return tuple(name for name, actors in self.groups.items() if actor in actors)


def parse_bundle(text: str, name: str = "<policy>") -> Bundle:
    """Read a bundle, or say everything that is wrong with it."""
    what = f"the policy {name}"
    reader = Reader()
    document = reader.mapping(read_yaml(text, what), "", ("version", "kind", "groups", "protected_branches", "rules"))
    if document.get("version") != 1 or isinstance(document.get("version"), bool):
        reader.say("version", "it must be 1")
    groups = _groups(reader, document.get("groups", {}))
    protected = reader.texts(document["protected_branches"], "protected_branches") if _given(document) else ()
    rules = _rules(reader, document.get("rules", []), groups)
    kind = _kind(reader, document.get("kind"), rules)
    reader.raise_if_any(what)
    return Bundle(kind, groups, protected, rules)


def _given(document: dict[str, Any]) -> bool:
    return document.get("protected_branches") not in (None, [])


def _groups(reader: Reader, value: object) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for name, actors in reader.mapping(value, "groups").items():
        if not name.strip():
            reader.say("groups", "a group has a blank name")
        groups[name] = reader.texts(actors, f"groups.{name}")
    return groups


def _rules(reader: Reader, value: object, groups: Mapping[str, object]) -> tuple[Rule, ...]:
    rules = tuple(_rule(reader, one, f"rules[{n}]", groups) for n, one in enumerate(reader.items(value, "rules")))
    for rule_id, count in Counter(rule.id for rule in rules if rule.id).items():
        if count > 1:
            reader.say("rules", f"the id {rule_id!r} is used {count} times")
    return rules


def _rule(reader: Reader, value: object, path: str, groups: Mapping[str, object]) -> Rule:
    document = reader.mapping(value, path, ("id", "allow"))
    rule_id = reader.text(document.get("id"), f"{path}.id")
    path = f"{path}.allow"
    allow = reader.mapping(document.get("allow"), path, _ALLOW_KEYS)
    actors = reader.mapping(allow.get("actors"), f"{path}.actors", ("group",))
    group = reader.text(actors.get("group"), f"{path}.actors.group")
    if group and group not in groups:
        hint = suggest(group, list(groups))
        reader.say(f"{path}.actors.group", f"there is no group {group!r}{f'; {hint}' if hint else ''}")
    actions = _actions(reader, allow.get("actions"), f"{path}.actions")
    _check_narrowing(reader, allow, actions, path)
    return Rule(
        rule_id,
        group,
        actions,
        _scope(reader, allow, "branch_scope", path),
        _scope(reader, allow, "target_branch_scope", path),
        reader.texts(allow["types"], f"{path}.types") if "types" in allow else (),
        reader.texts(allow["queries"], f"{path}.queries") if "queries" in allow else (),
    )


def _actions(reader: Reader, value: object, path: str) -> tuple[Action, ...]:
    known = [action.value for action in Action]
    actions: list[Action] = []
    for name in reader.texts(value, path):
        if name in known:
            actions.append(Action(name))
        else:
            hint = suggest(name, known) or f"actions: {', '.join(known)}"
            reader.say(path, f"{name!r} is no action; {hint}")
    if len({action.kind for action in actions}) > 1:
        reader.say(path, f"{Action.GRAPH_LIST} is about the server, the others are about a graph: use two bundles")
    return tuple(actions)


def _check_narrowing(reader: Reader, allow: dict[str, Any], actions: tuple[Action, ...], path: str) -> None:
    if "branch_scope" in allow and "target_branch_scope" in allow:
        reader.say(path, "a rule has branch_scope or target_branch_scope, not both")
    for key, supported in _NARROWED_BY.items():
        if key in allow:
            for action in actions:
                if action not in supported:
                    reader.say(f"{path}.{key}", f"it does not go with the action {action}")


def _scope(reader: Reader, allow: dict[str, Any], key: str, path: str) -> Scope | None:
    if key not in allow:
        return None
    known = [scope.value for scope in Scope]
    if allow[key] not in known:
        reader.say(f"{path}.{key}", f"it is one of {', '.join(known)}")
        return None
    return Scope(allow[key])


def _kind(reader: Reader, value: object, rules: tuple[Rule, ...]) -> PolicyKind:
    said = {action.kind for rule in rules for action in rule.actions}
    if len(said) > 1 and all(len({a.kind for a in rule.actions}) == 1 for rule in rules):
        reader.say("rules", "some rules are about the server, others about a graph: use two bundles")
    if value is None:
        return PolicyKind.SERVER if said == {PolicyKind.SERVER} else PolicyKind.GRAPH
    if value not in _KINDS:
        reader.say("kind", f"it is one of {', '.join(_KINDS)}")
        return PolicyKind.GRAPH
    kind = _KINDS[str(value)]
    if said - {kind}:
        reader.say("kind", f"it is {value}, and a rule is about the {next(iter(said - {kind}))}")
    return kind
