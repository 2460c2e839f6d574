"""Constraints of node and edge types, as values. Properties are named; `src` and `dst` are an edge's ends."""

from __future__ import annotations

from dataclasses import dataclass

Number = int | float


@dataclass(frozen=True, slots=True)
class Key:
    """The properties a node's id is derived from, ordered by stable property id."""

    properties: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unique:
    """No two rows have the same tuple; a null member exempts a row. Sorted by name."""

    properties: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Index:
    """An index is wanted on these properties. Sorted by name."""

    properties: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """A number lies between the bounds, both inclusive; null is exempt, NaN is not."""

    property: str
    minimum: Number | None
    maximum: Number | None

    def allows(self, value: Number) -> bool:
        """Tell whether a stored value satisfies the constraint."""
        above = self.minimum is None or value >= self.minimum
        return value == value and above and (self.maximum is None or value <= self.maximum)


@dataclass(frozen=True, slots=True)
class Check:
    """A string contains a match of the pattern (unanchored); null is exempt."""

    property: str
    pattern: str


Constraint = Key | Unique | Index | Range | Check


@dataclass(frozen=True, slots=True)
class Cardinality:
    """How many edges of a type may leave one source."""

    minimum: int = 0
    maximum: int | None = None

    @property
    def is_default(self) -> bool:
        """Tell whether any number is allowed."""
        return self == Cardinality()

    def allows(self, count: int) -> bool:
        """Tell whether a source may have this many edges."""
        return self.minimum <= count and (self.maximum is None or count <= self.maximum)

    def __str__(self) -> str:
        """Write the bounds as `@card` does."""
        return f"{self.minimum}..{'' if self.maximum is None else self.maximum}"


def members(constraint: Constraint) -> tuple[str, ...]:
    """Give the properties a constraint speaks of."""
    if isinstance(constraint, Range | Check):
        return (constraint.property,)
    return constraint.properties


def constraint_to_json(constraint: Constraint) -> dict[str, object]:
    """Give the externally tagged form that migration steps and stored catalogs use."""
    if isinstance(constraint, Range):
        body: object = {
            "property": constraint.property,
            "min": _bound_to_json(constraint.minimum),
            "max": _bound_to_json(constraint.maximum),
        }
    elif isinstance(constraint, Check):
        body = {"property": constraint.property, "pattern": constraint.pattern}
    else:
        body = list(constraint.properties)
    return {type(constraint).__name__: body}


def constraint_from_json(data: dict[str, object]) -> Constraint:
    """Read what `constraint_to_json` wrote."""
    match data:
        case {"Range": {"property": str(name), "min": low, "max": high}}:
            return Range(name, _bound_from_json(low), _bound_from_json(high))
        case {"Check": {"property": str(name), "pattern": str(pattern)}}:
            return Check(name, pattern)
        case {"Key": list(names)}:
            return Key(tuple(str(name) for name in names))
        case {"Unique": list(names)}:
            return Unique(tuple(str(name) for name in names))
        case {"Index": list(names)}:
            return Index(tuple(str(name) for name in names))
        case _:
            raise ValueError(f"unknown constraint {data!r}")


def _bound_to_json(bound: Number | None) -> dict[str, Number] | None:
    if bound is None:
        return None
    return {"Float" if isinstance(bound, float) else "Integer": bound}


def _bound_from_json(data: object) -> Number | None:
    match data:
        case None:
            return None
        case {"Integer": int(bound)}:
            return bound
        case {"Float": float(bound)}:
            return bound
        case _:
            raise ValueError(f"unknown bound {data!r}")
