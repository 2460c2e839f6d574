"""Patterns: scans, expansions, filters and blocks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omnigraph.model.types import PropType
    from omnigraph.query.ir.expressions import Expression
    from omnigraph.query.ir.types import VariableType


@dataclass(frozen=True, slots=True)
class BoundVariable:
    """A name of the pattern and what it stands for. Names with `#` were anonymous in the text."""

    name: str
    type: VariableType


@dataclass(frozen=True, slots=True)
class Scan:
    """A declared binding: nodes of these types that meet the conditions, which read no other variable.

    In a block the variable may be one from outside; then the scan keeps or drops what it stands for.
    """

    variable: str
    types: tuple[str, ...]
    interface: str | None
    conditions: tuple[Expression, ...] = ()


class Direction(StrEnum):
    """Which way edges are followed, seen from the expansion's source."""

    OUT = "out"
    IN = "in"
    BOTH = "both"

    @property
    def opposite(self) -> Direction:
        """The way back."""
        return {Direction.OUT: Direction.IN, Direction.IN: Direction.OUT}.get(self, self)


@dataclass(frozen=True, slots=True)
class Expand:
    """A traversal. Without an edge variable each source and target pair is one row, kept when the shortest
    distance lies within the hops; with one, every edge is a row. `max_hops` None means any number.
    An end whose variable could be of several types is of `source_type` or `target_type` here.
    """

    source: str
    target: str
    edge: str
    direction: Direction
    source_type: str
    target_type: str
    min_hops: int = 1
    max_hops: int | None = 1
    edge_variable: str | None = None
    path_variable: str | None = None

    @property
    def chains(self) -> bool:
        """Tell whether two such edges can follow each other; if not, more than one hop finds nothing."""
        return self.source_type == self.target_type


class BlockKind(StrEnum):
    """What a block does to the row it is evaluated for."""

    NOT = "not"
    EXISTS = "exists"
    OPTIONAL = "optional"
    AGGREGATE = "aggregate"


@dataclass(frozen=True, slots=True)
class BlockTest:
    """The value an aggregate block computes over its matches, and what it is compared with."""

    function: str
    argument: Expression | None
    distinct: bool
    operator: str
    value: Expression
    type: PropType


@dataclass(frozen=True, slots=True)
class Block:
    """A pattern evaluated once per outer row. `outer` are the variables it takes from there."""

    kind: BlockKind
    pattern: Pattern
    outer: tuple[str, ...]
    test: BlockTest | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A clause list. `variables` are those it introduces, in order; optional ones are among them."""

    variables: tuple[BoundVariable, ...]
    scans: tuple[Scan, ...]
    expansions: tuple[Expand, ...]
    optionals: tuple[Block, ...]
    filters: tuple[Expression, ...]
    blocks: tuple[Block, ...]
