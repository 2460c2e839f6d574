"""The registry: the journal that turns names into branches and tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.manifest.journal import Journal, Place
from omnigraph.manifest.refs import Refs, decode_refs, encode_refs
from omnigraph.model.errors import Contention, CorruptObject, NotAGraph

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.manifest.state import Stripped
    from omnigraph.model.clock import Runtime

REFS = "__refs"
LOSSES_MAX = 100


class Registry(Journal[Refs]):
    """Names of a graph as a process knows them."""

    def __init__(self, place: Place, runtime: Runtime, uri: str) -> None:
        super().__init__(place, REFS, 0)
        self._runtime = runtime
        self._uri = uri

    def encode(self, value: Refs) -> bytes:
        """To bytes."""
        return encode_refs(value)

    def decode(self, data: bytes, number: int) -> Refs | Stripped:
        """From bytes."""
        where = self.chain.path(number)
        entry = decode_refs(data, where)
        if entry.number != number:
            raise CorruptObject(where, f"it says it is number {entry.number}")
        return entry

    def missing(self) -> Exception:
        """There is no registry, so there is no graph."""
        return NotAGraph(self._uri)

    def update(self, change: Callable[[Refs], Refs | None], refs: Refs | None = None) -> Refs:
        """Change the registry on exactly the number read; `change` is asked again after a lost race. None: nothing."""
        refs = refs if refs is not None else self.head()
        for losses in range(LOSSES_MAX):
            changed = change(refs)
            if changed is None:
                return refs
            proposal = changed.next(self._runtime.ids.ulid())
            newer = self.append(proposal)
            if newer is None:
                return proposal
            refs = newer
            self._runtime.clock.sleep(self._runtime.ids.random() * 0.01 * max(0, 5 - losses))
        raise Contention("the registry", LOSSES_MAX)
