"""The types a property or a parameter can have, shared by the schema and the query language."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import cast


class ScalarType(StrEnum):
    """One value's type. The value is the word that both languages write."""

    STRING = "String"
    BLOB = "Blob"
    BOOL = "Bool"
    I32 = "I32"
    I64 = "I64"
    U32 = "U32"
    U64 = "U64"
    F32 = "F32"
    F64 = "F64"
    DATE_TIME = "DateTime"
    DATE = "Date"
    VECTOR = "Vector"

    @property
    def is_integer(self) -> bool:
        """Tell whether this is one of the four integer types."""
        return self in INTEGER_BOUNDS

    @property
    def is_float(self) -> bool:
        """Tell whether this is F32 or F64."""
        return self in (ScalarType.F32, ScalarType.F64)

    @property
    def is_numeric(self) -> bool:
        """Tell whether this is an integer or a floating-point type."""
        return self.is_integer or self.is_float


INTEGER_BOUNDS: dict[ScalarType, tuple[int, int]] = {
    ScalarType.I32: (-(2**31), 2**31 - 1),
    ScalarType.I64: (-(2**63), 2**63 - 1),
    ScalarType.U32: (0, 2**32 - 1),
    ScalarType.U64: (0, 2**64 - 1),
}
"""Smallest and largest value of each integer type, both inclusive."""

VECTOR_DIMENSION_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class PropType:
    """A complete type: scalar, list or vector, nullable or not, with the values of an enum."""

    scalar: ScalarType
    nullable: bool = False
    is_list: bool = False
    enum_values: tuple[str, ...] | None = None
    vector_dim: int | None = None

    @property
    def is_enum(self) -> bool:
        """Tell whether only listed strings are allowed."""
        return self.enum_values is not None

    @property
    def is_vector(self) -> bool:
        """Tell whether this is Vector(N)."""
        return self.scalar is ScalarType.VECTOR

    @property
    def is_blob(self) -> bool:
        """Tell whether this is Blob, alone or in a list."""
        return self.scalar is ScalarType.BLOB

    @property
    def is_text(self) -> bool:
        """Tell whether this is a free-text String: no enum, no list."""
        return self.scalar is ScalarType.STRING and not self.is_enum and not self.is_list

    @property
    def is_numeric(self) -> bool:
        """Tell whether this is one number (no list, no vector)."""
        return self.scalar.is_numeric and not self.is_list

    @property
    def required(self) -> PropType:
        """Give the same type without null."""
        return replace(self, nullable=False)

    @property
    def optional(self) -> PropType:
        """Give the same type with null."""
        return replace(self, nullable=True)

    def __str__(self) -> str:
        """Write the type as the schema language does."""
        if self.enum_values is not None:
            core = f"enum({', '.join(self.enum_values)})"
        elif self.vector_dim is not None:
            core = f"Vector({self.vector_dim})"
        else:
            core = self.scalar.value
        if self.is_list:
            core = f"[{core}]"
        return core + "?" if self.nullable else core

    def to_json(self) -> dict[str, object]:
        """Give the form that migration steps and stored catalogs use."""
        scalar: object = {"Vector": self.vector_dim} if self.is_vector else self.scalar.value
        values = None if self.enum_values is None else list(self.enum_values)
        return {"scalar": scalar, "nullable": self.nullable, "list": self.is_list, "enum_values": values}

    @classmethod
    def from_json(cls, data: dict[str, object]) -> PropType:
        """Read what `to_json` wrote."""
        scalar, values = data["scalar"], cast("list[str] | None", data["enum_values"])
        vector_dim = cast("dict[str, int]", scalar)["Vector"] if isinstance(scalar, dict) else None
        return cls(
            scalar=ScalarType.VECTOR if vector_dim is not None else ScalarType(cast("str", scalar)),
            nullable=cast("bool", data["nullable"]),
            is_list=cast("bool", data["list"]),
            enum_values=None if values is None else tuple(values),
            vector_dim=vector_dim,
        )


BLOB_MARK = {b"lance-encoding:blob": b"true"}
"""The metadata of a column that holds blobs: their bytes lie apart and are read only when asked for."""


MANAGED_PREFIX = "base64:"
"""How the text of a blob starts whose bytes the graph holds; any other text is an address."""


def blob_uri_column(name: str) -> str:
    """Give the column beside a Blob that says where it is, if it is held elsewhere."""
    return f"{name}@uri"
