"""State, snapshots, the publisher, lineage and names: the durable half below the graph."""

from omnigraph.manifest.collect import Collected, Retention, collect
from omnigraph.manifest.plan import MustRestage, PublishPlan, Read, TableChange
from omnigraph.manifest.publish import Published
from omnigraph.manifest.refs import BranchRef, Point, TagRef
from omnigraph.manifest.repository import SCHEMAS, Parts, Repository
from omnigraph.manifest.snapshot import Snapshot
from omnigraph.manifest.state import Commit, State, TableState
from omnigraph.manifest.txn import WriteTxn

__all__ = [
    "SCHEMAS",
    "BranchRef",
    "Collected",
    "Commit",
    "MustRestage",
    "Parts",
    "Point",
    "PublishPlan",
    "Published",
    "Read",
    "Repository",
    "Retention",
    "Snapshot",
    "State",
    "TableChange",
    "TableState",
    "TagRef",
    "WriteTxn",
    "collect",
]
