"""Collecting garbage beside live writers, readers and branch operations of other processes.

Fenced by the chains, not by clocks: first a collect record in the registry and in every live chain, then the mark,
then the deletion of unreachable files older than the cutoff (by the store's own timestamps). A writer that publishes
over a record it has not seen when it staged must stage again. Numbers are stripped, never deleted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from omnigraph.manifest.codec import encode_stripped
from omnigraph.manifest.intents import live_intents
from omnigraph.manifest.reach import doomed_and_kept, files_of, old_and_unreached, states_at, unreached_files
from omnigraph.manifest.refs import BranchRef, Refs, encode_stripped_refs
from omnigraph.manifest.retention import Retention, listed_numbers, retained_from, store_time
from omnigraph.manifest.state import CollectMark, Stripped
from omnigraph.storage.parallel import run_parallel

if TYPE_CHECKING:
    from omnigraph.manifest.repository import Repository


STRIPPED_BYTES_MAX = 1024
"""A number of the registry that takes no more is as good as stripped."""


@dataclass
class Collected:
    """What a cleanup did, or (preview) would do."""

    dry_run: bool
    versions_stripped: int = 0
    files: dict[str, int] = field(default_factory=dict[str, int])
    """Bytes of each removed file."""

    @property
    def bytes(self) -> int:
        """Bytes given back."""
        return sum(self.files.values())


def collect(repository: Repository, retention: Retention, *, dry_run: bool = True) -> Collected:
    """Reclaim what nothing retained reaches. Previews unless told otherwise."""
    now_us = store_time(repository)
    refs = _finish_deletions(repository) if not dry_run else repository.registry.head()
    listed = listed_numbers(repository)
    kept_from = retained_from(repository, refs, listed, retention, now_us)
    intents, pins, oldest_us = live_intents(repository, now_us)
    cutoff_us = min(now_us - int(retention.grace_s * 1e6), oldest_us)
    result = Collected(dry_run)
    if not dry_run:
        mark = CollectMark(repository.parts.runtime.ids.ulid(), cutoff_us, tuple(sorted(intents)))
        refs = _record(repository, mark, kept_from)
        listed = listed_numbers(repository)
        kept_from = dict(refs.kept_from)
    doomed, states = doomed_and_kept(repository, refs, listed, kept_from, pins)
    result.versions_stripped = len(doomed)
    garbage = unreached_files(repository, refs, states, cutoff_us)
    result.files = {info.path: info.size for info in garbage}
    if not dry_run:
        _strip(repository, doomed)
        repository.parts.store.delete([info.path for info in garbage])
        _forget_removed(repository, refs, {state.chain for state in states})
        _strip_registry(repository, refs)
        _sweep_drafts(repository, cutoff_us)
    return result


def purge(repository: Repository, locations: frozenset[str]) -> Collected:
    """Delete what of these tables no live branch and no tag shows any more, whatever retention would say.

    Past commits stay, but reading one of these tables there says that it was reclaimed.
    """
    now_us = store_time(repository)
    intents, pins, oldest_us = live_intents(repository, now_us)
    mark = CollectMark(repository.parts.runtime.ids.ulid(), min(now_us, oldest_us), tuple(sorted(intents)))
    refs = _record(repository, mark, {})
    live = [repository.branch_of(ref).head() for ref in refs.branches.values() if ref.status != "removed"]
    tags = {(tag.point.chain, tag.point.number) for tag in refs.tags.values()} | pins
    shown = [*live, *states_at(repository, refs, tags)]
    reached = files_of(repository, {table.ref for state in shown for table in state.tables.values()})
    listed = [info for location in sorted(locations) for info in repository.parts.store.list(location)]
    garbage = old_and_unreached(listed, reached, mark.cutoff_us)
    repository.parts.store.delete([info.path for info in garbage])
    return Collected(dry_run=False, files={info.path: info.size for info in garbage})


def _finish_deletions(repository: Repository) -> Refs:
    for ref in repository.registry.head().branches.values():
        if ref.status == "deleting":
            repository.finish_delete(ref)
    return repository.registry.head()


def _record(repository: Repository, mark: CollectMark, kept_from: dict[str, int]) -> Refs:
    """The collect record: in the registry, so that forks and tags see it; in each live chain, so that writers do."""

    def noted(refs: Refs) -> Refs:
        chains = refs.branches.keys()  # not those that another collection has forgotten meanwhile
        merged = {chain: max(refs.kept_from.get(chain, 0), kept_from.get(chain, 0)) for chain in chains}
        return replace(refs, collect=mark, kept_from={chain: number for chain, number in merged.items() if number})

    refs = repository.registry.update(noted)
    # A branch that is being deleted takes writes until its chain is closed.
    open_refs = [ref for ref in refs.branches.values() if ref.status != "removed"]
    run_parallel([partial(_record_on, repository, ref, mark) for ref in open_refs])
    return repository.registry.head()


def _record_on(repository: Repository, ref: BranchRef, mark: CollectMark) -> None:
    branch = repository.branch_of(ref)
    state = branch.head()
    while not state.is_closed and state.collect != mark:
        entry = replace(state.next("collect", repository.parts.runtime.ids.ulid()), collect=mark)
        state = branch.append(entry) or entry
    if state.is_closed:  # its deletion or withdrawal was cut short
        repository.finish_delete(ref)


def _forget_removed(repository: Repository, refs: Refs, needed: set[str]) -> None:
    """Take deleted branches of which nothing is left out of the registry, so that it does not grow with them."""
    gone = {ref.id for ref in refs.branches.values() if ref.status == "removed" and ref.id not in needed}

    def without(now: Refs) -> Refs | None:
        left = gone & now.branches.keys()
        return now.without_branches(left) if left else None

    repository.registry.update(without)


def _strip(repository: Repository, doomed: list[tuple[BranchRef, int]]) -> None:
    run_parallel([partial(_strip_one, repository, ref, number) for ref, number in doomed])


def _strip_one(repository: Repository, ref: BranchRef, number: int) -> None:
    branch = repository.branch_of(ref)
    entry = branch.read(number)
    if isinstance(entry, Stripped) or entry.is_closed:  # the end of a deleted branch is its tombstone
        return
    commits = tuple(replace(commit, tables=(), before=None) for commit in entry.commits)
    branch.chain.overwrite(number, encode_stripped(Stripped(ref.id, number, entry.entry, commits)))


def _strip_registry(repository: Repository, refs: Refs) -> None:
    chain = repository.registry.chain
    for number, info in list(chain.entries()):
        if number < refs.number - 1 and info.size > STRIPPED_BYTES_MAX:
            entry = repository.registry.read(number)
            if isinstance(entry, Refs):
                chain.overwrite(number, encode_stripped_refs(number, entry.entry))


def _sweep_drafts(repository: Repository, cutoff_us: int) -> None:
    """Files a killed process was writing on a local disk: no listing shows them, so look in the folders."""
    root = Path(repository.parts.uri)
    if repository.parts.store.lists_in_order or not root.is_dir():
        return
    for path in root.rglob("*#*"):
        if path.is_file() and path.stat().st_mtime_ns // 1000 < cutoff_us:
            path.unlink(missing_ok=True)
