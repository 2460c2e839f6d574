"""What commands print: the documents of the contract, and tables for people."""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from omnigraph.client.documents import (
    INTERNAL_SCHEMA_VERSION,
    commit_document,
    load_document,
    mutation_document,
    snapshot_document,
)
from omnigraph.client.faults import error_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from omnigraph.manifest import Collected, Commit, State
    from omnigraph.write.mutate import MutationResult

out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(document: Mapping[str, Any]) -> None:
    """One pretty-printed JSON document."""
    out.print(json.dumps(document, indent=2, ensure_ascii=False), markup=False)


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A table for people."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, no_wrap=True, overflow="ignore")
    for row in rows:
        table.add_row(*(str(value) for value in row))
    out.print(table)


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number of things: `1 node`, `2 nodes`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def affected(done: MutationResult) -> str:
    """What a mutation changed."""
    nodes, edges = counted(done.affected_nodes, "node"), counted(done.affected_edges, "edge")
    return f"{nodes}, {edges} on {done.branch}"


def cleanup_document(
    uri: str, keep: int | None, older_than_s: float | None, collected: Collected, state: State
) -> dict[str, Any]:
    """What cleanup reports, by table."""
    keys = {table.location: key for key, table in state.tables.items()}
    sizes: Counter[str] = Counter()
    versions: Counter[str] = Counter()
    for path, size in collected.files.items():
        location = "/".join(path.split("/")[:2])
        key = keys.get(location, "__manifest" if path.startswith("__") else location)
        sizes[key] += size
        versions[key] += path.endswith(".manifest")
    versions["__manifest"] += collected.versions_stripped
    return {
        "uri": uri,
        "keep_versions": keep,
        "older_than_secs": None if older_than_s is None else int(older_than_s),
        "datasets": [
            {"type_key": key, "bytes_removed": sizes[key], "old_versions_removed": versions[key], "error": None}
            for key in sorted({*keys.values(), *sizes, "__manifest"})
        ],
    }


def when(created_us: int) -> str:
    """A time for people."""
    return datetime.fromtimestamp(created_us / 1e6, tz=UTC).strftime("%Y-%m-%d %H:%M:%S")


def byline(commit: Commit) -> str:
    """When a commit was made, by what and by whom."""
    who = f" by {commit.actor}" if commit.actor is not None else ""
    return f"{when(commit.created_us)} {commit.operation} on {commit.branch}{who}"


__all__ = [
    "INTERNAL_SCHEMA_VERSION",
    "byline",
    "cleanup_document",
    "commit_document",
    "err",
    "error_document",
    "load_document",
    "mutation_document",
    "out",
    "print_json",
    "print_table",
    "snapshot_document",
    "when",
]
