"""What every step of a migration is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from omnigraph.schema.catalog import TypeKind

if TYPE_CHECKING:
    from omnigraph.schema.evolve.codes import Code
    from omnigraph.schema.evolve.data_checks import DataCheck

Json = dict[str, Any]


class DropMode(StrEnum):
    """What becomes of dropped rows: readable in old versions until cleanup, or purged at once."""

    SOFT = "soft"
    HARD = "hard"


@dataclass(frozen=True, slots=True)
class Step(ABC):
    """One change. Names of types and properties are those after the migration, unless a field says `from`."""

    kind: ClassVar[str]

    @property
    def touches_data(self) -> bool:
        """Tell whether stored rows are written or purged, not only described differently."""
        return False

    @property
    def data_check(self) -> DataCheck | None:
        """Give what the stored rows must satisfy; None if they always do."""
        return None

    @property
    def code(self) -> Code | None:
        """Give the code of the change, if the catalogue has one for it."""
        return None

    @abstractmethod
    def fields(self) -> Json:
        """Give the fields of the contract, without `kind`."""

    def to_json(self) -> Json:
        """Give the contract's form, with what we say beyond it: touches_data, data_check and the code."""
        check = self.data_check
        return {
            "kind": self.kind,
            **self.fields(),
            "touches_data": self.touches_data,
            "data_check": None if check is None else check.to_json(),
            **({} if self.code is None else {"code": self.code.code}),
        }


@dataclass(frozen=True, slots=True)
class TypeStep(Step):
    """A change to one type."""

    type_kind: TypeKind
    type_name: str

    @property
    def table(self) -> str | None:
        """Give the table whose rows have the type, `node:Person`; None for an interface, which has no rows."""
        return None if self.type_kind is TypeKind.INTERFACE else f"{self.type_kind}:{self.type_name}"

    def fields(self) -> Json:
        """Name the type."""
        return {"type_kind": self.type_kind.value, "type_name": self.type_name}


@dataclass(frozen=True, slots=True)
class UnsupportedChange(Step):
    """A change that cannot be made, why, and what to do instead."""

    kind = "unsupported_change"
    entity: str
    reason: str
    refused_as: Code | None = None

    @property
    def code(self) -> Code | None:
        """Give the code of the refusal."""
        return self.refused_as

    def fields(self) -> Json:
        """Name what was to be changed, and why it cannot be."""
        return {"entity": self.entity, "reason": self.reason}

    def to_json(self) -> Json:
        """Give the contract's form: no step is taken, so there is nothing to say about data."""
        code = {} if self.code is None else {"code": self.code.code}
        return {"kind": self.kind, **self.fields(), **code}

    def __str__(self) -> str:
        """Write the refusal as a refused apply does."""
        return self.reason if self.code is None else f"[{self.code}] {self.reason}"
