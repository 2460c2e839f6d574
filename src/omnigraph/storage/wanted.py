"""Values to look for in a column: brought to its type, and as a condition that Lance understands."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pyarrow.compute as pc

from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from pyarrow.compute import Expression

_NARROW = (
    pa.types.is_string,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_date,
    pa.types.is_timestamp,
)
_QUOTED_MAX = 8
"""Up to so many texts are quoted."""


def is_narrow(kind: pa.DataType) -> bool:
    """Whether values of this type are single and short."""
    return any(test(kind) for test in _NARROW)


def wanted_values(field: pa.Field, values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Each value once, with the column's type. Null is no value and matches nothing."""
    if not is_narrow(field.type):
        raise BadRequest(f"rows cannot be found by {field.name}: {field.type} is no scalar type")
    flat = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    try:
        typed = flat.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise BadRequest(f"the values looked for in {field.name} are no {field.type}: {error}") from error
    return typed.drop_null().unique()


def one_of(column: str, values: pa.Array) -> Expression | str:
    """The condition that a column has one of these values. Typed, so no value has to be quoted.

    A few texts are quoted all the same: Lance reads a line of SQL faster than it takes over an expression.
    """
    if pa.types.is_string(values.type) and len(values) <= _QUOTED_MAX:
        quoted = ("'" + value.replace("'", "''") + "'" for value in values.to_pylist())
        return f"`{column}` IN ({', '.join(quoted)})"
    if pa.types.is_unsigned_integer(values.type):  # Lance cannot take these as an expression
        return f"`{column}` IN ({', '.join(str(value) for value in values.to_pylist())})"
    return pc.field(column).isin(values)


def matching(column: pa.Array | pa.ChunkedArray, values: pa.Array) -> pa.BooleanArray:
    """Which rows have one of these values."""
    hits = pc.is_in(column, value_set=values)  # pyright: ignore[reportAttributeAccessIssue]
    return cast("pa.BooleanArray", hits)
