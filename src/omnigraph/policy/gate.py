"""The gate: the same question at the HTTP boundary and at the engine's own doors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from omnigraph.model.errors import Denied
from omnigraph.policy.action import Action
from omnigraph.policy.decide import Ask

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.policy.decide import Decision, Policy


class Gate(Protocol):
    """Lets through what an actor may do, and raises `Denied` for the rest."""

    def require(
        self,
        action: Action,
        *,
        branch: str | None = None,
        target: str | None = None,
        types: Iterable[str] = (),
    ) -> None:
        """Refuse what is not allowed. `types` are the tables it is about, as in `node:Person`."""
        ...

    def sees(self, action: Action, branch: str | None, type_name: str) -> bool:
        """Whether an action is allowed on one table."""
        ...

    def may_ever(self, action: Action) -> bool:
        """Whether some rule could allow this, on some branch or for some type."""
        ...

    def within(self, query: str) -> Gate:
        """The gate for what happens inside of a stored query."""
        ...


@dataclass(frozen=True)
class OpenGate:
    """Everything is allowed: a graph that is opened directly."""

    def require(
        self,
        action: Action,
        *,
        branch: str | None = None,
        target: str | None = None,
        types: Iterable[str] = (),
    ) -> None:
        """Let it through."""

    def sees(self, action: Action, branch: str | None, type_name: str) -> bool:
        """Every table."""
        del action, branch, type_name
        return True

    def may_ever(self, action: Action) -> bool:
        """Everything."""
        del action
        return True

    def within(self, query: str) -> Gate:
        """The same."""
        del query
        return self


@dataclass(frozen=True)
class ReadOnlyGate(OpenGate):
    """Tokens without a policy: whoever is known may read, and nothing else."""

    def require(
        self,
        action: Action,
        *,
        branch: str | None = None,
        target: str | None = None,
        types: Iterable[str] = (),
    ) -> None:
        """Let reads through."""
        del branch, target, types
        if action is not Action.READ:
            raise Denied(f"this server has no policy, so only read is allowed, not {action}", action=str(action))

    def sees(self, action: Action, branch: str | None, type_name: str) -> bool:
        """Every table, for reading."""
        del branch, type_name
        return action is Action.READ

    def may_ever(self, action: Action) -> bool:
        """Reads."""
        return action is Action.READ


@dataclass(frozen=True)
class PolicyGate:
    """What a policy allows one actor."""

    policy: Policy
    actor: str
    query: str | None = None

    def decide(
        self, action: Action, branch: str | None = None, target: str | None = None, types: Iterable[str] = ()
    ) -> Decision:
        """Ask the policy."""
        ask = Ask(self.actor, action, branch, target, tuple(sorted(set(types))), self.query)
        return self.policy.decide(ask)

    def require(
        self,
        action: Action,
        *,
        branch: str | None = None,
        target: str | None = None,
        types: Iterable[str] = (),
    ) -> None:
        """Refuse what the policy does not allow."""
        decision = self.decide(action, branch, target, types)
        if not decision.allowed:
            raise Denied(decision.message, action=str(action))

    def sees(self, action: Action, branch: str | None, type_name: str) -> bool:
        """Whether the policy allows an action on one table."""
        return self.decide(action, branch, types=(type_name,)).allowed

    def may_ever(self, action: Action) -> bool:
        """Whether some rule could allow this."""
        return self.policy.may_ever(self.actor, action)

    def within(self, query: str) -> Gate:
        """The gate for what happens inside of a stored query."""
        return replace(self, query=query)


OPEN = OpenGate()
