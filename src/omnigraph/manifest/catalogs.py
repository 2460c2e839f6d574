"""Schemas of a graph by their hash. An object that is named by its content never changes: it is read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from omnigraph.model.errors import CorruptObject
from omnigraph.schema import Catalog, decode_catalog, encode_catalog
from omnigraph.storage.lru import LruCache

if TYPE_CHECKING:
    from omnigraph.storage.store import Store

SCHEMAS = "__schema"
_REMEMBERED_MAX = 64


@dataclass(frozen=True)
class StoredSchema:
    """A schema as the graph keeps it: the text it was written as, and what it declares."""

    source: str
    catalog: Catalog


def schema_path(schema_hash: str) -> str:
    """Where a schema is kept."""
    return f"{SCHEMAS}/{schema_hash}"


def encode_schema(schema: StoredSchema) -> bytes:
    """The bytes that are kept."""
    return orjson.dumps({"source": schema.source, "catalog": encode_catalog(schema.catalog).decode()})


class Catalogs:
    """The schemas of one graph, each read at most once per process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: LruCache[str, StoredSchema] = LruCache(_REMEMBERED_MAX)

    def get(self, schema_hash: str) -> StoredSchema:
        """The schema with this hash."""
        known = self._known.get(schema_hash)
        return known if known is not None else self._read(schema_hash)

    def put(self, schema_hash: str, schema: StoredSchema) -> None:
        """Keep a schema, before anything refers to it."""
        self._store.put(schema_path(schema_hash), encode_schema(schema))
        self.know(schema_hash, schema)

    def know(self, schema_hash: str, schema: StoredSchema) -> None:
        """Remember a schema that is kept already."""
        self._known.put(schema_hash, schema)

    def _read(self, schema_hash: str) -> StoredSchema:
        path = schema_path(schema_hash)
        data = self._store.get(path)
        if data is None:
            raise CorruptObject(path, "it is missing")
        try:
            stored = orjson.loads(data)
            schema = StoredSchema(str(stored["source"]), decode_catalog(str(stored["catalog"]).encode()))
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptObject(path, "it is no schema") from error
        self._known.put(schema_hash, schema)
        return schema
