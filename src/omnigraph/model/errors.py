"""The one error tree, grouped by what a caller does about it.

OmniGraphError
├── BadRequest               the request is wrong: change it
│   ├── InvalidName              a branch, tag or graph name that is not allowed
│   ├── InvalidUri               an address that is no graph address
│   ├── NotAGraph                the address holds no graph
│   ├── FormatTooNew             written by a newer omnigraph: upgrade first
│   ├── CursorRejected           a cursor or page token of another graph, branch or filter
│   ├── ResolutionInvalid        a merge resolution that does not fit
│   ├── LanguageError            schema or query text is wrong; carries diagnostics
│   └── ValidationFailed         rows break rules of the schema; carries violations
├── NotFound                 the named thing is not there
│   ├── BranchNotFound
│   ├── TagNotFound
│   ├── CommitNotFound
│   ├── TableNotFound
│   └── SnapshotReclaimed        it was there; cleanup has reclaimed it
│       └── ChangeFeedGap            changes nobody can read any more; carries the first such commit
├── Conflict                 somebody else was first: look again, then retry
│   ├── AlreadyExists            graph, branch or tag of that name
│   ├── ReadSetConflict          content this write depended on has moved
│   ├── TableConflict            a table this write changes has moved
│   ├── KeyConflict              a strict insert meets an id that is there already
│   ├── MergeConflicts           two branches changed the same; carries all conflicts
│   ├── SchemaConflict           two schema changes do not go together
│   ├── BranchBusy               the branch is being deleted
│   └── Contention               still losing after the last permitted attempt
├── PreconditionFailed       the caller's own condition does not hold
│   ├── HeadMoved                if_commit names another commit than the head
│   └── Fenced                   an operator shut out writers that opened before
├── Denied                   no permission, or wrong credentials
│   └── Unauthenticated          no token, or one nobody knows
├── ResourceLimit            a configured limit was exceeded
│   └── TimedOut                 the time given to a query was over
├── Cancelled                somebody called the work off
└── Unavailable              the store did not do its part
    ├── Overloaded               too much at once: wait, then retry
    ├── StoreUnavailable         it did not answer, or answered nonsense
    ├── EmbeddingUnavailable     the provider of embeddings did not answer, or answered nonsense
    ├── StoreUnsafe              it ignores create-if-absent: commits would be lost
    ├── SparkUnavailable         Spark or its Java is not there, or did not start
    ├── SparkFailed              a job of Spark failed after all its attempts
    ├── OutcomeUnknown           a write may or may not have landed; carries its commit id
    └── CorruptObject            an object cannot be decoded

Every error carries its facts as attributes and in `facts`; the text is made from them.
"""

from __future__ import annotations

from typing import ClassVar


class OmniGraphError(Exception):
    """Root of every error this package raises on purpose."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.message = message
        self.facts: dict[str, object] = facts

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel between processes (Spark tasks, pools) without losing their facts."""
        return _revive, (type(self), self.message, self.facts, self.__dict__)


def _revive(
    kind: type[OmniGraphError], message: str, facts: dict[str, object], state: dict[str, object]
) -> OmniGraphError:
    error = kind.__new__(kind)
    OmniGraphError.__init__(error, message, **facts)
    error.__dict__.update(state)
    return error


# -- bad request ---------------------------------------------------------------------------------------


class BadRequest(OmniGraphError):
    """The request is wrong; the same request will never succeed."""

    code = "bad_request"


class InvalidName(BadRequest):
    """A name that is not allowed for what it names."""

    def __init__(self, kind: str, name: str, reason: str) -> None:
        super().__init__(f"{name!r} is not a valid {kind} name: {reason}", kind=kind, name=name, reason=reason)


class CursorRejected(BadRequest):
    """A cursor or page token that was not made for this."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"change cursor rejected: {reason}", reason=reason)


class InvalidUri(BadRequest):
    """An address that cannot be the address of a graph."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(f"cannot use {uri!r} as a graph address: {reason}", uri=uri, reason=reason)


class NotAGraph(BadRequest):
    """The address is reachable but holds no graph."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"there is no graph at {uri}; create one with 'omnigraph init --schema FILE {uri}'", uri=uri)


class FormatTooNew(BadRequest):
    """The graph was written by a newer release."""

    def __init__(self, where: str, found: int, known: int) -> None:
        super().__init__(
            f"{where} has format {found}, this release knows formats up to {known}: upgrade omnigraph first",
            where=where,
            found=found,
            known=known,
        )


# -- not found -----------------------------------------------------------------------------------------


class NotFound(OmniGraphError):
    """The named thing does not exist."""

    code = "not_found"


class BranchNotFound(NotFound):
    """No live branch has this name."""

    def __init__(self, name: str, known: tuple[str, ...] = ()) -> None:
        near = f"; branches here: {', '.join(known[:10])}{' …' if len(known) > 10 else ''}" if known else ""
        super().__init__(f"branch {name!r} not found{near}", branch=name)


class TagNotFound(NotFound):
    """No tag has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"tag {name!r} not found", tag=name)


class CommitNotFound(NotFound):
    """No branch's lineage has this commit or version."""

    def __init__(self, commit: str) -> None:
        super().__init__(f"commit {commit!r} not found in any live branch", commit=commit)


class TableNotFound(NotFound):
    """The snapshot has no such node or edge type."""

    def __init__(self, table_key: str) -> None:
        super().__init__(f"this snapshot has no table {table_key!r}", table_key=table_key)


class SnapshotReclaimed(NotFound):
    """The snapshot existed, and cleanup has reclaimed its files."""

    code = "snapshot_reclaimed"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} has been reclaimed by cleanup and can no longer be read", what=what)


class ChangeFeedGap(SnapshotReclaimed):
    """Changes that a reader has not had yet were reclaimed: only a new baseline helps."""

    code = "change_feed_gap"

    def __init__(self, first_unreadable_commit: str, cursor: str | None = None) -> None:
        known = {"cursor": cursor} if cursor is not None else {}
        NotFound.__init__(
            self,
            f"the changes of commit {first_unreadable_commit} have been reclaimed by cleanup; "
            "take a new baseline and go on from its cursor",
            change_feed_gap={**known, "first_unreadable_commit_id": first_unreadable_commit},
        )
        self.first_unreadable_commit, self.cursor = first_unreadable_commit, cursor


# -- conflict ------------------------------------------------------------------------------------------


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


# -- precondition failed -------------------------------------------------------------------------------


class PreconditionFailed(OmniGraphError):
    """A condition the caller set does not hold; never retried for them."""

    code = "precondition_failed"


class HeadMoved(PreconditionFailed):
    """`if_commit` names another commit than the branch's head."""

    def __init__(self, branch: str, *, expected: str, found: str) -> None:
        super().__init__(
            f"branch {branch!r} is at commit {found}, not at {expected}; nothing was written",
            branch=branch,
            expected=expected,
            found=found,
        )
        self.expected, self.found = expected, found


class Fenced(PreconditionFailed):
    """An operator raised the epoch: writers that opened before are shut out."""

    def __init__(self, branch: str, *, opened_at: int, current: int) -> None:
        super().__init__(
            f"writers of {branch!r} that opened before epoch {current} are shut out (this one opened at "
            f"{opened_at}); open the graph again",
            branch=branch,
            opened_at=opened_at,
            current=current,
        )


# -- denied, limits, unavailable -----------------------------------------------------------------------


class Denied(OmniGraphError):
    """No permission, or the credentials are wrong."""

    code = "forbidden"


class Unauthenticated(Denied):
    """There is no token, or nobody knows it."""

    code = "unauthorized"


class ResourceLimit(OmniGraphError):
    """A configured limit was exceeded; nothing was written."""

    code = "resource_limit"

    def __init__(self, resource: str, *, limit: int, actual: int) -> None:
        super().__init__(
            f"{resource}: {actual} exceeds the limit of {limit}",
            resource=resource,
            limit=limit,
            actual=actual,
        )


class TimedOut(ResourceLimit):
    """A query took longer than it was allowed to."""

    def __init__(self, timeout_s: float) -> None:
        OmniGraphError.__init__(
            self,
            f"the query took longer than {timeout_s:g} s: make it more selective, or allow it more time",
            resource="query time in seconds",
            limit=timeout_s,
            actual=timeout_s,
        )


class Cancelled(OmniGraphError):
    """The work was called off before it was done; nothing was changed."""

    code = "cancelled"

    def __init__(self) -> None:
        super().__init__("the query was cancelled")


class Unavailable(OmniGraphError):
    """The store did not do its part; the request itself may be fine."""

    code = "unavailable"


class Overloaded(Unavailable):
    """Too much is asked for at once; nothing was done."""

    code = "too_many_requests"

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.retry_after_s = retry_after_s


class StoreUnavailable(Unavailable):
    """The store did not answer, or answered with a server error."""


class EmbeddingUnavailable(Unavailable):
    """The provider of embeddings did not answer, or its answer cannot be used; try again later."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"no embeddings from {provider}: {reason}", provider=provider, reason=reason)


class StoreUnsafe(Unavailable):
    """The store accepts a second create of one key: commits would be lost silently, so it is refused."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(f"{uri} cannot hold a graph: {reason}", uri=uri, reason=reason)


class SparkUnavailable(Unavailable):
    """Spark or its Java is not installed, or a session could not be started."""


class SparkFailed(Unavailable):
    """A job failed after all attempts of its tasks. Nothing was written."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Spark could not finish the job, nothing was written: {reason}", reason=reason)


class OutcomeUnknown(Unavailable):
    """A publish may or may not have landed; look the commit up by its id before doing it again."""

    def __init__(self, commit: str, cause: str) -> None:
        super().__init__(
            f"the store stopped answering while commit {commit} was published ({cause}); it may or may "
            f"not have landed: 'omnigraph commit show {commit}' tells",
            commit=commit,
        )
        self.commit = commit


class CorruptObject(Unavailable):
    """An object of the graph cannot be decoded."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} is damaged and cannot be read: {reason}", path=path, reason=reason)
