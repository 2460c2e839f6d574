"""Texts that were compiled and queries that were planned before.

The hash of a schema says that a text still means the same, and the sizes a plan was made for that it is still the best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.plan.reads import plan_read
from omnigraph.query import CheckedFile, CheckedRead, compile_queries
from omnigraph.storage.lru import LruCache

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.plan.estimate import Sizes
    from omnigraph.plan.steps import ReadPlan
    from omnigraph.schema import Catalog

COMPILED_MAX = 128


@dataclass(frozen=True)
class _Planned:
    """A plan, and the sizes of tables it depends on."""

    read: CheckedRead
    sizes: Mapping[str, int]
    plan: ReadPlan


class _Asked:
    """Sizes of tables that remember which were asked for."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self.answers: dict[str, int] = {}

    def rows(self, key: str) -> int:
        """Give the number of rows of a table."""
        return self.answers.setdefault(key, self._sizes.rows(key))


_compiled_before: LruCache[tuple[str, str, str], CheckedFile] = LruCache(COMPILED_MAX)
_planned_before: LruCache[int, _Planned] = LruCache(COMPILED_MAX)
"""By the identity of the query, which is what `compiled` gives again; a plan keeps its query alive."""


def compiled(source: str, source_name: str, catalog: Catalog, schema_hash: str) -> CheckedFile:
    """Compile a text, or take what it compiled to before."""
    key = (source, source_name, schema_hash)
    known = _compiled_before.get(key)
    if known is None:
        known = compile_queries(source, catalog, source_name)
        _compiled_before.put(key, known)
    return known


def planned(read: CheckedRead, catalog: Catalog, sizes: Sizes) -> ReadPlan:
    """Plan a query of this catalog, or take the plan that was made for tables of the same sizes."""
    known = _planned_before.get(id(read))
    if known is None or known.read is not read or any(sizes.rows(key) != rows for key, rows in known.sizes.items()):
        asked = _Asked(sizes)
        known = _Planned(read, asked.answers, plan_read(read, catalog, asked))
        _planned_before.put(id(read), known)
    return known.plan
