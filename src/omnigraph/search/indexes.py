"""Which indexes a table has by its schema, and how much of it they cover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.schema.catalog import EDGE_ENDS, IndexKind, NodeType
from omnigraph.storage.staged import IndexBuild

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnigraph.schema import Catalog
    from omnigraph.schema.catalog import EdgeType
    from omnigraph.storage.interface import TableHandle, Tables
    from omnigraph.storage.staged import FragmentIdentity, IndexForm, IndexSegment

SEGMENTS_MAX = 8
"""More segments than this are made into one by `optimize`."""
_FORMS: dict[IndexKind, tuple[IndexForm, ...]] = {
    IndexKind.BTREE: ("BTREE",),
    IndexKind.INVERTED: ("BTREE", "INVERTED"),  # text is looked for by words, and also compared as a whole
    IndexKind.VECTOR: ("IVF_FLAT",),
}


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """An index a table should have."""

    column: str
    form: IndexForm


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far an index has come."""

    spec: IndexSpec
    rows: int
    covered_rows: int
    uncovered: tuple[FragmentIdentity, ...]
    live: tuple[IndexSegment, ...]
    dead: tuple[IndexSegment, ...]
    """Segments of which no fragment is left."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to be indexed."""
        return not self.uncovered


def specs_of(table: NodeType | EdgeType) -> tuple[IndexSpec, ...]:
    """The indexes of a table: ids, ends of edges, and every property that is declared so.

    Edges are changed, removed and merged by their ids too: without an index each time would read all of them.
    """
    found = {name: _FORMS[kind] for name, kind in table.indexes.items()}
    always = ("id",) if isinstance(table, NodeType) else ("id", *EDGE_ENDS)
    found.update(dict.fromkeys(always, _FORMS[IndexKind.BTREE]))
    return tuple(IndexSpec(column, form) for column, forms in sorted(found.items()) for form in forms)


def declared_specs(catalog: Catalog, table_key: str) -> tuple[IndexSpec, ...]:
    """The indexes of a table by its key; none for a table the schema does not have."""
    table = catalog.tables_by_key.get(table_key)
    return () if table is None else specs_of(table)


def coverage_of(tables: Tables, handle: TableHandle, specs: Sequence[IndexSpec]) -> Iterator[Coverage]:
    """How far each index of a version has come."""
    fragments = handle.fragments()
    present = {fragment.id for fragment in fragments}
    segments = tables.indexes(handle)
    rows = sum(fragment.rows for fragment in fragments)
    for spec in specs:
        mine = [each for each in segments if (each.column, each.form) == (spec.column, spec.form)]
        covered = frozenset[int]().union(*(each.fragments for each in mine))
        uncovered = tuple(fragment for fragment in fragments if fragment.id not in covered)
        live = tuple(each for each in mine if each.fragments & present)
        dead = tuple(each for each in mine if not each.fragments & present)
        yield Coverage(spec, rows, rows - sum(fragment.rows for fragment in uncovered), uncovered, live, dead)


def build_of(coverage: Coverage, fragments: Sequence[FragmentIdentity], *, anew: bool = False) -> IndexBuild:
    """A segment over some fragments; segments that are dead go, and with `anew` all others too."""
    replaced = (*coverage.dead, *(coverage.live if anew else ()))
    return IndexBuild(
        coverage.spec.column,
        coverage.spec.form,
        tuple(fragment.id for fragment in fragments),
        tuple(segment.id for segment in replaced),
        sum(fragment.rows for fragment in fragments),
    )
