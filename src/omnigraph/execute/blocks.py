"""Blocks: a pattern looked for once per row. Rows that agree in what the block sees share one look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from omnigraph.execute.bindings import Bindings, Entities
from omnigraph.execute.values import true_rows
from omnigraph.query import ir

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.execute.access import Numbers
    from omnigraph.execute.bindings import Mask, Values
    from omnigraph.execute.execution import Execution
    from omnigraph.plan.steps import PatternPlan, Test, Try

    Run = Callable[[PatternPlan, Bindings], Bindings]

_BLOCK = "block"


def try_block(execution: Execution, bindings: Bindings, step: Try, run: Run) -> Bindings:
    """Put every match beside its row, or nulls where there is none."""
    seeds, inverse = _seeds(execution, bindings, step.outer)
    found = run(step.plan, seeds)
    assert found.seeds is not None
    order = np.argsort(found.seeds, kind="stable")
    sizes = np.bincount(found.seeds, minlength=seeds.count)[inverse]
    starts = np.searchsorted(found.seeds[order], np.arange(seeds.count))[inverse]
    repeats = np.maximum(sizes, 1)
    rows = np.repeat(np.arange(bindings.count), repeats)
    offsets = np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    places = np.where(sizes[rows] > 0, starts[rows] + offsets, -1)
    matches = np.where(places < 0, -1, order[np.maximum(places, 0)]) if len(order) else places
    new: dict[str, Values] = {}
    for variable in step.plan.variables:
        if variable.name in found.columns and variable.name not in step.outer:
            new[variable.name] = found.columns[variable.name].with_nulls(matches)
    extended = bindings.take(rows).with_columns(new)
    if found.weights is None:
        return extended
    counted = np.append(found.weights, 1)  # where nothing is found, at -1, the row counts once
    return extended.weighed(counted[matches])


def test_block(execution: Execution, bindings: Bindings, step: Test, run: Run) -> Bindings:
    """Keep the rows that pass."""
    seeds, inverse = _seeds(execution, bindings, step.outer)
    found = run(step.plan, seeds)
    assert found.seeds is not None
    if step.test is not None:
        return bindings.take(_compared(execution, bindings, step.test, found, seeds.count, inverse))
    matched = np.zeros(seeds.count, np.bool_)
    matched[found.seeds] = True
    wanted = step.kind is ir.BlockKind.EXISTS
    return bindings.take(matched[inverse] == wanted)


def _seeds(execution: Execution, bindings: Bindings, outer: tuple[str, ...]) -> tuple[Bindings, Numbers]:
    """The distinct rows a block starts from, numbered, and for each row which of them is its own."""
    columns = {name: bindings.columns[name] for name in outer}
    entities = [column for column in columns.values() if isinstance(column, Entities)]
    if len(entities) < len(columns) or not entities:
        first, inverse = np.arange(bindings.count), np.arange(bindings.count)
    else:
        first, inverse = _distinct([execution.codes(column) for column in entities])
    seeds = Bindings(len(first), {name: column.take(first) for name, column in columns.items()})
    return Bindings(seeds.count, seeds.columns, None, np.arange(seeds.count)), inverse


def _distinct(codes: list[Numbers]) -> tuple[Numbers, Numbers]:
    combined = np.unique(codes[0], return_inverse=True)[1]
    for more in codes[1:]:
        values, numbers = np.unique(more, return_inverse=True)
        combined = np.unique(combined * len(values) + numbers, return_inverse=True)[1]
    _, first, inverse = np.unique(combined, return_index=True, return_inverse=True)
    return first, inverse


def _compared(
    execution: Execution, bindings: Bindings, test: ir.BlockTest, found: Bindings, count: int, inverse: Numbers
) -> Mask:
    """For each row, whether the value its block computes compares as wanted."""
    values = _block_values(execution, test, found, count).take(pa.array(inverse))
    computed = ir.ColumnRef(_BLOCK, test.type)
    nullable = test.type.nullable or test.value.type.nullable
    condition = ir.Compare(test.operator, computed, test.value, ir.BOOL.optional if nullable else ir.BOOL)
    return true_rows(execution, bindings, condition, {_BLOCK: values})


def _block_values(execution: Execution, test: ir.BlockTest, found: Bindings, count: int) -> pa.Array:
    """One value for each seed."""
    if test.argument is None:
        return pa.array(_counted(found, count))
    from omnigraph.execute.block_values import block_values

    return block_values(execution, test, test.argument, found, count)


def _counted(found: Bindings, count: int) -> Numbers:
    assert found.seeds is not None
    sums = np.zeros(count, np.int64)
    np.add.at(sums, found.seeds, 1 if found.weights is None else found.weights)
    return sums
