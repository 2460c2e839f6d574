"""A change of one entity, and the order in which changes are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from omnigraph.history.images import Image, images
from omnigraph.history.tablediff import DELETE, INSERT, UPDATE, TableDiff

if TYPE_CHECKING:
    from collections.abc import Iterator

Op = Literal["insert", "update", "delete"]
OPS: tuple[Op, ...] = ("insert", "update", "delete")
"""By the number that a difference of tables has for them."""
IMAGES_AT_ONCE = 1_000
IMAGES_WITH_BLOBS_AT_ONCE = 50


@dataclass(frozen=True)
class EntityChange:
    """What happened to one node or edge."""

    kind: str
    type_name: str
    type_id: str
    """Opaque; stays when the type is renamed."""
    id: str
    op: Op
    before: Image | None = None
    after: Image | None = None
    changed: tuple[str, ...] = field(default=(), compare=False)
    """The properties an update changed; `src` and `dst` for the ends of an edge."""

    def to_json(self) -> dict[str, Any]:
        """`EntityChangeOutput`."""
        found: dict[str, Any] = {
            "kind": self.kind,
            "type": {"id": self.type_id, "name": self.type_name},
            "id": self.id,
            "op": self.op,
        }
        if self.before is not None:
            found["before"] = self.before.to_json()
        if self.after is not None:
            found["after"] = self.after.to_json()
        return found


def changes_of(diff: TableDiff, first: int = 0, last: int | None = None) -> Iterator[EntityChange]:
    """The changes of a table, by id; a stretch of them if asked."""
    end = len(diff) if last is None else min(last, len(diff))
    step = IMAGES_WITH_BLOBS_AT_ONCE if diff.side.has_blobs else IMAGES_AT_ONCE
    for start in range(first, end, step):
        yield from _changes(diff.only(np.arange(start, min(start + step, end))))


def _changes(diff: TableDiff) -> Iterator[EntityChange]:
    befores: dict[int, Image] = {}
    afters: dict[int, Image] = {}
    changed: dict[int, tuple[str, ...]] = {}
    if diff.old is not None and len(some := diff.where(UPDATE, DELETE)):
        befores = dict(zip(some.tolist(), images(diff.old.table, diff.olds(some)), strict=True))
    if diff.new is not None and len(some := diff.where(UPDATE, INSERT)):
        afters = dict(zip(some.tolist(), images(diff.new.table, diff.news(some)), strict=True))
    if len(some := diff.where(UPDATE)):
        cells = diff.changed_cells(diff.olds(some), diff.news(some))
        for place, position in enumerate(some.tolist()):
            changed[position] = tuple(name for name, mask in cells if mask[place])
    side = diff.side
    for place, (entity_id, op) in enumerate(zip(diff.ids.to_pylist(), diff.ops.tolist(), strict=True)):
        yield EntityChange(
            side.kind,
            side.table.name,
            side.type_id,
            entity_id,
            OPS[op],
            befores.get(place),
            afters.get(place),
            changed.get(place, ()),
        )
