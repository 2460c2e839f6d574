"""What is exported: the types asked for, at one point of history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.export.rows import TableRows
from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest
from omnigraph.schema import table_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.manifest import Repository, Snapshot
    from omnigraph.schema import Catalog, EdgeType, NodeType


@dataclass(frozen=True)
class Selection:
    """Tables of one snapshot."""

    snapshot: Snapshot
    tables: tuple[TableRows, ...]
    """Edges before nodes, each by name."""


def select(repository: Repository, branch: str, *, snapshot: str | None = None, types: Iterable[str] = ()) -> Selection:
    """Pin a branch, or a commit, and open what is wanted of it; no type named means all."""
    pinned = repository.snapshot(branch, snapshot)
    catalog = repository.catalogs.get(pinned.schema_hash).catalog
    chosen = sorted(_chosen(catalog, list(types)), key=table_key)
    parts = repository.parts
    return Selection(pinned, tuple(TableRows(table, parts.tables, pinned.table(table_key(table))) for table in chosen))


def _chosen(catalog: Catalog, names: list[str]) -> list[NodeType | EdgeType]:
    every = list(catalog.tables)
    if not names:
        return every
    for name in names:
        if not _meant(every, name):
            hint = suggest(name, [table.name for table in every])
            raise BadRequest(f"there is no node or edge type {name!r}{f'; {hint}' if hint else ''}", type=name)
    return [table for table in every if any(_is_meant(table, name) for name in names)]


def _meant(every: list[NodeType | EdgeType], name: str) -> bool:
    return any(_is_meant(table, name) for table in every)


def _is_meant(table: NodeType | EdgeType, name: str) -> bool:
    """By name, or as `node:Name` where a node type and an edge type share one."""
    return name in (table.name, table_key(table))
