"""Ordering by a ranking: which rows it shows, and in which places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from omnigraph.execute.searching import fuse, may_be_shown, search_values
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.execute.access import Numbers
    from omnigraph.execute.bindings import Bindings, Entities
    from omnigraph.execute.execution import Execution
    from omnigraph.execute.vectors import Floats


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rows a ranking shows. A lower place is better; rows of one place are ordered by what comes behind the ranking."""

    bindings: Bindings
    places: Numbers


def rank_rows(execution: Execution, bindings: Bindings, rank: ir.Rank, count: int | None) -> Ranked:
    """Keep the rows that a ranking shows: those it has a value for and, of these, those among the first `count`.

    Rows that tie with the last of them are kept as well, so that further keys and ids can decide; the order of the
    rows is not changed. `count` is limit plus offset, or None for all. A row with a weight counts once.
    Set `execution.depth` to `count` before anything asks for a fusion's value: its rankings are that deep.
    """
    if isinstance(rank, ir.Fusion):
        values, first = fuse(execution, bindings, rank)
        shown = np.flatnonzero(~np.isnan(values))
        keys = np.rec.fromarrays([-values[shown], first[shown]])
        places = np.unique(keys, return_inverse=True)[1]
    else:
        rows = may_be_shown(execution, bindings, rank, count)
        found = search_values(execution, bindings if rows is None else bindings.take(rows), rank)
        shown = np.flatnonzero(np.asarray(found.is_valid()))
        values = np.asarray(found.drop_null(), np.float64)
        places = _places(-values if isinstance(rank, ir.TextScore) else values, count)
        shown, places = shown[places >= 0], places[places >= 0]
        shown = shown if rows is None else rows[shown]
    if count is not None and count < len(shown):
        last = np.partition(places, count - 1)[count - 1] if count else -1
        kept = places <= last
        shown, places = shown[kept], places[kept]
    return Ranked(bindings.take(shown), places.astype(np.int64))


def _places(values: Floats, count: int | None) -> Numbers:
    """The place of each value, the least first; -1 for those that are surely not among the first `count`."""
    if count is None or count >= len(values) or not count:
        return np.unique(values, return_inverse=True)[1]
    places = np.full(len(values), -1)
    best = values <= np.partition(values, count - 1)[count - 1]
    places[best] = np.unique(values[best], return_inverse=True)[1]
    return places


def rows_by_place(execution: Execution, bindings: Bindings, places: Numbers, ties: Sequence[str]) -> Numbers:
    """The rows in the order of their places; those of one place by the ids of these variables, null first."""
    if len(np.unique(places)) == len(places):
        return np.argsort(places)
    columns = [cast("Entities", bindings.columns[name]) for name in ties]
    ids = [execution.gather(column, ["id"]).column("id").to_pylist() for column in columns]

    def key(row: int) -> tuple[object, ...]:
        return (places[row], *((each[row] is not None, (each[row] or "").encode()) for each in ids))

    return np.array(sorted(range(bindings.count), key=key), np.int64)
