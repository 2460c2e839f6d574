"""Somebody else was first: look again, then retry."""

from __future__ import annotations

from omnigraph.model.errors.root import OmniGraphError


class Conflict(OmniGraphError):
    """Somebody else was first; the same request may succeed on a fresh look."""

    code = "conflict"


class AlreadyExists(Conflict):
    """Something of that name is there already."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"{kind} {name!r} already exists", kind=kind, name=name)


class ReadSetConflict(Conflict):
    """Content this write depended on has moved since it was read."""

    def __init__(self, member: str, *, expected: object, actual: object) -> None:
        super().__init__(
            f"{member} changed while this write was prepared (expected {expected}, found {actual}); "
            "read again and retry",
            member=member,
            expected=expected,
            actual=actual,
        )
        self.member, self.expected, self.actual = member, expected, actual


class TableConflict(Conflict):
    """A table this write changes has moved in a way that cannot be proven harmless."""

    def __init__(self, table_key: str, *, expected: int, actual: int, reason: str) -> None:
        super().__init__(
            f"table {table_key} moved from version {expected} to {actual} while this write was prepared "
            f"({reason}); read again and retry",
            table_key=table_key,
            expected=expected,
            actual=actual,
            reason=reason,
        )
        self.table_key, self.expected, self.actual = table_key, expected, actual


class KeyConflict(Conflict):
    """A strict insert meets an id that is there already. Carries the first one and how many there are."""

    def __init__(self, table_key: str, entity_id: str, *, count: int = 1, place: str | None = None) -> None:
        kind, _, name = table_key.partition(":")
        more = f" (and {count - 1} more)" if count > 1 else ""
        where = f"{place}: " if place else ""
        super().__init__(
            f"{where}{kind} {name} {entity_id!r} exists already{more}; nothing was written; "
            "load with mode merge to replace",
            entity_kind=kind,
            type_name=name,
            entity_id=entity_id,
            count=count,
        )
        self.table_key, self.entity_id = table_key, entity_id


class BranchBusy(Conflict):
    """The branch is being deleted."""

    def __init__(self, name: str) -> None:
        super().__init__(f"branch {name!r} is being deleted; retry when that is done", branch=name)


class Contention(Conflict):
    """Still losing the race after the last permitted attempt. Nothing was written."""

    def __init__(self, branch: str, attempts: int) -> None:
        super().__init__(
            f"branch {branch!r} is too busy: lost {attempts} races in a row, nothing was written; retry",
            branch=branch,
            attempts=attempts,
        )
