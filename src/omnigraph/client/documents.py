"""The documents of the contract, made from what a graph answers: commands print them, the server sends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omnigraph.client.read import RemoteSnapshot
    from omnigraph.execute.result import Result
    from omnigraph.history import MergeResult
    from omnigraph.manifest import Commit, Snapshot
    from omnigraph.write.load import LoadResult
    from omnigraph.write.migrate import SchemaApplied
    from omnigraph.write.mutate import MutationResult

INTERNAL_SCHEMA_VERSION = 6
"""The number the contract gives the storage generation."""


def snapshot_document(snapshot: Snapshot | RemoteSnapshot) -> dict[str, Any]:
    """`SnapshotOutput`."""
    from omnigraph.client.read import RemoteSnapshot

    if isinstance(snapshot, RemoteSnapshot):
        return snapshot.document
    datasets = [
        {
            "entity_kind": key.partition(":")[0],
            "type_name": key.partition(":")[2],
            "dataset_path": table.location,
            "published_dataset_version": table.version,
            "native_dataset_branch": None,
            "entity_count": table.row_count,
        }
        for key, table in sorted(snapshot.state.tables.items())
    ]
    return {
        "graph_branch": snapshot.branch,
        "graph_manifest_version": snapshot.manifest_version,
        "internal_schema_version": INTERNAL_SCHEMA_VERSION,
        "datasets": datasets,
    }


def commit_document(commit: Commit) -> dict[str, Any]:
    """`CommitOutput`."""
    return {
        "graph_commit_id": commit.id,
        "graph_branch": None if commit.branch == "main" else commit.branch,
        "graph_manifest_version": commit.number,
        "parent_commit_id": commit.parent,
        "merged_parent_commit_id": commit.merged_parent,
        "actor_id": commit.actor,
        "created_at": commit.created_us,
    }


def load_document(uri: str, result: LoadResult) -> dict[str, Any]:
    """`IngestOutput`: what a load did."""
    return {
        "uri": uri,
        "branch": result.branch,
        "base_branch": result.base_branch,
        "branch_created": result.branch_created,
        "mode": result.mode.value,
        "nodes": [{"name": name, "entities_loaded": count} for name, count in result.nodes.items()],
        "edges": [{"name": name, "entities_loaded": count} for name, count in result.edges.items()],
        "total_entities": result.total_entities,
        "actor_id": result.actor,
        "commit": commit_document(result.commit) if result.commit is not None else None,
    }


def mutation_document(result: MutationResult) -> dict[str, Any]:
    """`ChangeOutput`."""
    return {
        "branch": result.branch,
        "query_name": result.query_name,
        "affected_nodes": result.affected_nodes,
        "affected_edges": result.affected_edges,
        "actor_id": result.actor,
        "commit": commit_document(result.commit) if result.commit is not None else None,
    }


def merge_document(result: MergeResult) -> dict[str, Any]:
    """`BranchMergeOutput`, with all that is known."""
    commit = {} if result.commit is None else {"commit": commit_document(result.commit)}
    return {**result.describe(), **commit}


def schema_applied_document(uri: str, done: SchemaApplied) -> dict[str, Any]:
    """`SchemaApplyOutput`."""
    facts = {"uri": uri, "applied": done.applied, "step_count": len(done.plan.steps)}
    return {**facts, "graph_manifest_version": done.manifest_version, **done.plan.to_json()}


def read_document(result: Result) -> dict[str, Any]:
    """`ReadOutput`."""
    return {
        "query_name": result.query_name,
        "target": {"branch": result.branch, "snapshot": result.snapshot},
        "row_count": len(result),
        "columns": list(result.columns),
        "rows": result.to_json(),
        "graph_commit_id": result.graph_commit_id,
    }
