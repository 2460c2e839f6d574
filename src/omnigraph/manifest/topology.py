"""Where adjacency files are, and which of them may still be of use: their names say what they were made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.model.hashing import fnv1a64

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.manifest.state import State
    from omnigraph.storage.staged import TableRef

TOPOLOGY = "__topology"


def topology_folder(edge: TableRef) -> str:
    """The folder of an edge table's files, of all its versions."""
    return f"{TOPOLOGY}/{fnv1a64(edge.location):016x}"


def topology_path(edge: TableRef, source: TableRef, target: TableRef, direction: str) -> str:
    """The file of an adjacency made of these versions."""
    versions = "-".join(f"{ref.version:016x}" for ref in (edge, source, target))
    return f"{topology_folder(edge)}/{versions}.{direction}"


def useful_topology(paths: Iterable[str], shown: Iterable[State]) -> set[str]:
    """The files of these that were made of what one of these states shows."""
    known = [
        (
            {topology_folder(table.ref) for table in state.tables.values()},
            {f"{table.version:016x}" for table in state.tables.values()},
        )
        for state in shown
    ]
    return {
        path
        for path in paths
        for folder, _, name in (path.rpartition("/"),)
        if any(
            folder in folders and versions.issuperset(name.partition(".")[0].split("-")) for folders, versions in known
        )
    }
