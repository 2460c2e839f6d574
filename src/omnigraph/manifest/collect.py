"""Collecting garbage beside live writers, readers and branch operations of other processes.

Fenced by the chains, not by clocks: first a collect record in the registry and in every live chain, then the mark,
then the deletion of unreachable files older than the cutoff (by the store's own timestamps). A writer that publishes
over a record it has not seen when it staged must stage again. Numbers are stripped, never deleted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from omnigraph.manifest.catalogs import SCHEMAS, schema_path
from omnigraph.manifest.codec import encode_stripped
from omnigraph.manifest.lineage import LINEAGE
from omnigraph.manifest.refs import BranchRef, Refs, encode_stripped_refs
from omnigraph.manifest.repository import MANIFESTS, Repository
from omnigraph.manifest.state import CollectMark, State, Stripped
from omnigraph.manifest.topology import TOPOLOGY, useful_topology
from omnigraph.model.errors import BadRequest
from omnigraph.model.names import MAIN
from omnigraph.storage.meter import run_parallel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnigraph.storage.staged import TableRef
    from omnigraph.storage.store import ObjectInfo

INTENTS = "__intents"
STAGING = "__staging"
"""What loads keep beside the tables until they are published; an intent goes with it."""
GRACE_S = 15 * 60.0
INTENT_LIFE_S = 24 * 3600.0
_TABLE_FOLDERS = ("nodes", "edges")


@dataclass(frozen=True)
class Retention:
    """What to keep: a commit goes only if every rule given lets it go."""

    keep: int | None = None
    older_than_s: float | None = None
    grace_s: float = GRACE_S

    def __post_init__(self) -> None:
        if self.keep is None and self.older_than_s is None:
            raise BadRequest("cleanup needs to know what to keep: give keep, older_than, or both")
        if self.keep is not None and self.keep < 1:
            raise BadRequest("keep must be at least 1: the newest version always stays")
        if self.older_than_s is not None and self.older_than_s < 0:
            raise BadRequest("older_than must not be negative")


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


@dataclass
class _Survey:
    """What the chains hold, by the store's own listing."""

    numbers: dict[str, dict[int, int]] = field(default_factory=dict[str, dict[int, int]])
    """Chain id → number → time of its object."""


def collect(repository: Repository, retention: Retention, *, dry_run: bool = True) -> Collected:
    """Reclaim what nothing retained reaches. Previews unless told otherwise."""
    now_us = _store_time(repository)
    refs = _finish_deletions(repository) if not dry_run else repository.registry.head()
    survey = _survey(repository)
    kept_from = _retained_from(repository, refs, survey, retention, now_us)
    intents, pins, oldest_us = _intents(repository, now_us)
    cutoff_us = min(now_us - int(retention.grace_s * 1e6), oldest_us)
    result = Collected(dry_run)
    if not dry_run:
        mark = CollectMark(repository.parts.runtime.ids.ulid(), cutoff_us, tuple(sorted(intents)))
        refs = _record(repository, mark, kept_from)
        survey = _survey(repository)
        kept_from = dict(refs.kept_from)
    doomed, states = _mark(repository, refs, survey, kept_from, pins)
    result.versions_stripped = len(doomed)
    garbage = _garbage(repository, refs, states, cutoff_us)
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
    now_us = _store_time(repository)
    intents, pins, oldest_us = _intents(repository, now_us)
    mark = CollectMark(repository.parts.runtime.ids.ulid(), min(now_us, oldest_us), tuple(sorted(intents)))
    refs = _record(repository, mark, {})
    live = [repository.branch_of(ref).head() for ref in refs.branches.values() if ref.status != "removed"]
    tags = {(tag.point.chain, tag.point.number) for tag in refs.tags.values()} | pins
    shown = [*live, *_states(repository, refs, tags)]
    reached = _files_of(repository, {table.ref for state in shown for table in state.tables.values()})
    listed = [info for location in sorted(locations) for info in repository.parts.store.list(location)]
    garbage = _older(listed, reached, mark.cutoff_us)
    repository.parts.store.delete([info.path for info in garbage])
    return Collected(dry_run=False, files={info.path: info.size for info in garbage})


def _states(repository: Repository, refs: Refs, points: Iterable[tuple[str, int]]) -> list[State]:
    wanted = [(refs.branches[chain], number) for chain, number in points if chain in refs.branches]
    entries = run_parallel([partial(repository.branch_of(ref).read, number) for ref, number in wanted])
    return [entry for entry in entries if isinstance(entry, State)]


def _store_time(repository: Repository) -> int:
    """The store's own clock, read from an object written now."""
    store = repository.parts.store
    path = f"__probe/{repository.parts.runtime.ids.ulid()}"
    store.put(path, b"")
    info = store.stat(path)
    store.delete([path])
    return info.modified_us if info is not None else repository.parts.runtime.clock.now_us()


def _finish_deletions(repository: Repository) -> Refs:
    for ref in repository.registry.head().branches.values():
        if ref.status == "deleting":
            repository.finish_delete(ref)
    return repository.registry.head()


def _survey(repository: Repository) -> _Survey:
    survey = _Survey()
    probe = repository.main().chain
    for info in repository.parts.store.list(MANIFESTS):
        number = probe.number(info.path)
        chain = info.path.split("/")[-2]
        if number is not None:
            survey.numbers.setdefault(chain, {})[number] = info.modified_us
    return survey


def _retained_from(
    repository: Repository, refs: Refs, survey: _Survey, retention: Retention, now_us: int
) -> dict[str, int]:
    """By chain: the first number that stays by itself. Removed branches keep only what is pinned."""
    kept: dict[str, int] = dict(refs.kept_from)
    for ref in refs.branches.values():
        numbers = survey.numbers.get(ref.id, {})
        if not numbers:
            continue
        last = max(numbers)
        first = last + 1 if ref.status == "removed" else _first_kept(repository, ref, numbers, retention, now_us)
        kept[ref.id] = max(kept.get(ref.id, 0), first)
    return kept


def _first_kept(
    repository: Repository, ref: BranchRef, numbers: dict[int, int], retention: Retention, now_us: int
) -> int:
    ordered = sorted(numbers)
    candidates = [ordered[-1]]
    grace_us = now_us - int(retention.grace_s * 1e6)
    for older, newer in pairwise(ordered):
        if numbers[newer] >= grace_us:  # superseded within the grace: somebody may still be reading it
            candidates.append(older)
            break
    if retention.older_than_s is not None:
        young_us = now_us - int(retention.older_than_s * 1e6)
        candidates += [number for number in ordered if numbers[number] >= young_us][:1]
    if retention.keep is not None:
        own = _own_commits(repository, ref, retention.keep)
        candidates.append(min(own) if len(own) >= retention.keep else ordered[0])
    return min(candidates)


def _own_commits(repository: Repository, ref: BranchRef, wanted: int) -> list[int]:
    numbers: list[int] = []
    for commit in repository.lineage.walk(repository.branch_of(ref).head()):
        if commit.chain == ref.id:
            numbers.append(commit.number)
        if len(numbers) >= wanted:
            break
    return numbers


def _intents(repository: Repository, now_us: int) -> tuple[set[str], set[tuple[str, int]], int]:
    """Live intents, the points they pin, and the time of the oldest. Old ones have expired and are ignored."""
    names: set[str] = set()
    pins: set[tuple[str, int]] = set()
    oldest_us = now_us
    for info in repository.parts.store.list(INTENTS):
        if info.modified_us < now_us - int(INTENT_LIFE_S * 1e6):
            continue
        names.add(info.path.rpartition("/")[2])
        oldest_us = min(oldest_us, info.modified_us)
        body = (repository.parts.store.get(info.path) or b"").decode(errors="replace").split()
        if len(body) == 2 and body[1].isdigit():
            pins.add((body[0], int(body[1])))
    return names, pins, oldest_us


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


def _mark(
    repository: Repository,
    refs: Refs,
    survey: _Survey,
    kept_from: dict[str, int],
    pins: set[tuple[str, int]],
) -> tuple[list[tuple[BranchRef, int]], list[State]]:
    """Which numbers go, and the states that stay."""
    pinned = refs.pins() | pins | _merge_points(repository, refs)
    doomed: list[tuple[BranchRef, int]] = []
    stay: list[tuple[str, int]] = []
    for ref in refs.branches.values():
        numbers = set(survey.numbers.get(ref.id, {}))
        if ref.status != "removed":
            numbers.add(repository.branch_of(ref).head().number)
        for number in numbers:
            keeps = number >= kept_from.get(ref.id, 0) or (ref.id, number) in pinned
            if keeps:
                stay.append((ref.id, number))
            else:
                doomed.append((ref, number))
    return doomed, _states(repository, refs, stay)


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


def _garbage(repository: Repository, refs: Refs, states: list[State], cutoff_us: int) -> list[ObjectInfo]:
    """Files older than the cutoff that no state which stays can reach."""
    parts = repository.parts
    tables = {table.ref for state in states for table in state.tables.values()}
    tables |= {table.ref for state in states for commit in state.commits for table in commit.before or ()}
    reached = _files_of(repository, tables)
    reached |= {schema_path(state.schema_hash) for state in states}
    reached |= {f"{LINEAGE}/{segment.name}" for state in states for segment in state.segments}
    listed: list[ObjectInfo] = []
    for folder in (*_TABLE_FOLDERS, SCHEMAS, LINEAGE, TOPOLOGY, STAGING, "__probe"):
        listed += parts.store.list(folder)
    reached |= useful_topology((info.path for info in listed), _newest(refs, states))
    listed += _orphan_chains(repository, refs)
    expired_us = cutoff_us - int(INTENT_LIFE_S * 1e6)
    listed += [info for info in parts.store.list(INTENTS) if info.modified_us < expired_us]
    return _older(listed, reached, cutoff_us)


def _newest(refs: Refs, states: list[State]) -> list[State]:
    """Of each branch that is alive the state it shows."""
    newest: dict[str, State] = {}
    for state in states:
        ref = refs.branches.get(state.chain)
        if ref is not None and ref.status != "removed":
            known = newest.get(state.chain)
            newest[state.chain] = state if known is None or state.number > known.number else known
    return list(newest.values())


def _files_of(repository: Repository, tables: set[TableRef]) -> set[str]:
    ordered = sorted(tables, key=str)
    return set().union(*run_parallel([partial(repository.parts.tables.files, ref) for ref in ordered]))


def _older(listed: Iterable[ObjectInfo], reached: set[str], cutoff_us: int) -> list[ObjectInfo]:
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
        if number < refs.number - 1 and info.size > 1024:
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
