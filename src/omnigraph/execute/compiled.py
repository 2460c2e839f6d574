"""Compiled texts: the hash of a schema says that a text still means the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.query import CheckedFile, compile_queries
from omnigraph.storage.lru import LruCache

if TYPE_CHECKING:
    from omnigraph.schema import Catalog

COMPILED_MAX = 128
_compiled_before: LruCache[tuple[str, str, str], CheckedFile] = LruCache(COMPILED_MAX)


def compiled(source: str, source_name: str, catalog: Catalog, schema_hash: str) -> CheckedFile:
    """Compile a text, or take what it compiled to before."""
    key = (source, source_name, schema_hash)
    known = _compiled_before.get(key)
    if known is None:
        known = compile_queries(source, catalog, source_name)
        _compiled_before.put(key, known)
    return known
