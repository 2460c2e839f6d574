"""What the parts of one running query share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from omnigraph.execute.bindings import NO_ROW, Entities
from omnigraph.execute.profile import NoProfile, Profile
from omnigraph.query.constants import Constant, value_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import pyarrow as pa

    from omnigraph.embed import Embedder
    from omnigraph.execute.access import Access, Numbers
    from omnigraph.execute.watch import Watch
    from omnigraph.query import ir
    from omnigraph.query.params import Value
    from omnigraph.schema import Catalog

_KIND_BITS = 48


@dataclass
class Execution:
    """One query with one access; a run that outgrows its access starts again (`choose.with_access`)."""

    catalog: Catalog
    params: Mapping[str, Value]
    now: datetime
    access: Access
    watch: Watch
    profile: Profile = field(default_factory=NoProfile)
    depth: int | None = None
    """How many rows the query returns at most, skipped ones included: how deep the rankings of a fusion are."""
    embedder: Embedder | None = None
    """Who makes vectors of texts; None: whom the environment names."""
    _keys: dict[str, int] = field(default_factory=dict[str, int])

    def value(self, constant: Constant) -> object:
        """Give the value of a literal, a parameter or the time."""
        return value_of(constant, self.params, self.now)

    def gather(self, entities: Entities, names: Sequence[str]) -> pa.Table:
        """Columns of nodes or edges that may be of several tables; null where there is none."""
        import pyarrow as pa

        if entities.kinds is None:
            return self.access.gather(entities.keys[0], names, entities.ordinals)
        pieces: list[pa.Table] = []
        rows: list[Numbers] = []
        for kind, key in enumerate(entities.keys):
            mine = np.flatnonzero(entities.kinds == kind)
            rows.append(mine)
            pieces.append(self.access.gather(key, names, entities.ordinals[mine]))
        order = np.argsort(np.concatenate(rows), kind="stable")
        return pa.concat_tables(pieces, promote_options="permissive").take(pa.array(order))

    def codes(self, entities: Entities) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """One number for each node or edge, whatever its table; -1 where there is none."""
        numbers = np.array([self._code(key) for key in entities.keys], np.int64) << _KIND_BITS
        high = numbers[0] if entities.kinds is None else numbers[entities.kinds]
        return np.where(entities.ordinals < 0, NO_ROW, high | entities.ordinals)

    def decode(self, codes: Numbers, keys: tuple[str, ...]) -> Entities:
        """The nodes or edges of these tables that such numbers stand for."""
        ordinals = np.where(codes < 0, NO_ROW, codes & ((1 << _KIND_BITS) - 1))
        if len(keys) == 1:
            return Entities(keys, ordinals)
        high = codes >> _KIND_BITS
        kinds = np.zeros(len(codes), np.int8)
        for kind, key in enumerate(keys):
            kinds[high == self._code(key)] = kind
        return Entities(keys, ordinals, kinds)

    def _code(self, key: str) -> int:
        return self._keys.setdefault(key, len(self._keys))


def node_keys(kind: ir.NodeValue) -> tuple[str, ...]:
    """Give the tables a node variable's nodes can be in."""
    return tuple(f"node:{name}" for name in kind.types)
