"""A graph's durable half in one object: branches, tags, commits, snapshots, writes, cleanup."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from omnigraph.manifest import attempts, naming, past
from omnigraph.manifest.branch import Branch
from omnigraph.manifest.catalogs import Catalogs, schema_path
from omnigraph.manifest.journal import Place
from omnigraph.manifest.lineage import Lineage
from omnigraph.manifest.maintain import Maintenance
from omnigraph.manifest.parts import PROBES, Parts, table_location
from omnigraph.manifest.publish import Published, Publisher, no_upkeep
from omnigraph.manifest.refs import MAIN_REF, BranchRef, Refs, TagRef
from omnigraph.manifest.registry import Registry
from omnigraph.manifest.snapshot import Snapshot
from omnigraph.manifest.state import Commit, State, TableState
from omnigraph.manifest.txn import WriteTxn
from omnigraph.model.errors import (
    AlreadyExists,
    BranchBusy,
    BranchNotFound,
    NotAGraph,
    StoreUnsafe,
)
from omnigraph.model.names import MAIN
from omnigraph.storage.parallel import run_parallel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pyarrow as pa

    from omnigraph.manifest.plan import PublishPlan
    from omnigraph.model.clock import Runtime
    from omnigraph.storage.staged import Staged


class Repository:
    """One graph. Safe to share between threads; any number of processes may have one each."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.place = Place(parts.store, parts.runtime.clock)
        self.registry = Registry(self.place, parts.runtime, parts.uri)
        self.lineage = Lineage(parts.store)
        self.catalogs = Catalogs(parts.store)
        self._branches: dict[str, Branch] = {}
        self._publishers: dict[str, Publisher] = {}
        self._epoch: int | None = None

    # -- making and opening ----------------------------------------------------------------------------

    @classmethod
    def init(
        cls, parts: Parts, tables: Mapping[str, pa.Schema], schema_hash: str, schema: bytes, actor: str | None = None
    ) -> Repository:
        """Make a new graph. It exists from the moment main's first entry does, and not before."""
        repository = cls(parts)
        if repository.main().chain.newest_listed() is not None:
            raise AlreadyExists("graph", parts.uri)
        repository.insist_on_safe_store()
        ids = parts.runtime.ids
        first = Refs(0, ids.ulid())
        repository.registry.chain.append(0, repository.registry.encode(first), lambda _: True)
        parts.store.put(schema_path(schema_hash), schema)
        unique = ids.ulid()[-12:]
        keys = sorted(tables)
        created = run_parallel([partial(parts.tables.create, table_location(key, unique), tables[key]) for key in keys])
        state = _first_state(parts.runtime, keys, created, schema_hash, actor)
        parts.durability.before_publish(created)
        if repository.main().append(state) is not None:
            raise AlreadyExists("graph", parts.uri)
        return repository

    @classmethod
    def open(cls, parts: Parts) -> Repository:
        """Open an existing graph."""
        repository = cls(parts)
        try:
            repository.base_state(MAIN, fresh=False)
        except BranchNotFound as error:
            raise NotAGraph(parts.uri) from error
        return repository

    def insist_on_safe_store(self) -> None:
        """A store that accepts a second create of one key would lose commits silently: refuse it."""
        path = f"{PROBES}/{self.parts.runtime.ids.ulid()}"
        store = self.parts.store
        if not store.create(path, b"1") or store.create(path, b"2"):
            raise StoreUnsafe(self.parts.uri, "it accepts a second create of one key, so commits would be lost")
        store.delete([path])
        self.place.is_safe = True

    # -- branches --------------------------------------------------------------------------------------

    def main(self) -> Branch:
        """The branch every graph has."""
        return self.branch_of(MAIN_REF)

    def branch_of(self, ref: BranchRef) -> Branch:
        """A branch by its registry entry."""
        found = self._branches.get(ref.id)
        if found is None or found.name != ref.name:
            found = self._branches[ref.id] = Branch(self.place, ref)
        return found

    def known_branch(self, chain: str) -> Branch | None:
        """A branch this process has met."""
        return self._branches.get(chain)

    def branch(self, name: str) -> Branch:
        """A live branch by name; asks the registry only for what it does not know."""
        if name == MAIN:
            return self.main()
        cached = self.registry.cached
        ref = cached.live(name) if cached is not None else None
        if ref is None or ref.status != "live":
            refs = self.registry.head()
            ref = refs.live(name)
            if ref is None:
                raise BranchNotFound(name, tuple(branch.name for branch in refs.live_branches()))
            if ref.status == "deleting":
                raise BranchBusy(name)
        return self.branch_of(ref)

    def branches(self) -> list[BranchRef]:
        """Live branches by name."""
        return self.registry.head().live_branches()

    def head_state(self, name: str) -> State:
        """The newest state of a branch, as of now."""
        return self._reopened(name, lambda branch: self._seen(branch.head()))

    def base_state(self, name: str, fresh: bool) -> State:
        """The state to build a write on: what is cached, or what is there now."""
        if fresh:
            return self.head_state(name)
        return self._reopened(name, lambda branch: self._seen(branch.head_to_append()))

    def _reopened(self, name: str, look: Callable[[Branch], State]) -> State:
        """Look at a branch; if it was deleted meanwhile, look once more by name: it may have been made anew."""
        branch = self.branch(name)
        state = look(branch)
        if not state.is_closed:
            return state
        self.forget(branch)
        self.registry.head()
        state = look(self.branch(name))
        if state.is_closed:
            raise BranchNotFound(name)
        return state

    def forget(self, branch: Branch) -> None:
        """Drop what is cached about a branch."""
        self._branches.pop(branch.id, None)
        self._publishers.pop(branch.id, None)

    def _seen(self, state: State) -> State:
        if self._epoch is None:
            cached = self.registry.cached
            self._epoch = max(state.epoch, cached.epoch if cached is not None else 0)
        return state

    # -- names -----------------------------------------------------------------------------------------

    def create_branch(self, name: str, source: str = MAIN, actor: str | None = None) -> BranchRef:
        """Make a branch from a branch, a tag or a commit."""
        return naming.create_branch(self, name, source, actor)

    def delete_branch(self, name: str) -> None:
        """Delete a branch. Whoever meets a half-deleted branch finishes it."""
        naming.delete_branch(self, name)

    def finish_delete(self, ref: BranchRef) -> None:
        """Close the chain of a branch that is being deleted, then remove the name."""
        naming.finish_delete(self, ref)

    def withdraw_branch(self, ref: BranchRef) -> bool:
        """Take back a branch that was just made. False: somebody has written to it, and it stays."""
        return naming.withdraw_branch(self, ref)

    def create_tag(self, name: str, source: str = MAIN, actor: str | None = None) -> TagRef:
        """Name a point so that it stays."""
        return naming.create_tag(self, name, source, actor)

    def delete_tag(self, name: str) -> None:
        """Forget a tag; its point falls under the usual retention again."""
        naming.delete_tag(self, name)

    def tags(self) -> list[TagRef]:
        """Tags by name."""
        return sorted(self.registry.head().tags.values(), key=lambda tag: tag.name)

    # -- history ---------------------------------------------------------------------------------------

    def resolve(self, source: str, refs: Refs) -> State:
        """The state a branch name, a tag or a commit id stands for."""
        return past.resolve(self, source, refs)

    def commit(self, commit_id: str) -> Commit:
        """A commit by id, in the ancestry of any live branch."""
        return past.commit_of(self, commit_id)

    def commits(self, name: str = MAIN) -> Iterator[Commit]:
        """The lineage of a branch, newest first, across forks."""
        return self.lineage.walk(self.head_state(name))

    def state_of_commit(self, commit_id: str) -> State:
        """The graph right after a commit."""
        return past.state_of_commit(self, commit_id)

    def state_of_version(self, name: str, number: int) -> State:
        """The graph at a manifest version of a branch's own chain."""
        return past.state_of_version(self, name, number)

    def state_at(self, chain: str, number: int, commit_id: str, name: str = "") -> State:
        """The graph right after a commit at a known place, though its branch may be gone."""
        return past.state_at(self, chain, number, commit_id, name)

    def snapshot(self, name: str = MAIN, commit: str | None = None) -> Snapshot:
        """The graph as it is on a branch now, or as it was right after a commit."""
        state = self.state_of_commit(commit) if commit is not None else self.head_state(name)
        return Snapshot(state, self.parts.tables)

    def snapshot_at(self, point: str) -> Snapshot:
        """The graph as it was at a tag, or right after a commit."""
        return past.snapshot_at(self, point)

    # -- writing ---------------------------------------------------------------------------------------

    def begin(self, name: str = MAIN, *, fresh: bool = False, intent: str | None = None) -> WriteTxn:
        """Start a write. With `fresh` it looks first whether somebody else has written."""
        base = self.base_state(name, fresh)
        return WriteTxn(base, self.parts.tables, self.parts.runtime, self._epoch or 0, intent)

    def publish(self, plan: PublishPlan) -> Published:
        """Make a plan visible, then do the upkeep it made necessary."""
        branch = self.branch_of(self.ref_of(plan.base))
        publisher = self._publishers.get(branch.id)
        if publisher is None:
            publisher = self._publishers.setdefault(branch.id, self._publisher(branch))
        return publisher.publish(plan)

    def _publisher(self, branch: Branch) -> Publisher:
        parts = self.parts
        upkeep = partial(self._maintain, branch) if parts.auto_fold else no_upkeep
        return Publisher(branch, self.lineage, parts.tables, parts.runtime, parts.durability, upkeep)

    @property
    def races_lost(self) -> int:
        """How often a publish of this process had to be tried again, because somebody else was first."""
        return sum(publisher.races_lost for publisher in list(self._publishers.values()))

    def _maintain(self, branch: Branch, entry: State) -> None:
        """Fold what an entry let grow past its bound."""
        state = branch.cached
        if state is None or state.number != entry.number:
            return
        self._keeper(branch).after_write(state, dict.fromkeys(key for one in entry.commits for key in one.tables))

    def publish_upkeep(self, state: State, staged: Mapping[str, Staged]) -> frozenset[str]:
        """Publish folds and indexes of a state as one content-neutral entry; for which tables that could be done."""
        return self._keeper(self.branch_of(self.ref_of(state))).publish(state, staged)

    def _keeper(self, branch: Branch) -> Maintenance:
        parts = self.parts
        return Maintenance(branch, parts.tables, self.lineage, parts.runtime, parts.durability, parts.index_hook)

    def write(
        self,
        prepare: Callable[[WriteTxn], PublishPlan | None],
        name: str = MAIN,
        *,
        strict: bool = False,
        fresh: bool = False,
        intent: str | None = None,
    ) -> Published | None:
        """Prepare a write and publish it; prepare it again where that is safe. `strict`: a conflict is the caller's.

        With `fresh` it looks first whether somebody else has written. Without, what is cached will do for a plan,
        because the publisher compares; a refusal, or that nothing is to be done, is an answer about the graph now.
        """
        return attempts.write(self, prepare, name, strict=strict, fresh=fresh, intent=intent)

    def ref_of(self, state: State) -> BranchRef:
        """The branch a state is of, as far as this process knows it."""
        known = self._branches.get(state.chain)
        return BranchRef(known.name, known.id, known.first) if known else BranchRef(state.branch, state.chain, 0)

    def raise_epoch(self) -> int:
        """Shut out every writer that opened before: in the registry first, then in each live chain."""
        refs = self.registry.update(lambda refs: replace(refs, epoch=refs.epoch + 1))
        for ref in refs.live_branches():
            branch = self.branch_of(ref)
            state = branch.head()
            while not state.is_closed and state.epoch < refs.epoch:
                entry = replace(state.next("epoch", self.parts.runtime.ids.ulid()), epoch=refs.epoch)
                state = branch.append(entry) or entry
        self._epoch = refs.epoch
        return refs.epoch


def _first_state(
    runtime: Runtime, keys: list[str], created: list[Staged], schema_hash: str, actor: str | None
) -> State:
    commit = Commit(runtime.ids.ulid(), MAIN, MAIN, 0, (), actor, runtime.clock.now_us(), "init", tuple(keys))
    rows = {
        key: TableState(key, staged.ref.location, staged.ref.version, 0, 0, 0, 0)
        for key, staged in zip(keys, created, strict=True)
    }
    return State(MAIN, MAIN, 0, runtime.ids.ulid(), "init", "", schema_hash, rows).with_commit(commit)
