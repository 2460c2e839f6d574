"""A world where one seed decides everything: time, ids, scheduling, a store with faults, tables.

Actors are threads, but exactly one runs: the one that has the baton. Each store operation passes it on.
"""

from __future__ import annotations

import dataclasses
import json
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence

from ulid import ULID

from omnigraph.model.errors import SnapshotReclaimed, StoreUnavailable
from omnigraph.storage import staged as stagings
from omnigraph.storage.staged import ADDED, NEUTRAL, FragmentIdentity, RebaseRefused, Staged, TableRef
from omnigraph.storage.store import ObjectInfo

STEPS_MAX = 60_000
FOLD_FRAGMENTS = 4


class SimCrash(BaseException):
    """The process was killed."""


class Violation(Exception):
    """Something that must never happen has happened."""


@dataclasses.dataclass
class Faults:
    """How bad a world is: probabilities for each store operation."""

    fail: float = 0.0
    crash: float = 0.0
    outage: float = 0.0
    stale: float = 0.0
    sticky: float = 0.5

    @classmethod
    def drawn(cls, rng: random.Random) -> Faults:
        return cls(
            rng.choice([0.0, 0.01, 0.03, 0.08]),
            rng.choice([0.0, 0.001, 0.004]),
            rng.choice([0.0, 0.0, 0.005, 0.02]),
            rng.choice([0.0, 0.2, 0.5]),
            rng.choice([0.0, 0.5, 0.8, 0.95]),
        )


class Actor:
    def __init__(self, name: str, work: Callable[[], None]) -> None:
        self.name = name
        self.work = work
        self.baton = threading.Lock()
        self.baton.acquire()
        self.wake_us = 0


class Observer:
    """Sees every change of the objects the moment it happens."""

    def created(self, path: str, data: bytes) -> None:
        """An object came into being."""

    def replaced(self, path: str, old: bytes, new: bytes) -> None:
        """An object was written again."""

    def deleted(self, paths: Sequence[str]) -> None:
        """Objects are gone."""


class World:
    """The clock, the scheduler and the objects."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.faults = Faults()
        self.now_us = 1_700_000_000_000_000
        self.objects: dict[str, tuple[bytes, int, int]] = {}
        """Path → bytes, time, order of creation."""
        self.late: list[tuple[int, str, bytes]] = []
        self.observer: Observer = Observer()
        self.failure: BaseException | None = None
        self.steps = 0
        self._order = 0
        self._alive: list[Actor] = []
        self._current: Actor | None = None
        self._done = threading.Lock()

    # -- scheduling ------------------------------------------------------------------------------------

    def run(self, works: dict[str, Callable[[], None]]) -> None:
        self._alive = [Actor(name, work) for name, work in works.items()]
        threads = [threading.Thread(target=self._live, args=(actor,), daemon=True) for actor in self._alive]
        self._done.acquire()
        for thread in threads:
            thread.start()
        self._current = self._pick(None)
        self._current.baton.release()
        self._done.acquire()
        self._current = None
        for thread in threads:
            thread.join()
        if self.failure is not None:
            raise self.failure

    def _live(self, actor: Actor) -> None:
        actor.baton.acquire()
        try:
            actor.work()
        except SimCrash:
            pass
        except BaseException as error:
            self.failure = self.failure or error
        self._alive.remove(actor)
        if not self._alive:
            self._done.release()
            return
        self._current = self._pick(None)
        self._current.baton.release()

    def _pick(self, now: Actor | None) -> Actor:
        ready = [actor for actor in self._alive if actor.wake_us <= self.now_us]
        if not ready:
            self.now_us = min(actor.wake_us for actor in self._alive)
            ready = [actor for actor in self._alive if actor.wake_us <= self.now_us]
        if now in ready and self.rng.random() < self.faults.sticky:
            return now
        return ready[self.rng.randrange(len(ready))]

    def pause(self, delay_us: int = 0) -> None:
        """Let others run; go on when this much time has passed."""
        me = self._current
        if me is None:
            self.now_us += delay_us
            return
        if self.failure is not None:
            raise SimCrash
        self.steps += 1
        if self.steps > STEPS_MAX:
            raise Violation("it does not come to an end")
        me.wake_us = self.now_us + delay_us
        other = self._pick(me)
        if other is not me:
            self._current = other
            other.baton.release()
            me.baton.acquire()
            if self.failure is not None:
                raise SimCrash

    # -- objects ---------------------------------------------------------------------------------------

    def tick(self) -> None:
        self.now_us += self.rng.randrange(1, 3000)
        if self.late:
            due = [one for one in self.late if one[0] <= self.now_us]
            self.late = [one for one in self.late if one[0] > self.now_us]
            for _, path, data in due:
                self.create(path, data)

    def land_everything(self) -> None:
        for _, path, data in sorted(self.late):
            self.create(path, data)
        self.late = []

    def create(self, path: str, data: bytes) -> bool:
        if path in self.objects:
            return False
        self.put(path, data)
        return True

    def put(self, path: str, data: bytes) -> None:
        self._order += 1
        old = self.objects.get(path)
        self.objects[path] = (data, self.now_us, old[2] if old else self._order)
        if old is None:
            self.observer.created(path, data)
        else:
            self.observer.replaced(path, old[0], data)

    def delete(self, paths: Sequence[str]) -> None:
        gone = [path for path in paths if self.objects.pop(path, None) is not None]
        self.observer.deleted(gone)

    def info(self, path: str) -> ObjectInfo:
        data, time_us, _ = self.objects[path]
        return ObjectInfo(path, len(data), time_us)


class Process:
    """What dies together."""

    def __init__(self, world: World, is_faulty: bool = True) -> None:
        self.world = world
        self.is_faulty = is_faulty
        self.is_dead = False
        self.out_until_us = 0


class SimStore:
    """The store as one process sees it."""

    lists_in_order = True

    def __init__(self, process: Process) -> None:
        self._process = process
        self._world = process.world

    def get(self, path: str) -> bytes | None:
        self._before(f"read {path}")
        found = self._world.objects.get(path)
        return found[0] if found else None

    def stat(self, path: str) -> ObjectInfo | None:
        self._before(f"look at {path}")
        return self._world.info(path) if path in self._world.objects else None

    def create(self, path: str, data: bytes) -> bool:
        what = f"create {path}"
        self._before(what)
        world, rng = self._world, self._world.rng
        if self._process.is_faulty and rng.random() < world.faults.fail:
            world.late.append((world.now_us + rng.choice([2_000, 50_000, 1_000_000, 20_000_000]), path, data))
            self._maybe_outage(30)
            raise StoreUnavailable(f"{what} (lands later)")
        done = world.create(path, data)
        self._after(what)
        return done

    def put(self, path: str, data: bytes) -> None:
        what = f"write {path}"
        self._before(what)
        self._world.put(path, data)
        self._after(what)

    def first_page(self, prefix: str) -> list[ObjectInfo]:
        self._before(f"list {prefix}")
        paths = self._paths(prefix)
        world = self._world
        if self._process.is_faulty and world.rng.random() < world.faults.stale:
            hidden = world.rng.randrange(1, 4)
            newest = sorted(paths, key=lambda path: -world.objects[path][2])[: min(hidden, len(paths) - 1)]
            paths = [path for path in paths if path not in newest]
        return [world.info(path) for path in paths[:1000]]

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        self._before(f"list {prefix}")
        return iter([self._world.info(path) for path in self._paths(prefix)])

    def delete(self, paths: Sequence[str]) -> None:
        for start in range(0, len(paths), 5):
            self._before("delete")
            self._world.delete(paths[start : start + 5])
            self._after("delete")

    def _paths(self, prefix: str) -> list[str]:
        return sorted(path for path in self._world.objects if path.startswith(f"{prefix}/"))

    def _before(self, what: str) -> None:
        process, world = self._process, self._world
        world.tick()
        world.pause()
        if process.is_dead:
            raise SimCrash
        if not process.is_faulty:
            return
        if world.now_us < process.out_until_us:
            world.pause(world.rng.randrange(1, 200_000))
            raise StoreUnavailable(f"{what} (outage)")
        self._maybe_crash()
        if world.rng.random() < world.faults.fail:
            raise StoreUnavailable(f"{what} (no effect)")

    def _after(self, what: str) -> None:
        world = self._world
        if not self._process.is_faulty:
            return
        self._maybe_crash()
        if world.rng.random() < world.faults.fail:
            self._maybe_outage(30)
            raise StoreUnavailable(f"{what} (answer lost)")
        self._maybe_outage(1)

    def _maybe_crash(self) -> None:
        if self._world.rng.random() < self._world.faults.crash:
            self._process.is_dead = True
            raise SimCrash

    def _maybe_outage(self, times: int) -> None:
        world = self._world
        if world.rng.random() < world.faults.outage * times:
            self._process.out_until_us = world.now_us + world.rng.randrange(100_000, 30_000_000)


# -- the runtime -----------------------------------------------------------------------------------------


class SimLock:
    def __init__(self, process: Process) -> None:
        self._process = process
        self._taken = False

    def acquire(self, blocking: bool = True) -> bool:
        self._process.world.pause()
        while self._taken:
            if not blocking:
                return False
            if self._process.is_dead:
                raise SimCrash
            self._process.world.pause(50_000)
        self._taken = True
        return True

    def release(self) -> None:
        self._taken = False


class SimRuntime:
    """One process's clock, ids and locks."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._world = process.world
        self._last = 0
        self.clock = self.ids = self

    def now_us(self) -> int:
        return self._world.now_us

    def sleep(self, seconds: float) -> None:
        self._world.pause(int(seconds * 1e6))
        if self._process.is_dead:
            raise SimCrash

    def ulid(self) -> str:
        fresh = ((self._world.now_us // 1000) << 80) | self._world.rng.getrandbits(80)
        self._last = max(fresh, self._last + 1)
        return str(ULID.from_bytes(self._last.to_bytes(16, "big")))

    def random(self) -> float:
        return self._world.rng.random()

    def lock(self) -> SimLock:
        return SimLock(self._process)


# -- tables ----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Fragment:
    id: int
    file: str
    deleted: tuple[str, ...]
    total: int

    @property
    def identity(self) -> FragmentIdentity:
        deletion = ",".join(self.deleted) or None
        return FragmentIdentity(self.id, (self.file,), deletion, self.total - len(self.deleted))


@dataclasses.dataclass(frozen=True)
class Operation:
    """As Lance has it: fragment ids that go, fragments that replace those of the same id, files that are added."""

    gone: tuple[int, ...] = ()
    updated: tuple[Fragment, ...] = ()
    new: tuple[tuple[str, int], ...] = ()


@dataclasses.dataclass(frozen=True)
class SimTable:
    tables: SimTables
    ref: TableRef
    parts: tuple[Fragment, ...]
    next_id: int
    schema: object = None

    @property
    def row_count(self) -> int:
        return sum(part.total - len(part.deleted) for part in self.parts)

    def fragments(self) -> list[FragmentIdentity]:
        return [part.identity for part in self.parts]

    def scan(self, columns: object = None, where: object = None) -> dict[str, int]:
        found: dict[str, int] = {}
        for part in self.parts:
            for key, value in self.tables.read(part.file, cached=False).items():
                if key in part.deleted:
                    continue
                if key in found:
                    raise Violation(f"row {key} is there twice in {self.ref}")
                found[key] = value
        return found


class SimTables:
    """Tables over the simulated store, for one process. Rows are {id: v}."""

    def __init__(self, store: SimStore, runtime: SimRuntime) -> None:
        self._store = store
        self._runtime = runtime
        self._versions: dict[TableRef, SimTable] = {}
        self._data: dict[str, dict[str, int]] = {}

    def create(self, location: str, schema: object) -> Staged:
        table = self._write_version(location, (), 0)
        return Staged(table.ref, table.ref, "create", NEUTRAL, 0)

    def open(self, ref: TableRef) -> SimTable:
        known = self._versions.get(ref)
        if known is not None:
            return known
        data = self._store.get(_version_path(ref))
        if data is None:
            raise SnapshotReclaimed(f"version {ref.version} of {ref.location}")
        body = json.loads(data)
        parts = tuple(Fragment(one[0], one[1], tuple(one[2]), one[3]) for one in body["fragments"])
        table = self._versions[ref] = SimTable(self, ref, parts, body["next"])
        return table

    def read(self, path: str, *, cached: bool) -> dict[str, int]:
        if cached and path in self._data:
            return self._data[path]
        data = self._store.get(path)
        if data is None:
            raise SnapshotReclaimed(path)
        self._data[path] = json.loads(data)
        return self._data[path]

    def find(self, handle: SimTable, column: str, values: Iterable[str], columns: Sequence[str]) -> dict[str, int]:
        """Rows by id, from what this process has read before where it has."""
        assert column == "id"
        wanted = set(values)
        found: dict[str, int] = {}
        for part in handle.parts:
            rows = self.read(part.file, cached=True)
            found.update({key: rows[key] for key in rows if key in wanted and key not in part.deleted})
        return found

    def ids_present(self, handle: SimTable, ids: Iterable[str]) -> list[str]:
        return list(self.find(handle, "id", ids, ["id"]))

    def stage_append(self, handle: SimTable, rows: dict[str, int], *, loose: bool = False) -> Staged:
        operation = Operation(new=(self._upload(handle, rows),))
        if loose:
            count = handle.row_count + len(rows)
            return Staged(handle.ref, handle.ref, "append", ADDED, count, operation=operation, is_loose=True)
        result = self._commit(handle, operation)
        return Staged(handle.ref, result.ref, "append", ADDED, result.row_count, operation=operation)

    def stage_change(
        self,
        handle: SimTable,
        upsert: dict[str, int] | None = None,
        delete: Iterable[str] = (),
        *,
        loose: bool = False,
    ) -> Staged | None:
        rows, doomed = upsert or {}, set(delete)
        replaced = self._locate(handle.parts, rows)
        removed = self._locate(handle.parts, doomed)
        if not rows and not removed:
            return None
        touched = [part for part in handle.parts if part.id in replaced or part.id in removed]
        gone: list[int] = []
        updated: list[Fragment] = []
        for part in touched:
            deleted = tuple(sorted({*part.deleted, *replaced.get(part.id, ()), *removed.get(part.id, ())}))
            if len(deleted) == part.total:
                gone.append(part.id)
            else:
                updated.append(dataclasses.replace(part, deleted=deleted))
        new = (self._upload(handle, rows),) if rows else ()
        operation = Operation(tuple(gone), tuple(updated), new)
        hits = sum(len(keys) for keys in replaced.values())
        aspects = {"added"} if hits < len(rows) else set()
        aspects |= {"changed"} if hits else set()
        aspects |= {"removed"} if removed else set()
        is_loose = loose and not touched
        result = handle if is_loose else self._commit(handle, operation)
        return Staged(
            handle.ref,
            result.ref,
            "change",
            frozenset(aspects),
            result.row_count + (len(rows) if is_loose else 0),
            touched=tuple(part.identity for part in touched),
            base_files=frozenset(part.file for part in handle.parts),
            keys=list(rows),
            operation=operation,
            is_loose=is_loose,
        )

    def stage_fold(self, handle: SimTable) -> Staged | None:
        if len(handle.parts) < FOLD_FRAGMENTS:
            return None
        rows = {
            key: value
            for part in handle.parts
            for key, value in self.read(part.file, cached=False).items()
            if key not in part.deleted
        }
        new = (self._upload(handle, rows),) if rows else ()
        operation = Operation(gone=tuple(part.id for part in handle.parts), new=new)
        result = self._commit(handle, operation)
        touched = tuple(handle.fragments())
        return Staged(handle.ref, result.ref, "fold", NEUTRAL, result.row_count, touched=touched, operation=operation)

    def rebase(self, staged: Staged, onto: TableRef) -> Staged:
        base = self.open(onto)
        fragments = base.fragments()
        stagings.check_rebase(staged, fragments)
        if staged.keys:
            newer = {fragment.id for fragment in stagings.added_since(staged, fragments)}
            if self._locate([part for part in base.parts if part.id in newer], staged.keys):
                raise RebaseRefused("a key it inserts was added since")
        result = self._commit(base, staged.operation)
        files = frozenset(part.file for part in base.parts)
        return dataclasses.replace(
            staged,
            base=onto,
            ref=result.ref,
            row_count=result.row_count,
            base_files=files if staged.base_files else staged.base_files,
            is_loose=False,
        )

    def stage_stack(self, changes: Sequence[Staged], onto: TableRef) -> list[Staged]:
        stack: list[Staged] = []
        for change in changes:
            try:
                stack.append(self.rebase(change, stack[-1].ref if stack else onto))
            except RebaseRefused:
                break
        return stack

    def files(self, ref: TableRef) -> frozenset[str]:
        return frozenset({_version_path(ref), *(part.file for part in self.open(ref).parts)})

    def _locate(self, parts: Iterable[Fragment], keys: Iterable[str]) -> dict[int, list[str]]:
        wanted = set(keys)
        found: dict[int, list[str]] = {}
        for part in parts if wanted else ():
            hits = (wanted & self.read(part.file, cached=True).keys()) - set(part.deleted)
            if hits:
                found[part.id] = sorted(hits)
        return found

    def _upload(self, handle: SimTable, rows: dict[str, int]) -> tuple[str, int]:
        path = f"{handle.ref.location}/data/{self._runtime.ulid()}"
        self._store.put(path, json.dumps(rows).encode())
        self._data[path] = dict(rows)
        return path, len(rows)

    def _commit(self, base: SimTable, operation: Operation) -> SimTable:
        """Blindly, like Lance."""
        updated = {part.id: part for part in operation.updated}
        parts = [updated.get(part.id, part) for part in base.parts if part.id not in operation.gone]
        number = base.next_id
        for path, total in operation.new:
            parts.append(Fragment(number, path, (), total))
            number += 1
        return self._write_version(base.ref.location, tuple(parts), number)

    def _write_version(self, location: str, parts: tuple[Fragment, ...], next_id: int) -> SimTable:
        ref = TableRef(location, self._runtime._world.rng.getrandbits(62))
        body = {"next": next_id, "fragments": [[part.id, part.file, part.deleted, part.total] for part in parts]}
        self._store.put(_version_path(ref), json.dumps(body).encode())
        table = self._versions[ref] = SimTable(self, ref, parts, next_id)
        return table


def _version_path(ref: TableRef) -> str:
    return f"{ref.location}/_versions/{ref.version}"
