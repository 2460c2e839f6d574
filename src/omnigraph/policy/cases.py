"""Tests of a policy: who should be allowed what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from omnigraph.model.documents import Reader, read_yaml
from omnigraph.policy.action import Action
from omnigraph.policy.cedar import full_names
from omnigraph.policy.decide import Ask

if TYPE_CHECKING:
    from omnigraph.policy.decide import Decision, Policy

_KEYS = ("id", "actor", "action", "branch", "target_branch", "type", "query", "expect")


@dataclass(frozen=True)
class Case:
    """One expectation."""

    id: str
    ask: Ask
    expect: Literal["allow", "deny"]


@dataclass(frozen=True)
class CaseResult:
    """What became of an expectation."""

    case: Case
    decision: Decision

    @property
    def holds(self) -> bool:
        """Whether the policy decides as expected."""
        return self.decision.allowed == (self.case.expect == "allow")


def parse_cases(text: str, name: str = "<tests>") -> tuple[Case, ...]:
    """Read a file of expectations, or say everything that is wrong with it."""
    what = f"the policy tests {name}"
    reader = Reader()
    document = reader.mapping(read_yaml(text, what), "", ("version", "cases"))
    if document.get("version") != 1:
        reader.say("version", "it must be 1")
    cases = tuple(
        _case(reader, one, f"cases[{number}]")
        for number, one in enumerate(reader.items(document.get("cases"), "cases"))
    )
    reader.raise_if_any(what)
    return cases


def _case(reader: Reader, value: object, path: str) -> Case:
    document = reader.mapping(value, path, _KEYS)
    optional = {
        key: reader.text(document[key], f"{path}.{key}") if document.get(key) is not None else None
        for key in ("branch", "target_branch", "type", "query")
    }
    action, expect = document.get("action"), document.get("expect")
    if action not in list(Action):
        reader.say(f"{path}.action", f"it is one of {', '.join(Action)}")
        action = Action.ADMIN
    if expect not in ("allow", "deny"):
        reader.say(f"{path}.expect", "it is allow or deny")
    ask = Ask(
        reader.text(document.get("actor"), f"{path}.actor"),
        Action(str(action)),
        optional["branch"],
        optional["target_branch"],
        exact_type(optional["type"]),
        optional["query"],
    )
    return Case(reader.text(document.get("id"), f"{path}.id"), ask, "allow" if expect == "allow" else "deny")


def exact_type(name: str | None) -> tuple[str, ...]:
    """The type a question is about, as the gate asks: a bare name is taken for a node's."""
    return full_names(name)[:1] if name is not None else ()


def run_cases(policy: Policy, cases: tuple[Case, ...]) -> tuple[CaseResult, ...]:
    """Ask the policy about each."""
    return tuple(CaseResult(case, policy.decide(case.ask)) for case in cases)
