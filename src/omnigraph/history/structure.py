"""Conflicts that only show in the graph as a whole: an edge without its node, two rows with one unique value."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pyarrow as pa

from omnigraph.history.conflicts import ConflictKind, MergeConflict
from omnigraph.history.images import Image, images
from omnigraph.history.merge_tables import TableMerge
from omnigraph.history.versions import align
from omnigraph.model.compute import pc
from omnigraph.model.violations import Violation, ViolationKind
from omnigraph.schema import EdgeType
from omnigraph.write.delta import distinct, joined, without

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.history.resolve import Take
    from omnigraph.history.versions import Version, Versions

_KINDS = {
    ViolationKind.ENDPOINT: ConflictKind.ORPHAN_EDGE,
    ViolationKind.REFERENCE: ConflictKind.ORPHAN_EDGE,
    ViolationKind.UNIQUE: ConflictKind.UNIQUE_VIOLATION,
    ViolationKind.KEY: ConflictKind.UNIQUE_VIOLATION,
    ViolationKind.CARDINALITY: ConflictKind.CARDINALITY_VIOLATION,
}


class Structure:
    """What the validator found in the merged graph, as conflicts, and what choosing a side does about them."""

    def __init__(self, versions: Mapping[str, Versions], merges: dict[str, TableMerge]) -> None:
        self._versions = versions
        self._merges = merges

    def conflict(self, violation: Violation) -> MergeConflict:
        """A violation as a conflict."""
        key, entity_id = self._entity(violation)
        kind = _KINDS.get(violation.kind, ConflictKind.VALUE_CONSTRAINT_VIOLATION)
        entity_kind, _, name = key.partition(":")
        versions = self._versions.get(key)
        shown: list[Image | None] = [None, None, None]
        if versions is not None and entity_id is not None:
            sides = (versions.base, versions.ours, versions.theirs)
            shown = [_image(versions, side, entity_id) for side in sides]
        named = (violation.property,) if violation.property is not None else ()
        return MergeConflict(entity_kind, name, entity_id, kind, violation.message, named, *shown)

    def _entity(self, violation: Violation) -> tuple[str, str | None]:
        """The entity a conflict is about: of an edge and a node, the edge."""
        if violation.kind is ViolationKind.REFERENCE and violation.edge is not None:
            return f"edge:{violation.edge[0]}", violation.edge[1]
        if violation.kind in (ViolationKind.ENDPOINT, ViolationKind.CARDINALITY):
            return f"edge:{violation.type_name}", violation.entity_id
        node, edge = f"node:{violation.type_name}", f"edge:{violation.type_name}"
        merge = self._merges.get(edge)
        written = merge is not None and violation.entity_id in merge.delta().ids.to_pylist()
        return (edge if written or node not in self._versions else node), violation.entity_id

    # -- choosing a side -----------------------------------------------------------------------------------

    def settle(self, violation: Violation, take: Take) -> bool:
        """Make the merged graph whole by what one side has; False if that side cannot be had."""
        key, entity_id = self._entity(violation)
        if entity_id is None:
            return False
        if violation.kind is ViolationKind.REFERENCE:
            node = f"node:{violation.type_name}"
            if take == "theirs":
                return self._remove(key, entity_id)
            return self._forget(node, str(violation.entity_id))
        if take == "ours":
            if violation.kind is ViolationKind.CARDINALITY:
                return self._forget_edges(key, entity_id)
            return self._forget(key, entity_id)
        if violation.kind is ViolationKind.ENDPOINT:
            return self._bring_back(key, entity_id, violation.property or "")
        return False

    def _merge(self, key: str) -> TableMerge:
        found = self._merges.get(key)
        if found is None:
            versions = self._versions[key]
            found = self._merges[key] = TableMerge(versions, versions.schema.empty_table())
        return found

    def _forget(self, key: str, entity_id: str) -> bool:
        """Leave an entity as our side has it."""
        merge = self._merge(key)
        before = merge.rows.num_rows + len(merge.removed)
        one = pa.array([entity_id], pa.string())
        merge.rows = merge.rows.filter(pc.invert(pc.is_in(merge.rows.column("id"), value_set=one)))
        merge.removed = cast("pa.StringArray", without(merge.removed, one))
        return merge.rows.num_rows + len(merge.removed) < before

    def _forget_edges(self, key: str, entity_id: str) -> bool:
        """Leave the edges of a source as our side has them. The id is the source's, or that of one of its edges."""
        merge = self._merge(key)
        rows = merge.rows
        mine = rows.filter(pc.equal(rows.column("id"), entity_id)).column("src").to_pylist()
        source = mine[0] if mine else entity_id
        before = rows.num_rows + len(merge.removed)
        merge.rows = rows.filter(pc.not_equal(rows.column("src"), source))
        ours = merge.versions.ours.find(merge.removed)
        if ours is not None:
            kept = ours.filter(pc.equal(ours.column("src"), source)).column("id").combine_chunks()
            merge.removed = cast("pa.StringArray", without(merge.removed, kept))
        return merge.rows.num_rows + len(merge.removed) < before

    def _remove(self, key: str, entity_id: str) -> bool:
        """Let an edge go with its node."""
        merge = self._merge(key)
        self._forget(key, entity_id)
        merge.removed = cast("pa.StringArray", distinct(joined([merge.removed, pa.array([entity_id], pa.string())])))
        return True

    def _bring_back(self, key: str, entity_id: str, end: str) -> bool:
        """Have the node again that an edge of theirs ends at."""
        merge = self._merge(key)
        edge = merge.versions.table
        if not isinstance(edge, EdgeType) or not end:
            return False
        rows = merge.rows.filter(pc.equal(merge.rows.column("id"), entity_id))
        node = self._merge(f"node:{edge.source if end == 'src' else edge.target}")
        wanted = cast("pa.StringArray", rows.column(end).combine_chunks())
        found = align(node.versions, node.versions.theirs, wanted)
        if not rows.num_rows or not found.there.all():
            return False
        node.rows = pa.concat_tables([node.rows, found.rows.cast(node.versions.schema)])
        return True


def _image(versions: Versions, version: Version, entity_id: str) -> Image | None:
    found = align(versions, version, cast("pa.StringArray", pa.array([entity_id], pa.string())))
    return images(versions.table, found.rows)[0] if found.there[0] else None
