"""Which query of a text is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from omnigraph.query.check.queries import CheckedFile
    from omnigraph.query.ir import CheckedQuery


def select_query(queries: CheckedFile, name: str | None) -> CheckedQuery:
    """Find a query by its name; without one the text must have exactly one."""
    known = [query.name for query in queries.queries]
    if name is None:
        if len(known) == 1:
            return queries.queries[0]
        what = "the text has no query" if not known else "the text has multiple queries; pass --name"
        raise BadRequest(f"{what}: {', '.join(known)}" if known else what)
    found = queries.query(name)
    if found is None:
        hint = suggest(name, known) or f"queries here: {', '.join(known)}"
        raise BadRequest(f"query '{name}' not found; {hint}", query=name)
    return found
