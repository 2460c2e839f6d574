"""An export in process: one snapshot into one file, or into a folder of parts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.export.files import FilePlan, write_files
from omnigraph.export.lines import graph_lines
from omnigraph.model.errors import BadRequest
from omnigraph.storage.sink import is_empty_folder, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from omnigraph.export.files import ExportedFile
    from omnigraph.export.selection import Selection

    Progress = Callable[[str, int, int | None], None]

_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst")


@dataclass(frozen=True)
class ExportResult:
    """What was written where."""

    branch: str
    commit_id: str
    out: str
    files: tuple[str, ...]
    nodes: dict[str, int]
    edges: dict[str, int]

    @property
    def total_entities(self) -> int:
        """Nodes and edges in all."""
        return sum(self.nodes.values()) + sum(self.edges.values())


def is_one_file(out: str, format: str) -> bool:  # noqa: A002 - the word users know
    """Whether a name stands for one file of lines; any other is a folder."""
    return format == "jsonl" and out.endswith(_LINES)


def check_target(out: str, options: dict[str, str] | None = None) -> None:
    """Refuse a folder that holds something: parts of two exports must not mix."""
    if not is_empty_folder(out, options):
        raise BadRequest(f"{out} is not an empty folder: name one that is, or a new one", out=out)


def export_local(selection: Selection, plan: FilePlan, progress: Progress | None = None) -> ExportResult:
    """Write everything, table after table."""
    if is_one_file(plan.folder, plan.format):
        return _one_file(selection, plan)
    check_target(plan.folder, plan.options or None)
    files: list[ExportedFile] = []
    for table in selection.tables:
        files += write_files(table, plan)
        if progress is not None:
            progress(f"exporting {table.table.name}", table.handle.row_count, table.handle.row_count)
    return exported(selection, plan, files)


def exported(selection: Selection, plan: FilePlan, files: Iterable[ExportedFile]) -> ExportResult:
    """Sum up files by type."""
    rows: Counter[str] = Counter()
    names: list[str] = []
    for file in files:
        rows[file.table_key] += file.rows
        names.append(file.name)
    return _result(selection, plan, names, rows)


def _one_file(selection: Selection, plan: FilePlan) -> ExportResult:
    import pyarrow as pa

    codec = {".gz": "gzip", ".zst": "zstd"}.get(plan.folder[plan.folder.rindex(".") :])
    with write_file(plan.folder, plan.options or None) as file, pa.PythonFile(file, mode="w") as sink:
        if codec is None:
            for chunk in graph_lines(selection.tables):
                sink.write(chunk)
        else:
            with pa.CompressedOutputStream(sink, codec) as packed:
                for chunk in graph_lines(selection.tables):
                    packed.write(chunk)
    rows = Counter({table.key: table.handle.row_count for table in selection.tables})
    return _result(selection, plan, [""], rows)


def _result(selection: Selection, plan: FilePlan, names: list[str], rows: Counter[str]) -> ExportResult:
    counted = {table.key: rows[table.key] for table in selection.tables}
    by_kind = {
        kind: {key.partition(":")[2]: count for key, count in counted.items() if key.startswith(f"{kind}:")}
        for kind in ("node", "edge")
    }
    snapshot = selection.snapshot
    return ExportResult(
        snapshot.branch, snapshot.commit_id, plan.folder, tuple(names), by_kind["node"], by_kind["edge"]
    )
