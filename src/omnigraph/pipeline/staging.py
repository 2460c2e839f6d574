"""What a load has staged: where its files are, what each task reports, and the note from which it can be resumed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from omnigraph.manifest.intents import STAGING
from omnigraph.model.errors import CorruptObject, StoreUnavailable
from omnigraph.model.violations import Violation, ViolationKind, Violations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.storage.store import Store


def folder(load_id: str) -> str:
    """Where a load keeps what is no part of a table."""
    return f"{STAGING}/{load_id}"


@dataclass(frozen=True)
class StagedTable:
    """What a task has written for one table: fragments, and files with the columns that checks look at."""

    rows: int
    keys: tuple[str, ...]
    given: int
    """Rows whose ids were in the input."""
    uploaded: int
    """Rows that follow the rules of single rows, and so are in fragments."""
    bytes: int
    """What the rows take in memory."""
    fragments: tuple[str, ...] = ()
    remap: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class TaskReport:
    """What became of one split. Positions of violations count within the split."""

    split: int
    numbers: int
    """Lines or rows that were read: places of what follows in the same file begin after them."""
    tables: dict[str, StagedTable]
    violations: Violations
    copied_bytes: dict[str, int] = field(default_factory=dict[str, int])
    """Bytes of blobs that were copied in, by property."""

    def to_bytes(self) -> bytes:
        """Small enough to travel through Spark as a value."""
        found = self.violations
        return orjson.dumps(
            {
                "split": self.split,
                "numbers": self.numbers,
                "tables": {key: asdict(table) for key, table in self.tables.items()},
                "counts": {kind.value: count for kind, count in found.counts.items()},
                "kept": [asdict(violation) for violation in found.kept],
                "copied_bytes": self.copied_bytes,
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> TaskReport:
        """The report a task has sent."""
        found: dict[str, Any] = orjson.loads(data)
        violations = Violations()
        violations.counts.update({ViolationKind(kind): count for kind, count in found["counts"].items()})
        violations.kept += [replace(Violation(**one), kind=ViolationKind(one["kind"])) for one in found["kept"]]
        tables = {
            key: replace(StagedTable(**one), keys=tuple(one["keys"]), fragments=tuple(one["fragments"]))
            for key, one in found["tables"].items()
        }
        return cls(found["split"], found["numbers"], tables, violations, found["copied_bytes"])


# -- key files ---------------------------------------------------------------------------------------------


def put_keys(store: Store, path: str, rows: pa.Table) -> None:
    """Keep the columns that checks look at, durably."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(rows)
    store.put(path, sink.getvalue().to_pybytes())


def get_keys(store: Store, path: str) -> pa.Table:
    """The rows of a key file."""
    data = store.get(path)
    if data is None:
        raise StoreUnavailable(f"{path} is not there any more: the load has to be started again")
    try:
        return pa.ipc.open_file(data).read_all()
    except pa.ArrowException as error:
        raise CorruptObject(path, str(error)) from error


# -- the note ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StagedLoad:
    """A load whose tasks are done: everything a publish needs, in one object."""

    load_id: str
    branch: str
    mode: str
    schema_hash: str
    words: tuple[str, ...]
    reports: tuple[TaskReport, ...]
    splits: tuple[int, ...]
    """The file of each split."""
    starts: tuple[bool, ...]
    """Whether each split starts with its file."""
    base_branch: str | None = None
    actor: str | None = None
    if_commit: str | None = None
    skip: bool = False

    def save(self, store: Store) -> None:
        """Write it where `find` looks."""
        plain = {name: value for name, value in self.__dict__.items() if name != "reports"}
        reports = [orjson.Fragment(report.to_bytes()) for report in self.reports]
        store.put(_note(self.load_id), orjson.dumps({**plain, "reports": reports}))

    @classmethod
    def find(cls, store: Store, load_id: str) -> StagedLoad | None:
        """A staged load by its id."""
        data = store.get(_note(load_id))
        if data is None:
            return None
        found: dict[str, Any] = orjson.loads(data)
        found["reports"] = tuple(TaskReport.from_bytes(orjson.dumps(one)) for one in found["reports"])
        for name in ("words", "splits", "starts"):
            found[name] = tuple(found[name])
        return cls(**found)


def _note(load_id: str) -> str:
    return f"{folder(load_id)}/load.json"


def staged_ids(store: Store) -> list[str]:
    """The loads that have been staged and neither published nor dropped, oldest first."""
    return sorted(info.path.split("/")[1] for info in store.list(STAGING) if info.path.endswith("/load.json"))


def drop_files(store: Store, load_id: str, keep: Sequence[str] = ()) -> None:
    """Delete what a load kept beside the tables."""
    store.delete([info.path for info in store.list(folder(load_id)) if info.path not in keep])
