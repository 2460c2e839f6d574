"""How much one actor may have in flight: who asks for more is told when to come back."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from omnigraph.model.errors import Overloaded

if TYPE_CHECKING:
    from collections.abc import Generator

    from omnigraph.server.settings import Limits

RETRY_AFTER_S = 60
ANONYMOUS = "anonymous"


class Admission:
    """Writes in flight and their bytes, by actor. Used on the event loop only, so it needs no lock."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._inflight: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()

    @contextmanager
    def hold(self, actor: str | None, size: int) -> Generator[None]:
        """Count a write while it runs."""
        name = actor or ANONYMOUS
        if self._inflight[name] >= self._limits.actor_inflight_max:
            limit = self._limits.actor_inflight_max
            raise Overloaded(f"{name} has {limit} writes in flight already", retry_after_s=RETRY_AFTER_S)
        if self._bytes[name] + size > self._limits.actor_bytes_max:
            limit = self._limits.actor_bytes_max
            raise Overloaded(f"{name} would have more than {limit} bytes in flight", retry_after_s=RETRY_AFTER_S)
        self._inflight[name] += 1
        self._bytes[name] += size
        try:
            yield
        finally:
            self._inflight[name] -= 1
            self._bytes[name] -= size
            if not self._inflight[name]:
                del self._inflight[name]
                del self._bytes[name]

    @property
    def inflight(self) -> int:
        """Writes in flight."""
        return self._inflight.total()
