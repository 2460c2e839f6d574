"""The engine and the oracle agree on random expressions over random rows."""

import math
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from omnigraph.execute.rows import compute, type_of
from omnigraph.model.errors import BadRequest
from omnigraph.plan import Dialect, Scope, lower, render
from omnigraph.query import ir
from tests.plan import generate
from tests.plan.rows import NOW, rows
from tests.support.oracle import Oracle, Overflow

ROWS = st.lists(generate.row(), min_size=4, max_size=4)


def _name(node: ir.Expression) -> str:
    return node.function if isinstance(node, ir.Call) else type(node).__name__


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, float) and isinstance(found, float):
        return (
            (math.isnan(found) and math.isnan(wanted)) or found == wanted or math.isclose(found, wanted, rel_tol=1e-15)
        )
    return found == wanted and type(found) is type(wanted)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(generate.grown(3), min_size=5, max_size=5), ROWS, generate.parameters())
def test_engine_agrees_with_oracle(
    nodes: list[ir.Expression], table: list[dict[str, Any]], params: dict[str, Any]
) -> None:
    arrow = rows(*table)
    for node in nodes:
        check(node, arrow, table, params)


def check(node: ir.Expression, arrow: pa.Table, table: list[dict[str, Any]], params: dict[str, Any]) -> None:
    try:
        wanted = [Oracle(row, params, NOW).value(node) for row in table]
    except (Overflow, OverflowError):
        wanted = None
    try:
        column = compute(arrow, {"value": node}, params, NOW).column("value")
    except BadRequest:
        assert wanted is None
        return
    # Whether an overflow is reached depends on the order of evaluation: `false and …` may skip it.
    if wanted is None:
        return
    event(f"{_name(node)} {'null' if wanted[0] is None else 'value'}")
    assert column.type == type_of(node)
    found = column.to_pylist()
    assert all(same(*pair) for pair in zip(found, wanted, strict=True)), (found, wanted)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(generate.grown(3))
def test_renders_for_spark(node: ir.Expression) -> None:
    assert render(lower(node, Scope()), Dialect.SPARK)
