"""The order of scans and traversals: every variable is tried as the start of its part, and the cheapest plan is taken.

From a start, the traversal that leads to the fewest rows comes next; a condition is tested as soon as it can be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omnigraph.plan.flip import flip
from omnigraph.plan.fold import fold_unread
from omnigraph.plan.steps import Bind, Filter, Follow, Meet, Step, Trace, Weigh
from omnigraph.query.conditions import conjoin
from omnigraph.query.walk import variables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from omnigraph.plan.estimate import Estimates
    from omnigraph.plan.steps import Branch
    from omnigraph.query import ir

_FILTER_SHARE = 0.3
_WEIGH_COST = 0.1
"""Counting along an edge costs this much of making a row of it."""
_DEGREE_COST = 0.02
"""Looking up how many edges a node has costs this much of making a row of each."""
_TARGETS_MAX = 16
"""So few targets of paths are looked up before the paths are."""
_STARTS_TRIED = 12


@dataclass(frozen=True)
class Clauses:
    """What is to be ordered: node variables with their types and conditions, traversals, and conditions on several."""

    types: Mapping[str, tuple[str, ...]]
    conditions: Mapping[str, Sequence[ir.Expression]]
    expansions: tuple[ir.Expand, ...]
    filters: tuple[ir.Expression, ...]
    kept: frozenset[str]

    def condition(self, variable: str) -> ir.Expression | None:
        """Give the condition on one variable."""
        return conjoin(self.conditions.get(variable, ()))


@dataclass
class _Route:
    """Steps so far, and what they have bound."""

    clauses: Clauses
    estimates: Estimates
    bound: set[str]
    waiting: list[ir.Expand]
    filters: list[ir.Expression]
    rows: float
    steps: list[Step]

    def copy(self) -> _Route:
        return replace(
            self, bound=set(self.bound), waiting=list(self.waiting), filters=list(self.filters), steps=list(self.steps)
        )

    def cost(self) -> float:
        """The sum of all rows that are made."""
        total = 0.0
        before = 1.0
        for step in fold_unread(self.steps, self.clauses.kept):
            if isinstance(step, Weigh):
                total += self._counting(step.branch, before)
            else:
                total += step.estimate
            before = step.estimate
        return total

    def _counting(self, branch: Branch, rows: float) -> float:
        """What it costs to count along a branch: next to nothing if only edges are counted, not what they lead to."""
        if branch.condition is None and not branch.branches:
            return _DEGREE_COST * rows
        inner = sum(self._counting(each, rows * self._fanout(branch.expand)) for each in branch.branches)
        return _WEIGH_COST * min(self.estimates.edges(branch.expand), rows * 10) + inner

    # -- steps -----------------------------------------------------------------------------------------

    def start(self, variable: str) -> None:
        """Bind a variable by looking its nodes up."""
        condition = self.clauses.condition(variable)
        self.rows *= self.estimates.nodes(self.clauses.types[variable], condition)
        self.steps.append(Bind(variable, self.clauses.types[variable], condition, self.rows))
        self.bound.add(variable)

    def advance(self) -> None:
        """Take all steps that are possible without looking anything up afresh."""
        while True:
            self._test_what_is_known()
            done = next((each for each in self.waiting if {each.source, each.target} <= self.bound), None)
            if done is not None:
                self._meet(done)
                continue
            reachable = [each for each in self.waiting if {each.source, each.target} & self.bound]
            if not reachable:
                return
            self._follow(min(reachable, key=lambda each: self._fanout(self._outward(each))))

    def _test_what_is_known(self) -> None:
        for condition in [each for each in self.filters if set(variables(each)) <= self.bound]:
            self.filters.remove(condition)
            self.rows *= _FILTER_SHARE
            self.steps.append(Filter(condition, self.rows))

    def _meet(self, expand: ir.Expand) -> None:
        self.waiting.remove(expand)
        self.rows *= self.estimates.connected(expand)
        if expand.path_variable is not None:
            self.steps.append(Trace(expand, binds_target=False, condition=None, estimate=self.rows))
        else:
            self.steps.append(Meet(expand, self.rows))
        self._bind_extras(expand)

    def _follow(self, expand: ir.Expand) -> None:
        outward = self._outward(expand)
        condition = self.clauses.condition(outward.target)
        if outward.path_variable is not None and self._has_few_targets(outward):
            self.start(outward.target)  # paths between two nodes are found sooner than those to every other
            return
        self.rows *= self._fanout(outward)
        if outward.path_variable is None:
            self.waiting.remove(expand)
            self.steps.append(Follow(outward, condition, self.rows))
            self._bind_extras(expand)
        elif outward is expand:
            self.waiting.remove(expand)
            self.steps.append(Trace(expand, binds_target=True, condition=condition, estimate=self.rows))
            self._bind_extras(expand)
        else:  # a path is traced from its source: find that first
            self.steps.append(Follow(replace(outward, path_variable=None), condition, self.rows))
        self.bound.add(outward.target)

    def _has_few_targets(self, expand: ir.Expand) -> bool:
        condition = self.clauses.condition(expand.target)
        return condition is not None and self.estimates.nodes((expand.target_type,), condition) <= _TARGETS_MAX

    def _bind_extras(self, expand: ir.Expand) -> None:
        self.bound.update(filter(None, (expand.edge_variable, expand.path_variable)))

    def _outward(self, expand: ir.Expand) -> ir.Expand:
        return expand if expand.source in self.bound else flip(expand)

    def _fanout(self, outward: ir.Expand) -> float:
        condition = self.clauses.condition(outward.target)
        return self.estimates.fanout(outward) * self.estimates.share((outward.target_type,), condition)


def grow(
    clauses: Clauses, outer: frozenset[str], estimates: Estimates, rows: float
) -> tuple[list[Step], float, list[ir.Expression]]:
    """Order the clauses. Gives the steps, the rows expected, and conditions on what is not bound yet."""
    route = _Route(clauses, estimates, set(outer), list(clauses.expansions), list(clauses.filters), rows, [])
    route.advance()
    parts = sorted(_parts(clauses, route.bound), key=lambda part: min(_size(clauses, name, estimates) for name in part))
    for part in parts:
        route = _best_start(route, part)
    return route.steps, route.rows, route.filters


def _best_start(route: _Route, part: Sequence[str]) -> _Route:
    """Try the variables of a part as its start."""
    tried: list[_Route] = []
    ordered = sorted(part, key=lambda name: _size(route.clauses, name, route.estimates))
    for variable in ordered[:_STARTS_TRIED]:
        attempt = route.copy()
        attempt.start(variable)
        attempt.advance()
        tried.append(attempt)
    return min(tried, key=_Route.cost)


def _size(clauses: Clauses, variable: str, estimates: Estimates) -> float:
    return estimates.nodes(clauses.types[variable], clauses.condition(variable))


def _parts(clauses: Clauses, bound: AbstractSet[str]) -> list[list[str]]:
    """The variables that are not bound yet, by what traversals connect."""
    owner = {name: name for name in clauses.types if name not in bound}

    def root(name: str) -> str:
        while owner[name] != name:
            name = owner[name]
        return name

    for expand in clauses.expansions:
        if expand.source in owner and expand.target in owner:
            owner[root(expand.source)] = root(expand.target)
    parts: dict[str, list[str]] = {}
    for name in owner:
        parts.setdefault(root(name), []).append(name)
    return list(parts.values())
