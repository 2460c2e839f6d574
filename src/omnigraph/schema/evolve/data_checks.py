"""What has to hold for the stored rows before a step may be taken, as values.

Tables and columns go by their names after the migration. A check speaks of the rows as the steps leave them:
renamed, widened, with new columns filled. Null is exempt everywhere but in `NoNulls`, as it is on every write.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

from omnigraph.schema.constraints import Check, Key, Range, Unique

if TYPE_CHECKING:
    from omnigraph.schema.constraints import Constraint, Number


@dataclass(frozen=True, slots=True)
class DataCheck:
    """A condition on the rows of one table, which goes by `node:Person` or `edge:Knows`."""

    check: ClassVar[str]
    table: str

    def to_json(self) -> dict[str, object]:
        """Give the form that clients read."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            "check": self.check,
            **{name: list(value) if isinstance(value, tuple) else value for name, value in values.items()},
        }


@dataclass(frozen=True, slots=True)
class UniqueRows(DataCheck):
    """No two rows have the same tuple in these columns."""

    check = "unique"
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IdsFromKey(DataCheck):
    """Every row's id is the one its key derives. Columns are in the order of the key."""

    check = "ids_from_key"
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ValuesInRange(DataCheck):
    """Every number lies between the bounds, both inclusive; NaN does not."""

    check = "range"
    column: str
    minimum: Number | None
    maximum: Number | None


@dataclass(frozen=True, slots=True)
class ValuesMatch(DataCheck):
    """Every string contains a match of the pattern."""

    check = "pattern"
    column: str
    pattern: str


@dataclass(frozen=True, slots=True)
class ValuesListed(DataCheck):
    """Every string is one of the listed ones."""

    check = "enum"
    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoNulls(DataCheck):
    """No row has null in the column."""

    check = "not_null"
    column: str


@dataclass(frozen=True, slots=True)
class NoValues(DataCheck):
    """Every row has null in the column, or there are no rows."""

    check = "no_values"
    column: str


@dataclass(frozen=True, slots=True)
class EdgesPerSource(DataCheck):
    """Every source that has edges has a number of them within the bounds."""

    check = "cardinality"
    minimum: int
    maximum: int | None


@dataclass(frozen=True, slots=True)
class EndsExist(DataCheck):
    """The ids in one end's column are ids of a node table."""

    check = "ends_exist"
    column: str
    node_table: str


def check_of(constraint: Constraint, table: str) -> DataCheck | None:
    """Give what the rows of a table must satisfy for a constraint to hold; an index asks nothing."""
    match constraint:
        case Key():
            return IdsFromKey(table, constraint.properties)
        case Unique():
            return UniqueRows(table, constraint.properties)
        case Range():
            return ValuesInRange(table, constraint.property, constraint.minimum, constraint.maximum)
        case Check():
            return ValuesMatch(table, constraint.property, constraint.pattern)
        case _:
            return None
