"""Rules for `@rename_from` among types, and among the properties of one type."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.model.diagnostics import Findings
    from omnigraph.schema.draft import DraftProperty, DraftType


def check_renames(drafts: Iterable[DraftType | DraftProperty], prefix: str, findings: Findings) -> None:
    """Report two that want to take over the same stored one. `prefix` stands before their names in messages."""
    claimed: dict[str, str] = {}
    for draft in drafts:
        if draft.rename_from is None:
            continue
        if draft.rename_from in claimed:
            findings.add(
                f"{prefix}{draft.name} and {prefix}{claimed[draft.rename_from]} "
                f"are both renamed from {draft.rename_from!r}",
                draft.span,
                hint="only one can take over what is stored",
            )
        claimed.setdefault(draft.rename_from, draft.name)
