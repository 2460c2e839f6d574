"""What a query returns of the rows a pattern found: groups, order, pages, columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from omnigraph.execute.bindings import Scores
from omnigraph.execute.groups import simple_groups
from omnigraph.execute.values import evaluate
from omnigraph.model.errors import BadRequest, ResourceLimit
from omnigraph.plan.cut import Cut
from omnigraph.plan.reads import is_row_count
from omnigraph.plan.returned import tie_breakers, values
from omnigraph.plan.transform import transform
from omnigraph.query import ir
from omnigraph.query.walk import walk

if TYPE_CHECKING:
    from omnigraph.execute.bindings import Bindings
    from omnigraph.execute.execution import Execution

_PLACE = "#place"
_FEW_ROWS = 10_000


def project(execution: Execution, read: ir.CheckedRead, bindings: Bindings, rows_max: int | None = None) -> pa.Table:
    """Make the result. More than `rows_max` rows are refused, before their columns are gathered if possible."""
    cut = Cut(_amount(execution, "limit", read.limit), _amount(execution, "offset", read.offset) or 0)
    execution.depth = cut.end
    if read.grouped or read.distinct:
        columns = _groups(execution, read, bindings, cut)
        _check_size(len(columns[0]), rows_max)
    else:
        read, bindings = _with_scores(execution, read, bindings, cut)
        rows = _page(execution, read, bindings, cut)
        _check_size(rows.count, rows_max)
        columns = evaluate(execution, rows, [column.value for column in read.columns])
    return pa.Table.from_arrays(columns, names=[column.name for column in read.columns])


def _amount(execution: Execution, word: str, amount: ir.Literal | ir.Parameter | None) -> int | None:
    if amount is None:
        return None
    value = cast("int", execution.value(amount))
    if value < 0:
        raise BadRequest(f"{word} is {value}: it cannot be negative")
    return value


def _check_size(count: int, rows_max: int | None) -> None:
    if rows_max is not None and count > rows_max:
        raise ResourceLimit("rows of the result", limit=rows_max, actual=count)


# -- rankings ------------------------------------------------------------------------------------------


def _ranking(read: ir.CheckedRead) -> ir.Rank | None:
    """The ranking that orders, if there is one: it shows the best of the rows it ranks, and no others.

    Turned round it is a column like any other. So is a relevance that is returned, too: that drops no row.
    """
    first = read.order[0] if read.order else None
    if first is None or not isinstance(first.value, ir.Nearest | ir.TextScore | ir.Fusion):
        return None
    if isinstance(first.value, ir.TextScore) and any(column.value == first.value for column in read.columns):
        return None
    return first.value if first.descending != isinstance(first.value, ir.Nearest) else None


def _with_scores(
    execution: Execution, read: ir.CheckedRead, bindings: Bindings, cut: Cut
) -> tuple[ir.CheckedRead, Bindings]:
    """Compute what depends on all rows, the places of a ranking and fusions, and let the query speak of that."""
    rank = _ranking(read)
    for number, fusion in enumerate(_fusions(read)):
        from omnigraph.execute.searching import search_values

        name = f"#fusion{number}"
        bindings = bindings.with_columns({name: Scores(search_values(execution, bindings, fusion))})
        read = _replaced(read, fusion, ir.ColumnRef(name, fusion.type))
    if rank is None:
        return read, bindings
    from omnigraph.execute.ranking import rank_rows

    ranked = rank_rows(execution, bindings, rank, cut.end)
    place = ir.OrderKey(ir.ColumnRef(_PLACE, ir.I64), descending=False)
    bindings = ranked.bindings.with_columns({_PLACE: Scores(pa.array(ranked.places))})
    return replace(read, order=(place, *read.order[1:])), bindings


def _fusions(read: ir.CheckedRead) -> list[ir.Fusion]:
    return list(dict.fromkeys(part for value in values(read) for part in walk(value) if isinstance(part, ir.Fusion)))


def _replaced(read: ir.CheckedRead, old: ir.Expression, new: ir.Expression) -> ir.CheckedRead:
    def changed(value: ir.Expression) -> ir.Expression:
        return transform(value, lambda part: new if part == old else None)

    columns = tuple(replace(column, value=changed(column.value)) for column in read.columns)
    return replace(read, columns=columns, order=tuple(replace(key, value=changed(key.value)) for key in read.order))


# -- single rows ---------------------------------------------------------------------------------------


def _page(execution: Execution, read: ir.CheckedRead, bindings: Bindings, cut: Cut) -> Bindings:
    """The rows that are returned, in their order."""
    if not read.order:
        return _sliced(_prefix(bindings, cut.end).single(), cut)
    if _is_only_ranked(read) and bindings.count <= _FEW_ROWS:  # nothing an engine is needed for
        from omnigraph.execute.ranking import rows_by_place

        places = np.asarray(cast("Scores", bindings.columns[_PLACE]).values, np.int64)
        order = rows_by_place(execution, bindings, places, tie_breakers(read.pattern))
        return _sliced(_prefix(bindings.take(order), cut.end).single(), cut)
    from omnigraph.execute.arrange import ordered_rows

    # Rows that stand for several are repeated behind the order, which does not tell them apart.
    ordered = ordered_rows(execution, read, bindings, cut if bindings.weights is None else Cut())
    return ordered if bindings.weights is None else _sliced(_prefix(ordered, cut.end).single(), cut)


def _is_only_ranked(read: ir.CheckedRead) -> bool:
    """Whether rows go by the places of a ranking and then by ids, with no key between."""
    (first, *more) = read.order
    return not more and isinstance(first.value, ir.ColumnRef) and first.value.name == _PLACE


def _prefix(bindings: Bindings, end: int | None) -> Bindings:
    """The first rows, as many as are needed for so many when each is repeated as often as it counts."""
    if end is None:
        return bindings
    if bindings.weights is None:
        return bindings.take(np.arange(min(end, bindings.count))) if end < bindings.count else bindings
    reached = np.cumsum(bindings.weights)
    count = int(np.searchsorted(reached, end)) + 1 if end else 0
    found = bindings.take(np.arange(min(count, bindings.count)))
    if not found.count or found.weights is None:
        return found
    surplus = max(0, int(reached[found.count - 1]) - end)
    weights = found.weights.copy()
    weights[-1] -= surplus
    return replace(found, weights=weights)


def _sliced(rows: Bindings, cut: Cut) -> Bindings:
    end = rows.count if cut.end is None else min(rows.count, cut.end)
    start = min(cut.offset, end)
    return rows if (start, end) == (0, rows.count) else rows.take(np.arange(start, end))


# -- groups --------------------------------------------------------------------------------------------


def _groups(execution: Execution, read: ir.CheckedRead, bindings: Bindings, cut: Cut) -> list[pa.ChunkedArray]:
    counted = _only_counts(read, bindings, cut)
    if counted is not None:
        return counted
    rank = _ranking(read)
    if rank is not None:
        from omnigraph.execute.ranking import rank_rows

        bindings = rank_rows(execution, bindings, rank, None).bindings
    simple = simple_groups(execution, read, bindings, cut)
    if simple is not None:
        return simple
    from omnigraph.execute.arrange import grouped_rows

    return grouped_rows(execution, read, bindings, cut)


def _only_counts(read: ir.CheckedRead, bindings: Bindings, cut: Cut) -> list[pa.ChunkedArray] | None:
    """Numbers of rows need no engine."""
    if cut != Cut() or not all(isinstance(c.value, ir.Aggregate) and is_row_count(c.value) for c in read.columns):
        return None
    return [pa.chunked_array([pa.array([bindings.total()], pa.int64())]) for _ in read.columns]
