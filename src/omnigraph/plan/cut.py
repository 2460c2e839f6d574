"""Which of the ordered rows are returned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Cut:
    """`limit` and `offset`."""

    limit: int | None = None
    offset: int = 0

    @property
    def end(self) -> int | None:
        """Give the number of rows after which nothing is needed."""
        return None if self.limit is None else self.limit + self.offset

    def apply(self, query: exp.Select) -> exp.Select:
        """Cut a statement's rows."""
        if self.limit is not None:
            query = query.limit(self.limit)
        return query.offset(self.offset) if self.offset else query
