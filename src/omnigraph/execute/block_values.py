"""The value that an aggregate block computes over its matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
from sqlglot import exp

from omnigraph.execute.statements import SOURCE, WEIGHT, RowSource, run_statement
from omnigraph.plan.aggregates import lower_aggregate
from omnigraph.plan.reads import ROW
from omnigraph.query import ir

if TYPE_CHECKING:
    from omnigraph.execute.bindings import Bindings
    from omnigraph.execute.execution import Execution

_SEED = "seed"


def block_values(
    execution: Execution, test: ir.BlockTest, argument: ir.Expression, found: Bindings, count: int
) -> pa.Array:
    """One value for each seed; nothing found is 0 for a count, null for the rest."""
    assert found.seeds is not None
    aggregate = ir.Aggregate(test.function, argument, test.distinct, test.type)
    if not argument.type.nullable and test.function == "count" and not test.distinct:
        aggregate = ir.Aggregate("count", ROW, distinct=False, type=test.type)
    source = RowSource(execution, found, {_SEED: pa.array(found.seeds)})
    scope = source.scope()
    weight = exp.column(WEIGHT) if found.weights is not None else None
    value = exp.alias_(lower_aggregate(aggregate, scope, weight), "value")
    statement = exp.select(exp.column(_SEED), value).from_(SOURCE).group_by(exp.column(_SEED))
    result = run_statement(source, scope, statement, weights=True)
    seeds = np.asarray(result.column(_SEED))
    places = np.full(count, -1)
    places[seeds] = np.arange(len(seeds))
    values = cast("pa.Array", result.column("value").combine_chunks()).take(pa.array(places, mask=places < 0))
    return values.fill_null(0) if test.function == "count" else values
