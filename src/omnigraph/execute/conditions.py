"""Conditions on one variable, tested on rows of its table before they become rows of the pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnigraph.execute.bindings import Bindings, Entities
from omnigraph.execute.values import true_rows
from omnigraph.query import ir
from omnigraph.query.conditions import conjoin, conjuncts
from omnigraph.query.walk import walk

if TYPE_CHECKING:
    from omnigraph.execute.access import Numbers
    from omnigraph.execute.bindings import Mask
    from omnigraph.execute.execution import Execution

_BEYOND_SCANS = (ir.TextMatch, ir.Nearest, ir.TextScore, ir.Fusion, ir.Entity, ir.SameNode)
"""What has a value only for rows of the pattern: searches, and nodes as a whole."""


def scan_rows(
    execution: Execution, variable: str, key: str, condition: ir.Expression | None, *, must_exist: bool = True
) -> Numbers:
    """Ordinals of the rows of a table that meet a condition; of some that are no rows, if these need not exist."""
    if condition is None:
        return execution.access.scan(key, None)
    plain, searches = divide(condition)
    found = execution.access.scan(key, plain, must_exist=must_exist)
    return found if searches is None else found[_search(execution, variable, key, searches, found)]


def keep_rows(execution: Execution, variable: str, key: str, condition: ir.Expression, ordinals: Numbers) -> Mask:
    """For each ordinal, whether its row meets a condition. Rows that are asked for repeatedly are tested once."""
    plain, searches = divide(condition)
    kept = ordinals >= 0
    if plain is not None:
        kept &= _each_once(execution, key, plain, ordinals)
    if searches is not None:
        rows = np.flatnonzero(kept)
        kept[rows] = _search(execution, variable, key, searches, ordinals[rows])
    return kept


def divide(condition: ir.Expression) -> tuple[ir.Expression | None, ir.Expression | None]:
    """Divide a condition into what a scan can test and what needs more, as a search does."""
    plain: list[ir.Expression] = []
    searches: list[ir.Expression] = []
    for part in conjuncts(condition):
        needs_more = any(isinstance(each, _BEYOND_SCANS) for each in walk(part))
        (searches if needs_more else plain).append(part)
    return conjoin(plain), conjoin(searches)


def _each_once(execution: Execution, key: str, condition: ir.Expression, ordinals: Numbers) -> Mask:
    count = execution.access.count(key)
    if len(ordinals) > count:
        distinct = np.unique(ordinals)
        known = np.zeros(int(distinct[-1]) + 2, np.bool_)
        known[distinct] = execution.access.keep(key, condition, distinct)
        return known[ordinals]
    return execution.access.keep(key, condition, ordinals)


def _search(execution: Execution, variable: str, key: str, condition: ir.Expression, ordinals: Numbers) -> Mask:
    rows = Bindings(len(ordinals), {variable: Entities((key,), ordinals)})
    return true_rows(execution, rows, condition)
