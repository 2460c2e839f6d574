"""Values of expressions over the rows of a pattern, and nodes and paths as objects. What needs an engine loads one."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from omnigraph.execute.bindings import Bindings, Entities, Scores, Trails
from omnigraph.execute.rows import type_of
from omnigraph.query import ir
from omnigraph.query.constants import Constant
from omnigraph.schema.arrow import arrow_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from omnigraph.execute.bindings import Mask
    from omnigraph.execute.execution import Execution
    from omnigraph.schema.catalog import Property

_IDS = pa.list_(pa.string())


def evaluate(
    execution: Execution,
    bindings: Bindings,
    expressions: Iterable[ir.Expression],
    extra: Mapping[str, pa.Array] | None = None,
) -> list[pa.ChunkedArray]:
    """Give a column for each expression. What needs no computing does not pass through an engine."""
    wanted = list(expressions)
    found = {n: column for n, each in enumerate(wanted) if (column := _plain(execution, bindings, each)) is not None}
    computed = [n for n in range(len(wanted)) if n not in found]
    if computed:
        from omnigraph.execute.statements import compute_columns

        columns = compute_columns(execution, bindings, [wanted[n] for n in computed], extra or {})
        found.update(zip(computed, columns, strict=True))
    return [found[n] for n in range(len(wanted))]


def true_rows(
    execution: Execution, bindings: Bindings, condition: ir.Expression, extra: Mapping[str, pa.Array] | None = None
) -> Mask:
    """Tell for every row whether a condition is true: neither false nor null."""
    (found,) = evaluate(execution, bindings, [condition], extra)
    return np.asarray(pc.fill_null(found.combine_chunks(), fill_value=False))


def _plain(execution: Execution, bindings: Bindings, value: ir.Expression) -> pa.ChunkedArray | None:
    match value:
        case ir.Property() | ir.Identity():
            name = value.name if isinstance(value, ir.Property) else value.field.value
            entities = bindings.columns[cast("str", value.variable)]
            assert isinstance(entities, Entities)
            return execution.gather(entities, [name]).column(name)
        case ir.Entity(type=ir.NodeValue() as kind):
            return node_objects(execution, cast("Entities", bindings.columns[value.variable]), kind)
        case ir.Entity():
            return path_objects(cast("Trails", bindings.columns[value.variable]))
        case ir.ColumnRef(name=name) if name in bindings.columns:
            return pa.chunked_array([cast("Scores", bindings.columns[name]).values])
        case ir.Nearest() | ir.TextScore() | ir.TextMatch() | ir.Fusion():
            from omnigraph.execute.searching import search_values

            return pa.chunked_array([search_values(execution, bindings, value)])
        case _ if isinstance(value, Constant):
            given = execution.value(value)
            one = pa.array([list(given) if isinstance(given, tuple) else given], type_of(value))
            return pa.chunked_array([one.take(pa.array(np.zeros(bindings.count, np.int64)))])
        case _:
            return None


# -- objects -------------------------------------------------------------------------------------------


def node_objects(execution: Execution, nodes: Entities, kind: ir.NodeValue) -> pa.ChunkedArray:
    """Nodes as objects: `@id`, then their properties; vectors and blobs are left out."""
    shown = [each for each in _declared(execution, kind) if not each.type.is_vector and not each.type.is_blob]
    names = [each.name for each in shown]
    rows = execution.gather(nodes, ["id", *names]).combine_chunks()
    fields = [pa.field("@id", pa.string()), *(pa.field(each.name, arrow_type(each.type)) for each in shown)]
    columns = [_one(rows.column(name)) for name in ("id", *names)]
    missing = pa.array(nodes.ordinals < 0)
    return pa.chunked_array([pa.StructArray.from_arrays(columns, fields=fields, mask=missing)])


def path_objects(trails: Trails) -> pa.ChunkedArray:
    """Paths as objects: ids of nodes and edges."""
    missing = trails.nodes.is_null()
    found = pa.StructArray.from_arrays([trails.nodes, trails.edges], names=["nodes", "edges"], mask=missing)
    return pa.chunked_array([found])


def trails_of(objects: pa.ChunkedArray) -> Trails:
    """Paths that went through an engine as objects."""
    whole = cast("pa.StructArray", _one(objects))
    lists = [whole.field(name) for name in ("nodes", "edges")]
    missing = whole.is_null()
    nodes, edges = (pc.call_function("if_else", [missing, None, each.cast(_IDS)]) for each in lists)
    return Trails(cast("pa.ListArray", nodes), cast("pa.ListArray", edges))


def _declared(execution: Execution, kind: ir.NodeValue) -> tuple[Property, ...]:
    if kind.interface is not None:
        return execution.catalog.interface_types[kind.interface].properties
    return execution.catalog.node_types[kind.types[0]].properties


def _one(column: pa.ChunkedArray) -> pa.Array:
    found = column.combine_chunks()
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
