"""The entry of a stored query in the catalogue that clients and tools list."""

from __future__ import annotations

from omnigraph.query import ir
from omnigraph.query.operation import describe_value


def catalogue_entry(query: ir.CheckedQuery) -> dict[str, object]:
    """Give name, texts and parameters of a query, as a JSON object."""
    entry: dict[str, object] = {"name": query.name, "tool_name": query.name}
    if query.description is not None:
        entry["description"] = query.description
    if query.instruction is not None:
        entry["instruction"] = query.instruction
    entry["mutation"] = isinstance(query, ir.CheckedMutation)
    entry["params"] = [describe_value(p.name, p.type, p.type.nullable) for p in query.parameters]
    return entry
