"""What two branches cannot both have: each conflict with the entity as it was, as we have it and as they have it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from omnigraph.model.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.history.images import Image

_SHOWN_MAX = 20


class ConflictKind(StrEnum):
    """What kind of conflict."""

    DIVERGENT_INSERT = "divergent_insert"
    """Both sides added it, with different values."""
    DIVERGENT_UPDATE = "divergent_update"
    """Both sides changed the same property to different values."""
    DELETE_VS_UPDATE = "delete_vs_update"
    """One side changed what the other deleted."""
    ORPHAN_EDGE = "orphan_edge"
    """One side deleted a node at which the other has an edge."""
    UNIQUE_VIOLATION = "unique_violation"
    CARDINALITY_VIOLATION = "cardinality_violation"
    VALUE_CONSTRAINT_VIOLATION = "value_constraint_violation"


@dataclass(frozen=True)
class MergeConflict:
    """One conflict."""

    entity_kind: str
    type_name: str
    entity_id: str | None
    kind: ConflictKind
    message: str
    properties: tuple[str, ...] = ()
    """Those that both sides changed."""
    base: Image | None = None
    ours: Image | None = None
    theirs: Image | None = None

    @property
    def key(self) -> tuple[str, str, str | None]:
        """The entity it is about."""
        return self.entity_kind, self.type_name, self.entity_id

    @property
    def sort_key(self) -> tuple[bool, str, str, str]:
        """Nodes before edges, then by type and id."""
        return self.entity_kind == "edge", self.type_name, self.entity_id or "", self.kind

    def to_json(self) -> dict[str, Any]:
        """As the HTTP API has it: `MergeConflictOutput`."""
        return {
            "entity_kind": self.entity_kind,
            "type_name": self.type_name,
            "entity_id": self.entity_id,
            "kind": self.kind.value,
            "message": self.message,
        }

    def describe(self) -> dict[str, Any]:
        """All that is known of it: what a resolution file is written from."""
        images = {"base": self.base, "ours": self.ours, "theirs": self.theirs}
        return {
            **self.to_json(),
            "properties": list(self.properties),
            **{name: None if image is None else image.to_json() for name, image in images.items()},
        }


class MergeConflicts(Conflict):
    """A merge, revert or cherry-pick meets changes that contradict each other. Nothing was written; has them all."""

    def __init__(self, what: str, conflicts: Sequence[MergeConflict]) -> None:
        self.conflicts = tuple(sorted(conflicts, key=lambda conflict: conflict.sort_key))
        count = len(self.conflicts)
        lines = [f"{what}: {count} conflict{'' if count == 1 else 's'}, nothing was written"]
        lines += [f"  {one.kind}: {one.message}" for one in self.conflicts[:_SHOWN_MAX]]
        if count > _SHOWN_MAX:
            lines.append(f"  … and {count - _SHOWN_MAX} more")
        lines.append("take ours or theirs for all of them, or choose for each with a resolution; a dry run lists them")
        super().__init__("\n".join(lines), merge_conflicts=[one.to_json() for one in self.conflicts])


class SchemaConflict(Conflict):
    """Both sides changed the schema, and the two changes do not go together. Nothing was written."""

    def __init__(self, what: str, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        text = "\n".join(f"  {reason}" for reason in reasons)
        super().__init__(
            f"{what}: the schema changes of both sides do not go together, nothing was written\n{text}",
            reasons=list(reasons),
        )
