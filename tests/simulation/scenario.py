"""One universe: writers, a brancher, a reader and a collector over one store, then the reckoning."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from unittest import mock

from omnigraph.manifest import Parts, Published, Repository, Retention
from omnigraph.manifest import collect as collect_entry
from omnigraph.manifest.plan import MustRestage, PublishPlan
from omnigraph.manifest.state import State, Stripped
from omnigraph.model import errors
from omnigraph.storage.durable import LeaveToStore

from .witness import Witness
from .world import Faults, Process, SimCrash, SimRuntime, SimStore, SimTables, Violation, World

PERSON, CITY = "node:Person", "node:City"
BRANCH = "work"
SHARED = 6
Rows = dict[str, dict[str, int]]
DEFINITE = (errors.Conflict, errors.PreconditionFailed, errors.NotFound, MustRestage)
"""Errors that say: it did not happen."""

KINDS = ("append", "upsert", "upsert", "delete", "claim", "free", "cross", "cross", "if_commit")
"""What writers do, as often as it is named."""


@dataclass
class Effect:
    """What a planned commit does, and what it takes for granted."""

    token: str
    append: Rows = field(default_factory=dict)
    upsert: Rows = field(default_factory=dict)
    delete: dict[str, set[str]] = field(default_factory=dict)
    seen: Rows = field(default_factory=dict)
    parent: str | None = None


class Universe:
    def __init__(self, seed: int, size: int = 6) -> None:
        self.world = World(seed)
        self.observer = self.world.observer = Witness(self.world)
        self.rng = self.world.rng
        self.size = size
        self.effects: dict[str, Effect] = {}
        self.acknowledged: dict[str, str] = {}
        """Commit id → chain."""
        self.failed: set[str] = set()
        self.count = 0

    # -- processes -------------------------------------------------------------------------------------

    def parts(self, *, is_faulty: bool = True) -> Parts:
        process = Process(self.world, is_faulty)
        store, runtime = SimStore(process), SimRuntime(process)
        return Parts("sim://g", store, SimTables(store, runtime), runtime, LeaveToStore())

    def actor(self, step: Callable[[Repository, int], None], steps: int, shared: list | None = None):
        """A process that takes steps and is started again after a crash."""

        def work() -> None:
            box: list = shared if shared is not None else []
            for number in range(steps):
                try:
                    if not box or box[0].parts.store._process.is_dead:
                        box[:] = [Repository(self.parts())]
                    step(box[0], number)
                    self.world.pause(self.rng.choice([0, 0, 1000, 30_000]))
                except SimCrash:
                    if self.world.failure is not None:
                        raise
                except errors.CorruptObject as error:
                    raise Violation(f"a corrupt object: {error}") from error
                except errors.OmniGraphError:
                    pass

        return work

    # -- what actors do --------------------------------------------------------------------------------

    def write(self, repo: Repository, number: int) -> None:
        rng = self.rng
        branch = "main" if rng.random() < 0.7 else BRANCH
        kind = rng.choice(KINDS)
        self.count += 1
        value, token = self.count, f"op{self.count}"
        keys = [f"k{one}" for one in sorted(rng.sample(range(SHARED), rng.randrange(1, 3)))]
        strict = rng.random() < 0.3
        planned: list[str] = []
        plans: list[PublishPlan] = []

        def prepare(txn):
            effect = Effect(token)
            if_commit = None
            if kind == "append":
                effect.append = {PERSON: {f"a{value}": value}}
                txn.append(PERSON, effect.append[PERSON])
            elif kind in ("upsert", "if_commit"):
                effect.upsert = {PERSON: dict.fromkeys(keys, value)}
                txn.change(PERSON, effect.upsert[PERSON])
                if kind == "if_commit":
                    if_commit = effect.parent = txn.base.head
            elif kind in ("delete", "free"):
                table = PERSON if kind == "delete" else CITY
                effect.delete = {table: txn.table(table).scan().keys() & set(keys)}
                if txn.change(table, None, keys) is None:
                    return None
            elif kind == "claim":
                if keys[0] in txn.table(CITY).scan():
                    return None
                txn.depends_on(CITY, "added")
                effect.append = {CITY: {keys[0]: value}}
                txn.append(CITY, effect.append[CITY])
            else:
                read, written = (CITY, PERSON) if rng.random() < 0.5 else (PERSON, CITY)
                txn.depends_on(read, "added", "removed", "changed")
                effect.seen = {read: txn.table(read).scan()}
                effect.upsert = {written: {keys[0]: value}}
                txn.change(written, effect.upsert[written])
            plan = txn.plan(kind, actor=token, if_commit=if_commit)
            self.effects[plan.commit_id] = effect
            planned.append(plan.commit_id)
            plans.append(plan)
            return plan

        try:
            published = self.insist(repo, lambda: repo.write(prepare, branch, strict=strict), plans)
        except DEFINITE:
            self.failed.update(planned)
            raise
        except BaseException:
            self.failed.update(planned[:-1])  # the last one's outcome is unknown, or it was never tried
            raise
        if published is not None:
            self.failed.update(planned[:-1])
            self.acknowledged[published.commit.id] = published.commit.chain
            self.observer.acknowledged(published.commit)

    def insist(self, repo: Repository, write: Callable[[], Published | None], plans: list[PublishPlan]):
        """Do a write; one left in doubt is published again, as the same plan, some of the time."""
        try:
            return write()
        except errors.OutcomeUnknown:
            if self.rng.random() < 0.3:
                raise
            self.world.pause(self.rng.choice([0, 100_000, 30_000_000]))
            return repo.publish(plans[-1])

    def arrange(self, repo: Repository, number: int) -> None:
        rng = self.rng
        kind = rng.choice(["branch", "branch", "drop", "tag", "tag", "untag", "fork"])
        if kind == "branch":
            repo.create_branch(BRANCH)
        elif kind == "fork":
            commits = list(repo.commits())[:4]
            repo.create_branch(f"f{number}", rng.choice(commits).id)
        elif kind == "drop":
            repo.delete_branch(rng.choice(repo.branches()).name)
        elif kind == "tag":
            commits = list(repo.commits())[:4]
            repo.create_tag(f"t{self.rng.randrange(1000)}", rng.choice(["main", BRANCH, rng.choice(commits).id]))
        else:
            repo.delete_tag(rng.choice([tag.name for tag in repo.tags()] or ["none"]))

    def reader(self) -> Callable[[Repository, int], None]:
        held: list = []

        def read(repo: Repository, number: int) -> None:
            if not held or self.rng.random() < 0.5:
                snapshot = repo.snapshot("main" if self.rng.random() < 0.7 else BRANCH)
                with self.reclaim_must_be_right(repo, snapshot):
                    held.append((snapshot, _rows_of(snapshot)))
                return
            snapshot, before = self.rng.choice(held)
            with self.reclaim_must_be_right(repo, snapshot):
                if _rows_of(snapshot) != before:
                    raise Violation(f"the snapshot of {snapshot.commit_id} has changed")

        return read

    @contextlib.contextmanager
    def reclaim_must_be_right(self, repo: Repository, snapshot) -> Iterator[None]:
        try:
            yield
        except errors.SnapshotReclaimed as error:
            now = repo.head_state(snapshot.branch)
            if (now.chain, now.number) == (snapshot.state.chain, snapshot.state.number):
                raise Violation(f"the head of {now.branch} cannot be read: {error}") from error

    def collect(self, repo: Repository, number: int) -> None:
        self.world.pause(self.rng.choice([0, 20_000, 100_000]))
        collect_entry(repo, Retention(keep=self.rng.randrange(1, 4), grace_s=0.0), dry_run=False)

    # -- the run ---------------------------------------------------------------------------------------

    def run(self) -> None:
        world, rng = self.world, self.rng
        repo = Repository.init(self.parts(is_faulty=False), {PERSON: None, CITY: None}, "s1", b"schema")
        repo.create_branch(BRANCH)
        world.faults = Faults.drawn(rng)
        shared: list = []
        works = {
            f"writer{one}": self.actor(self.write, self.size, shared if one < 2 else None)
            for one in range(rng.randrange(3, 5))
        }
        works["brancher"] = self.actor(self.arrange, self.size)
        works["reader"] = self.actor(self.reader(), self.size * 2)
        for one in range(rng.choice([1, 1, 2])):
            works[f"collector{one}"] = self.actor(self.collect, max(2, self.size // 2))
        world.run(works)
        world.land_everything()
        self.reckon()

    # -- the reckoning ---------------------------------------------------------------------------------

    def reckon(self) -> None:
        repo = Repository.open(self.parts(is_faulty=False))
        try:
            self._reckon(repo)
        except errors.OmniGraphError as error:
            raise Violation(f"what must be readable is not: {error!r}") from error

    def _reckon(self, repo: Repository) -> None:
        refs = repo.registry.head()
        models: dict[str, Rows] = {}
        lineages: dict[str, set[str]] = {}
        for ref in refs.live_branches():
            lineages[ref.id] = self._replay(repo, repo.branch_of(ref).head(), models)
        for commit_id, chain in self.acknowledged.items():
            if chain in lineages and commit_id not in lineages[chain]:
                raise Violation(f"acknowledged commit {commit_id} is lost")
        for ref in refs.live_branches():
            branch = repo.branch_of(ref)
            head = branch.head()
            for number in range(max(refs.kept_from.get(ref.id, 0), ref.first), head.number + 1):
                entry = branch.read(number)
                if isinstance(entry, Stripped):
                    raise Violation(f"{ref.name}@{number} is retained but stripped")
                self._compare(repo, entry, models)
        for tag in refs.tags.values():
            self._compare(repo, repo.resolve(tag.name, refs), models)
        for name in [ref.name for ref in refs.live_branches()]:
            self._write_more(repo, name)

    def _write_more(self, repo: Repository, name: str) -> None:
        def prepare(txn):
            txn.append(PERSON, {f"last-{name}": 1})
            return txn.plan("last")

        repo.write(prepare, name)
        if f"last-{name}" not in repo.snapshot(name).table(PERSON).scan():
            raise Violation(f"nothing can be written to {name}")

    def _replay(self, repo: Repository, head: State, models: dict[str, Rows]) -> set[str]:
        commits = list(repo.lineage.walk(head))[::-1]
        rows: Rows = {PERSON: {}, CITY: {}}
        ids: set[str] = set()
        tokens: set[str] = set()
        parent: str | None = None
        for commit in commits:
            if commit.id in ids or commit.actor in tokens:
                raise Violation(f"{commit.actor} ({commit.id}) is in the lineage twice")
            if commit.parent != parent:
                raise Violation(f"the lineage is not linear at {commit.id}")
            if commit.id in self.failed:
                raise Violation(f"{commit.actor} ({commit.id}) was said to have failed")
            if commit.operation != "init":
                effect = self.effects.get(commit.id)
                if effect is None:
                    raise Violation(f"nobody planned commit {commit.id}")
                rows = _apply(rows, effect, commit.id, parent)
            models[commit.id] = rows
            parent = commit.id
            ids.add(commit.id)
            tokens |= {commit.actor} if commit.actor else set()
        if parent != head.head:
            raise Violation("the head is not the newest commit")
        return ids

    @staticmethod
    def _compare(repo: Repository, state: State, models: dict[str, Rows]) -> None:
        model = models.get(state.head)
        for key, table in state.tables.items():
            handle = repo.parts.tables.open(table.ref)
            rows = handle.scan()
            if len(rows) != table.row_count:
                raise Violation(f"{key} has {len(rows)} rows, the manifest says {table.row_count}")
            if model is not None and rows != model[key]:
                raise Violation(f"{state.branch}@{state.number} {key}: {rows}, expected {model[key]}")


def _rows_of(snapshot) -> Rows:
    return {key: snapshot.table(key).scan() for key in snapshot.state.tables}


def _apply(rows: Rows, effect: Effect, commit_id: str, parent: str | None) -> Rows:
    result = {key: dict(table) for key, table in rows.items()}
    for key, seen in effect.seen.items():
        if rows[key] != seen:
            raise Violation(f"{effect.token} ({commit_id}) depends on a {key} that is gone")
    if effect.parent is not None and effect.parent != parent:
        raise Violation(f"{effect.token} ({commit_id}) landed on another head than it named")
    for key, added in effect.append.items():
        if added.keys() & result[key].keys():
            raise Violation(f"{effect.token} ({commit_id}) appended what was there")
        result[key].update(added)
    for key, changed in effect.upsert.items():
        result[key].update(changed)
    for key, gone in effect.delete.items():
        if not gone <= result[key].keys():
            raise Violation(f"{effect.token} ({commit_id}) deleted what was gone")
        for one in gone:
            del result[key][one]
    return result


def _in_turn(tasks):
    return [task() for task in tasks]


def simulate(seed: int, size: int = 6) -> Universe:
    """Run one universe; raises what went wrong. The same seed does the same."""
    import importlib

    collecting = importlib.import_module("omnigraph.manifest.collect")
    with contextlib.ExitStack() as stack:
        for module in ("repository", "compose", "reach"):
            stack.enter_context(mock.patch(f"omnigraph.manifest.{module}.run_parallel", _in_turn))
        stack.enter_context(mock.patch.object(collecting, "run_parallel", _in_turn))
        stack.enter_context(mock.patch("omnigraph.manifest.lineage.RECENT_MAX", 10))
        stack.enter_context(mock.patch("omnigraph.manifest.lineage.RECENT_KEPT", 4))
        universe = Universe(seed, size)
        universe.run()
        return universe
