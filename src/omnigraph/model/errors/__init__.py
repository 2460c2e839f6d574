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
│   ├── PointNotFound
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

from omnigraph.model.errors.bad_request import (
    BadRequest,
    CursorRejected,
    FormatTooNew,
    InvalidName,
    InvalidUri,
    NotAGraph,
)
from omnigraph.model.errors.conflict import (
    AlreadyExists,
    BranchBusy,
    Conflict,
    Contention,
    KeyConflict,
    ReadSetConflict,
    TableConflict,
)
from omnigraph.model.errors.not_found import (
    BranchNotFound,
    ChangeFeedGap,
    CommitNotFound,
    NotFound,
    PointNotFound,
    SnapshotReclaimed,
    TableNotFound,
    TagNotFound,
)
from omnigraph.model.errors.refused import (
    Cancelled,
    Denied,
    Fenced,
    HeadMoved,
    PreconditionFailed,
    ResourceLimit,
    TimedOut,
    Unauthenticated,
)
from omnigraph.model.errors.root import OmniGraphError
from omnigraph.model.errors.unavailable import (
    CorruptObject,
    EmbeddingUnavailable,
    OutcomeUnknown,
    Overloaded,
    SparkFailed,
    SparkUnavailable,
    StoreUnavailable,
    StoreUnsafe,
    Unavailable,
)

__all__ = [
    "AlreadyExists",
    "BadRequest",
    "BranchBusy",
    "BranchNotFound",
    "Cancelled",
    "ChangeFeedGap",
    "CommitNotFound",
    "Conflict",
    "Contention",
    "CorruptObject",
    "CursorRejected",
    "Denied",
    "EmbeddingUnavailable",
    "Fenced",
    "FormatTooNew",
    "HeadMoved",
    "InvalidName",
    "InvalidUri",
    "KeyConflict",
    "NotAGraph",
    "NotFound",
    "OmniGraphError",
    "OutcomeUnknown",
    "Overloaded",
    "PointNotFound",
    "PreconditionFailed",
    "ReadSetConflict",
    "ResourceLimit",
    "SnapshotReclaimed",
    "SparkFailed",
    "SparkUnavailable",
    "StoreUnavailable",
    "StoreUnsafe",
    "TableConflict",
    "TableNotFound",
    "TagNotFound",
    "TimedOut",
    "Unauthenticated",
    "Unavailable",
]
