"""A result over the wire as an Arrow stream: rows with their exact types, and what is known about them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from omnigraph.execute.result import Link, Result
from omnigraph.model.errors import Unavailable
from omnigraph.model.types import PropType
from omnigraph.query import ir

if TYPE_CHECKING:
    from omnigraph.query.ir import ValueType

MEDIA = "application/vnd.apache.arrow.stream"
_KEY = b"omnigraph.result"
_VALUES = {"node": ir.NodeValue, "edge": ir.EdgeValue, "path": ir.PathValue, "null": ir.NullValue}


def encode_result(result: Result) -> bytes:
    """Write a result."""
    facts = {
        "query_name": result.query_name,
        "graph_commit_id": result.graph_commit_id,
        "branch": result.branch,
        "snapshot": result.snapshot,
        "types": [_type_to_json(one) for one in result.types],
        "links": [asdict(link) for link in result.links],
    }
    schema = result.table.schema
    table = result.table.replace_schema_metadata({**(schema.metadata or {}), _KEY: orjson.dumps(facts)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def decode_result(body: bytes) -> Result:
    """Read a result back."""
    try:
        table = pa.ipc.open_stream(body).read_all()
        facts = orjson.loads((table.schema.metadata or {})[_KEY])
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise Unavailable(f"the server's answer cannot be read: {error}") from None
    others = {key: value for key, value in (table.schema.metadata or {}).items() if key != _KEY}
    return Result(
        table.replace_schema_metadata(others or None),
        facts["query_name"],
        facts["graph_commit_id"],
        facts["branch"],
        facts["snapshot"],
        tuple(_type_of(one) for one in facts["types"]),
        tuple(_link_of(one) for one in facts["links"]),
    )


def _link_of(data: dict[str, Any]) -> Link:
    data["types"] = tuple(data["types"])
    return Link(**data)


def _type_to_json(kind: ValueType) -> dict[str, Any]:
    if isinstance(kind, PropType):
        return {"of": "property", **kind.to_json()}
    name = next(name for name, known in _VALUES.items() if known is type(kind))
    return {"of": name, **asdict(kind)}


def _type_of(data: dict[str, Any]) -> ValueType:
    name = data.pop("of")
    if name == "property":
        return PropType.from_json(data)
    if "types" in data:
        data["types"] = tuple(data["types"])
    return _VALUES[name](**data)
