"""What the states that stay can reach, and which files nobody reaches."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from omnigraph.manifest.branch import MANIFESTS
from omnigraph.manifest.catalogs import SCHEMAS, schema_path
from omnigraph.manifest.intents import INTENT_LIFE_S, INTENTS, STAGING
from omnigraph.manifest.lineage import LINEAGE
from omnigraph.manifest.parts import PROBES
from omnigraph.manifest.state import State
from omnigraph.manifest.topology import TOPOLOGY, useful_topology
from omnigraph.model.names import MAIN
from omnigraph.storage.parallel import run_parallel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.manifest.refs import BranchRef, Refs
    from omnigraph.manifest.repository import Repository
    from omnigraph.manifest.retention import Numbers
    from omnigraph.storage.staged import TableRef
    from omnigraph.storage.store import ObjectInfo

_TABLE_FOLDERS = ("nodes", "edges")


def states_at(repository: Repository, refs: Refs, points: Iterable[tuple[str, int]]) -> list[State]:
    """The states at these points, of those that have not been stripped."""
    wanted = [(refs.branches[chain], number) for chain, number in points if chain in refs.branches]
    entries = run_parallel([partial(repository.branch_of(ref).read, number) for ref, number in wanted])
    return [entry for entry in entries if isinstance(entry, State)]


def doomed_and_kept(
    repository: Repository,
    refs: Refs,
    listed: Numbers,
    kept_from: dict[str, int],
    pins: set[tuple[str, int]],
) -> tuple[list[tuple[BranchRef, int]], list[State]]:
    """Which numbers go, and the states that stay."""
    pinned = refs.pins() | pins | _merge_points(repository, refs)
    doomed: list[tuple[BranchRef, int]] = []
    stay: list[tuple[str, int]] = []
    for ref in refs.branches.values():
        numbers = set(listed.get(ref.id, {}))
        if ref.status != "removed":
            numbers.add(repository.branch_of(ref).head().number)
        for number in numbers:
            keeps = number >= kept_from.get(ref.id, 0) or (ref.id, number) in pinned
            if keeps:
                stay.append((ref.id, number))
            else:
                doomed.append((ref, number))
    return doomed, states_at(repository, refs, stay)


def _merge_points(repository: Repository, refs: Refs) -> set[tuple[str, int]]:
    """Where live branches were last merged into each other: the next merge between them starts from there."""
    live = {ref.id: repository.branch_of(ref) for ref in refs.branches.values() if ref.status != "removed"}
    points: set[tuple[str, int]] = set()
    for branch in live.values():
        newest: dict[str, int] = {}
        for commit in repository.lineage.walk(branch.head()):
            if commit.merged_at is not None and commit.merged_at[0] in live:
                chain, number = commit.merged_at
                newest[chain] = max(number, newest.get(chain, 0))
        points |= set(newest.items())
    return points


def unreached_files(repository: Repository, refs: Refs, states: list[State], cutoff_us: int) -> list[ObjectInfo]:
    """Files older than the cutoff that no state which stays can reach."""
    parts = repository.parts
    tables = {table.ref for state in states for table in state.tables.values()}
    tables |= {table.ref for state in states for commit in state.commits for table in commit.before or ()}
    reached = files_of(repository, tables)
    reached |= {schema_path(state.schema_hash) for state in states}
    reached |= {f"{LINEAGE}/{segment.name}" for state in states for segment in state.segments}
    listed: list[ObjectInfo] = []
    for folder in (*_TABLE_FOLDERS, SCHEMAS, LINEAGE, TOPOLOGY, STAGING, PROBES):
        listed += parts.store.list(folder)
    reached |= useful_topology((info.path for info in listed), _newest(refs, states))
    listed += _orphan_chains(repository, refs)
    expired_us = cutoff_us - int(INTENT_LIFE_S * 1e6)
    listed += [info for info in parts.store.list(INTENTS) if info.modified_us < expired_us]
    return old_and_unreached(listed, reached, cutoff_us)


def _newest(refs: Refs, states: list[State]) -> list[State]:
    """Of each branch that is alive the state it shows."""
    newest: dict[str, State] = {}
    for state in states:
        ref = refs.branches.get(state.chain)
        if ref is not None and ref.status != "removed":
            known = newest.get(state.chain)
            newest[state.chain] = state if known is None or state.number > known.number else known
    return list(newest.values())


def files_of(repository: Repository, tables: set[TableRef]) -> set[str]:
    """Every file that one of these table versions needs."""
    ordered = sorted(tables, key=str)
    return set().union(*run_parallel([partial(repository.parts.tables.files, ref) for ref in ordered]))


def old_and_unreached(listed: Iterable[ObjectInfo], reached: set[str], cutoff_us: int) -> list[ObjectInfo]:
    """Those of the objects that are older than the cutoff and neither reached nor in a folder that is."""
    folders = {name for name in reached if name.endswith("/")}
    return [
        info
        for info in listed
        if info.modified_us < cutoff_us and info.path not in reached and not _inside(info.path, folders)
    ]


def _inside(path: str, folders: set[str]) -> bool:
    parent = path.rpartition("/")[0]
    while parent:
        if f"{parent}/" in folders:
            return True
        parent = parent.rpartition("/")[0]
    return False


def _orphan_chains(repository: Repository, refs: Refs) -> Iterable[ObjectInfo]:
    """First entries of branches whose creation was never registered: the record made that impossible from now on.

    A branch that was deleted and forgotten has two entries at least, its first and its end, and keeps them for ever.
    """
    chains: dict[str, list[ObjectInfo]] = {}
    for info in repository.parts.store.list(MANIFESTS):
        chains.setdefault(info.path.split("/")[-2], []).append(info)
    for chain, entries in chains.items():
        if chain != MAIN and chain not in refs.branches and len(entries) == 1:
            yield entries[0]
