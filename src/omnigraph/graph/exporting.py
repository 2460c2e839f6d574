"""Exports: files, written in process or on Spark, and lines for a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.export import graph_lines, select
from omnigraph.export.export import export_local
from omnigraph.graph.spark import spark_pipeline, wants_spark
from omnigraph.manifest import pinned
from omnigraph.policy.action import Action

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omnigraph.export import FilePlan, Selection
    from omnigraph.export.export import ExportResult
    from omnigraph.graph.holder import Holder
    from omnigraph.write.progress import Progress


def selected(holder: Holder, types: Iterable[str], branch: str | None, snapshot: str | None) -> Selection:
    """The tables that are meant, if they may be exported."""
    selection = select(holder.repository, holder.branch_or(branch, snapshot), snapshot=snapshot, types=types)
    tables = [table.key for table in selection.tables]
    holder.gate.require(Action.EXPORT, branch=selection.snapshot.branch, types=tables)
    return selection


def export_files(
    holder: Holder, selection: Selection, plan: FilePlan, engine: str, session: object, progress: Progress | None
) -> ExportResult:
    """Write files. Cleanup leaves the snapshot alone meanwhile."""
    on_spark = wants_spark(engine, session)
    with pinned(holder.repository, selection.snapshot.state):
        if on_spark:
            return spark_pipeline().export(holder.repository, selection, plan, progress, session)
        return export_local(selection, plan, progress)


def lines(holder: Holder, selection: Selection) -> Iterator[bytes]:
    """Chunks of whole lines. Cleanup leaves the snapshot alone from the first to the last."""
    with pinned(holder.repository, selection.snapshot.state):
        yield from graph_lines(selection.tables)
