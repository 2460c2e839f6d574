"""State, snapshots, the publisher, lineage and names: the durable half below the graph."""

from omnigraph.manifest.catalogs import Catalogs, StoredSchema, encode_schema
from omnigraph.manifest.collect import Collected, collect, purge
from omnigraph.manifest.intents import pinned
from omnigraph.manifest.parts import Parts, table_location
from omnigraph.manifest.plan import PublishPlan, TableChange
from omnigraph.manifest.publish import Published
from omnigraph.manifest.refs import BranchRef, TagRef
from omnigraph.manifest.repository import Repository
from omnigraph.manifest.retention import Retention
from omnigraph.manifest.snapshot import Snapshot
from omnigraph.manifest.state import Commit, State, TableState
from omnigraph.manifest.txn import WriteTxn

__all__ = [
    "BranchRef",
    "Catalogs",
    "Collected",
    "Commit",
    "Parts",
    "PublishPlan",
    "Published",
    "Repository",
    "Retention",
    "Snapshot",
    "State",
    "StoredSchema",
    "TableChange",
    "TableState",
    "TagRef",
    "WriteTxn",
    "collect",
    "encode_schema",
    "pinned",
    "purge",
    "table_location",
]
