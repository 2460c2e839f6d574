"""Who may do what: bundles of rules, compiled to Cedar and asked at every door."""

from omnigraph.policy.action import Action, PolicyKind
from omnigraph.policy.bundle import Bundle, parse_bundle
from omnigraph.policy.cases import CaseResult, parse_cases, run_cases
from omnigraph.policy.decide import Ask, Decision, Policy
from omnigraph.policy.gate import OPEN, Gate, OpenGate, PolicyGate, ReadOnlyGate

__all__ = [
    "OPEN",
    "Action",
    "Ask",
    "Bundle",
    "CaseResult",
    "Decision",
    "Gate",
    "OpenGate",
    "Policy",
    "PolicyGate",
    "PolicyKind",
    "ReadOnlyGate",
    "parse_bundle",
    "parse_cases",
    "run_cases",
]
