"""The steps that find the rows of a pattern. Plain data: both engines follow them, each in its own way.

A step works on rows that have a node, an edge or a path for every variable bound so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omnigraph.query import ir


@dataclass(frozen=True, slots=True)
class Bind:
    """Put every node that meets the condition beside every row."""

    variable: str
    types: tuple[str, ...]
    condition: ir.Expression | None
    estimate: float
    must_exist: bool = True
    """Whether ids that the condition gives have to be looked up; if not, a later step drops those of no node."""


@dataclass(frozen=True, slots=True)
class Narrow:
    """Keep the rows whose variable, bound before, is a node of these types that meets the condition."""

    variable: str
    types: tuple[str, ...]
    condition: ir.Expression | None
    estimate: float


@dataclass(frozen=True, slots=True)
class Follow:
    """Go along edges from a bound source to a new target that meets the condition."""

    expand: ir.Expand
    condition: ir.Expression | None
    estimate: float


@dataclass(frozen=True, slots=True)
class Meet:
    """Keep the rows whose two ends, both bound, are connected; an edge variable makes a row of every edge."""

    expand: ir.Expand
    estimate: float


@dataclass(frozen=True, slots=True)
class Trace:
    """Add a shortest path from a bound source to a target, which is bound by it if it was not."""

    expand: ir.Expand
    binds_target: bool
    condition: ir.Expression | None
    estimate: float


@dataclass(frozen=True, slots=True)
class Branch:
    """A part of the pattern that nobody reads: only how often it matches counts."""

    expand: ir.Expand
    condition: ir.Expression | None
    branches: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class Weigh:
    """Multiply the weight of each row by how often a branch matches from its variable; drop it if never."""

    variable: str
    branch: Branch
    estimate: float


@dataclass(frozen=True, slots=True)
class Filter:
    """Keep the rows that meet a condition on several variables, or on none."""

    condition: ir.Expression
    estimate: float


@dataclass(frozen=True, slots=True)
class Try:
    """`optional`: put every match of a pattern beside its row, or nulls where there is none."""

    outer: tuple[str, ...]
    plan: PatternPlan
    estimate: float


@dataclass(frozen=True, slots=True)
class Test:
    """`not`, `exists` or an aggregate block: keep a row by what its pattern finds for it."""

    kind: ir.BlockKind
    outer: tuple[str, ...]
    plan: PatternPlan
    test: ir.BlockTest | None
    estimate: float


Step = Bind | Narrow | Follow | Meet | Trace | Weigh | Filter | Try | Test


@dataclass(frozen=True, slots=True)
class PatternPlan:
    """Steps in the order in which they run, and the variables whose values are read afterwards."""

    variables: tuple[ir.BoundVariable, ...]
    steps: tuple[Step, ...]
    kept: frozenset[str]


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """A query that reads, as it will run: how rows are found, and (in `read`) what is made of them."""

    read: ir.CheckedRead
    pattern: PatternPlan
