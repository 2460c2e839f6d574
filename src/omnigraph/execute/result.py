"""What a query returns: columns of Arrow, and every form people want them in."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from omnigraph.model.errors import BadRequest
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from omnigraph.execute.picture import Picture

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Link:
    """What a picture draws: a traversal between two columns of nodes, or the path that one column holds."""

    source: str
    target: str
    edge: str
    types: tuple[str, str] = ("", "")
    """Of a path: the types of the nodes at its start, and of all others."""
    is_backward: bool = False
    """Of a path: it follows edges from their end to their start."""

    @property
    def is_path(self) -> bool:
        """Tell whether one column holds all of it."""
        return self.source == self.target


@dataclass(frozen=True, eq=False)
class Result:
    """The rows of one query, as of one commit."""

    table: pa.Table
    query_name: str
    graph_commit_id: str
    branch: str | None
    """The branch that was read; None if a snapshot was named instead."""
    snapshot: str | None
    """The commit or tag that was named."""
    types: tuple[ir.ValueType, ...]
    links: tuple[Link, ...] = ()

    def __len__(self) -> int:
        return self.table.num_rows

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self.table.column_names)

    # -- forms -----------------------------------------------------------------------------------------

    @cached_property
    def rows(self) -> list[Row]:
        """The rows as dicts, in the order of the columns; null is None."""
        return self.table.to_pylist()

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table, without a copy."""
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame."""
        with _installed("pandas"):
            return self.table.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The rows as a polars frame, without a copy where there is a way."""
        with _installed("polars"):
            import polars as pl

            return cast("pl.DataFrame", pl.from_arrow(self.table))

    def to_json(self) -> list[Row]:
        """The rows as JSON has them: days and times are texts, numbers that JSON cannot write are null."""
        return [{name: plain(value) for name, value in row.items()} for row in self.rows]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand the rows to any library that reads Arrow streams."""
        return self.table.__arrow_c_stream__(requested_schema)

    # -- for people ------------------------------------------------------------------------------------

    def picture(self) -> Picture:
        """The nodes and paths of the rows as a drawing."""
        from omnigraph.execute.picture import draw

        return draw(self)

    def __repr__(self) -> str:
        return f"<Result of {self.query_name}: {len(self)} rows of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        from omnigraph.execute.html import result_html

        return result_html(self)


@contextmanager
def _installed(library: str) -> Generator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise BadRequest(f"{library} is not installed: pip install {library}, or take to_arrow()") from error


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    match value:
        case float():
            return value if value - value == 0 else None
        case datetime():
            return value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03d}Z"
        case date():
            return value.isoformat()
        case list():
            return [plain(item) for item in cast("list[Any]", value)]
        case dict():
            return {name: plain(item) for name, item in cast("Mapping[str, Any]", value).items()}
        case _:
            return value


def links_of(read: ir.CheckedRead) -> tuple[Link, ...]:
    """The traversals between columns that are nodes, and the columns that are paths."""
    columns = {column.value.variable: column.name for column in read.columns if isinstance(column.value, ir.Entity)}
    found: dict[Link, None] = {}
    patterns = [read.pattern, *(block.pattern for block in read.pattern.optionals)]
    for expand in (expand for pattern in patterns for expand in pattern.expansions):
        is_backward = expand.direction is ir.Direction.IN
        path = columns.get(expand.path_variable or "")
        if path is not None:
            found[Link(path, path, expand.edge, (expand.source_type, expand.target_type), is_backward)] = None
        elif expand.source in columns and expand.target in columns and expand.source != expand.target:
            source, target = columns[expand.source], columns[expand.target]
            link = Link(target, source, expand.edge) if is_backward else Link(source, target, expand.edge)
            found[link] = None
    return tuple(found)
