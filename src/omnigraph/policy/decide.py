"""Asks Cedar: may this actor do that?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from omnigraph.model.errors import OmniGraphError
from omnigraph.policy.action import Action, PolicyKind
from omnigraph.policy.cedar import cedar_entities, cedar_policies, cedar_schema

if TYPE_CHECKING:
    from omnigraph.policy.bundle import Bundle

REMEMBERED_MAX = 4096


@dataclass(frozen=True)
class Ask:
    """What somebody wants to do. Types are full names: `node:Person`; none means the graph as a whole."""

    actor: str
    action: Action
    branch: str | None = None
    target_branch: str | None = None
    types: tuple[str, ...] = ()
    query: str | None = None
    """The stored query within which it happens."""


@dataclass(frozen=True)
class Decision:
    """Yes or no, and the rule that says yes."""

    allowed: bool
    matched_rule: str | None
    message: str


class PolicyFailed(OmniGraphError):
    """The evaluation itself went wrong: nothing is permitted, and an operator has to look."""


class Policy:
    """A bundle that decides. The same question has the same answer for as long as this lives."""

    def __init__(self, bundle: Bundle, resource: str) -> None:
        import cedarpy

        self.bundle = bundle
        self.resource = resource
        policies, schema = cedar_policies(bundle), cedar_schema()
        checked = cedarpy.validate_policies(policies, schema)
        if not checked.validation_passed:
            raise PolicyFailed(f"the policy does not compile: {'; '.join(str(one) for one in checked.errors)}")
        self._policies = cedarpy.PolicySet.from_str(policies)
        self._entities = cedarpy.Entities.from_json_str(cedar_entities(bundle))
        self.decide = lru_cache(REMEMBERED_MAX)(self._decide)

    def may_ever(self, actor: str, action: Action) -> bool:
        """Whether some rule could allow this, for some type, branch or stored query."""
        groups = self.bundle.groups_of(actor)
        return any(action in rule.actions and rule.group in groups for rule in self.bundle.rules)

    def _decide(self, ask: Ask) -> Decision:
        import cedarpy

        requests = [self._request(ask, name) for name in ask.types or (None,)]
        answers = cedarpy.is_authorized_batch(requests, self._policies, self._entities)
        rules: set[str] = set()
        for answer in answers:
            if answer.diagnostics.errors:
                raise PolicyFailed(f"the policy cannot be evaluated: {'; '.join(answer.diagnostics.errors)}")
            if not answer.allowed:
                return Decision(False, None, _denial(ask))
            rules.update(answer.diagnostics.id_annotations_by_reason.values())
        return Decision(True, min(rules), f"rule {min(rules)} allows {ask.action}")

    def _request(self, ask: Ask, type_name: str | None) -> dict[str, Any]:
        kind = "Server" if self.bundle.kind is PolicyKind.SERVER else "Graph"
        context: dict[str, Any] = {}
        for name, value in (("branch", ask.branch), ("target_branch", ask.target_branch)):
            context |= {f"has_{name}": value is not None, f"{name}_is_protected": self._is_protected(value)}
            context |= {name: value} if value is not None else {}
        for name, value in (("type", type_name), ("query", ask.query)):
            context |= {f"has_{name}": value is not None}
            context |= {name: value} if value is not None else {}
        return {
            "principal": {"type": "Omnigraph::Actor", "id": ask.actor},
            "action": {"type": "Omnigraph::Action", "id": ask.action.value},
            "resource": {"type": f"Omnigraph::{kind}", "id": self.resource},
            "context": context,
        }

    def _is_protected(self, branch: str | None) -> bool:
        return branch is not None and branch in self.bundle.protected_branches


def _denial(ask: Ask) -> str:
    """Says only what the caller said: nothing that tells whether a thing is there."""
    where = [f"branch {ask.branch!r}"] if ask.branch is not None else []
    where += [f"target {ask.target_branch!r}"] if ask.target_branch is not None else []
    about = f" on {', '.join(where)}" if where else ""
    return f"policy denies {ask.action}{about}"
