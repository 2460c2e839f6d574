"""What happened to a graph: diff, merge, change feed, undo."""

from omnigraph.history.changes import EntityChange
from omnigraph.history.conflicts import ConflictKind, MergeConflict, MergeConflicts, SchemaConflict
from omnigraph.history.images import Image
from omnigraph.history.merge import MergeOptions, MergeResult
from omnigraph.history.resolve import Choice, Resolution, ResolutionInvalid, read_resolution, resolution_of

__all__ = [
    "Choice",
    "ConflictKind",
    "EntityChange",
    "Image",
    "MergeConflict",
    "MergeConflicts",
    "MergeOptions",
    "MergeResult",
    "Resolution",
    "ResolutionInvalid",
    "SchemaConflict",
    "read_resolution",
    "resolution_of",
]
