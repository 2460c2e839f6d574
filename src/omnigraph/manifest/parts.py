"""What a repository is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnigraph.manifest.maintain import IndexHook, no_indexes
from omnigraph.model.hashing import fnv1a64

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.model.clock import Runtime
    from omnigraph.storage.durable import Durability
    from omnigraph.storage.interface import Tables
    from omnigraph.storage.store import Store


PROBES = "__probe"
"""Where objects are written only to see what the store does with them."""


@dataclass(frozen=True)
class Parts:
    """What a repository is made of; a simulation brings its own."""

    uri: str
    store: Store
    tables: Tables
    runtime: Runtime
    durability: Durability
    index_hook: IndexHook = no_indexes
    auto_fold: bool = True
    options: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """What another process needs to open the same store."""


def table_location(key: str, unique: str) -> str:
    """A folder for a new table. The unique part keeps apart what racing or later creations of one name make."""
    kind, _, name = key.partition(":")
    return f"{kind}s/{fnv1a64(name):016x}-{unique.lower()}"
