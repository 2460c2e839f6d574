"""Rows as people and programs see them: properties by name, dates as text, bytes as base64."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnigraph.export.values import json_values
from omnigraph.model.types import MANAGED_PREFIX, blob_uri_column
from omnigraph.schema.catalog import EDGE_ENDS

if TYPE_CHECKING:
    import pyarrow as pa

    from omnigraph.schema import EdgeType, NodeType, Property


@dataclass(frozen=True)
class Image:
    """An entity as it is or was."""

    properties: dict[str, Any]
    """With its `id`; every value as JSON has it."""
    endpoints: tuple[str, str] | None = None
    """Where an edge comes from and goes to."""

    def value(self, name: str) -> Any:
        """A property, or an end of an edge; None if it has none of that name."""
        if self.endpoints is not None and name in EDGE_ENDS:
            return self.endpoints[EDGE_ENDS.index(name)]
        return self.properties.get(name)

    def to_json(self) -> dict[str, Any]:
        """`ChangeImageOutput`."""
        if self.endpoints is None:
            return {"properties": self.properties}
        return {"properties": self.properties, "endpoints": {"from": self.endpoints[0], "to": self.endpoints[1]}}


def images(table: NodeType | EdgeType, rows: pa.Table) -> list[Image]:
    """Rows of a type, one image each."""
    columns: dict[str, list[Any]] = {"id": rows.column("id").to_pylist()}
    for each in table.properties:
        columns[each.name] = _values(each, rows)
    names = list(columns)
    found = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if "src" not in table.fields:
        return [Image(properties) for properties in found]
    ends = zip(rows.column("src").to_pylist(), rows.column("dst").to_pylist(), strict=True)
    return [Image(properties, pair) for properties, pair in zip(found, ends, strict=True)]


def _values(declared: Property, rows: pa.Table) -> list[Any]:
    if declared.type.is_blob:
        values = rows.column(declared.name).to_pylist()
        uris = rows.column(blob_uri_column(declared.name)).to_pylist()
        return [uri if data is None else _text(data) for data, uri in zip(values, uris, strict=True)]
    return json_values(rows.column(declared.name), declared.type)


def _text(data: bytes) -> str:
    return MANAGED_PREFIX + base64.b64encode(data).decode()
