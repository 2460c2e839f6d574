"""Long loads in the background: started, watched, called off. What a job writes is one commit, or nothing."""

from __future__ import annotations

import tempfile
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from omnigraph.client.documents import load_document
from omnigraph.client.faults import public_document
from omnigraph.model.errors import Cancelled, Overloaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.graph import Graph
    from omnigraph.write.load import LoadResult

RUNNING_MAX = 2
WAITING_MAX = 16
KEPT_MAX = 256
RETRY_AFTER_S = 60

Status = Literal["queued", "running", "succeeded", "failed", "cancelled"]


@dataclass
class Job:
    """One load: what became of it, or how far it is."""

    id: str
    graph_id: str
    actor: str | None
    created_us: int
    status: Status = "queued"
    progress: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    called_off: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.status in ("succeeded", "failed", "cancelled")

    def report(self, stage: str, done: int, total: int | None) -> None:
        """Note how far it is, and stop if it was called off: the last time just before it is published."""
        if self.called_off.is_set():
            raise Cancelled
        self.progress = {"stage": stage, "done": done, "total": total}

    def to_json(self) -> dict[str, Any]:
        """`JobOutput`."""
        return {
            "job_id": self.id,
            "graph_id": self.graph_id,
            "kind": "load",
            "status": self.status,
            "actor_id": self.actor,
            "created_at": self.created_us,
            "progress": self.progress,
            "result": self.result,
            "error": self.error,
        }


class Jobs:
    """The jobs of a server: a few at once, the others wait; the newest that are over are remembered."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(RUNNING_MAX, thread_name_prefix="omnigraph-job")
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="omnigraph-jobs-")

    def new_file(self, job_id: str) -> Path:
        """Where the records of a job are kept until it is over."""
        return Path(self._folder.name) / f"{job_id}.jsonl"

    def check_room(self) -> None:
        """Refuse more than can wait."""
        with self._lock:
            if sum(not job.is_over for job in self._jobs.values()) >= RUNNING_MAX + WAITING_MAX:
                raise Overloaded(f"{WAITING_MAX} jobs are waiting already", retry_after_s=RETRY_AFTER_S)

    def start(self, job: Job, graph: Graph, records: Path, **how: Any) -> None:
        """Run a load as soon as there is room."""
        with self._lock:
            self._jobs[job.id] = job
            over = [one.id for one in self._jobs.values() if one.is_over]
            for job_id in over[: max(0, len(self._jobs) - KEPT_MAX)]:
                del self._jobs[job_id]
        self._pool.submit(self._run, job, graph.uri, records, lambda: _loaded(job, graph, records, how))

    @staticmethod
    def _run(job: Job, uri: str, records: Path, load: Callable[[], LoadResult]) -> None:
        try:
            if job.called_off.is_set():
                raise Cancelled
            job.status = "running"
            job.result = load_document(uri, load())
            job.status = "succeeded"
        except Cancelled:
            job.status = "cancelled"
        except Exception as error:  # noqa: BLE001 - whatever it is, the job is over, and says so
            job.error = public_document(error)
            job.status = "failed"
        finally:
            records.unlink(missing_ok=True)

    def of(self, graph_id: str, actor: str | None) -> list[Job]:
        """What somebody has started on a graph, newest first."""
        with self._lock:
            return [one for one in reversed(self._jobs.values()) if (one.graph_id, one.actor) == (graph_id, actor)]

    def find(self, graph_id: str, actor: str | None, job_id: str) -> Job | None:
        """A job of somebody's own; those of others are not there."""
        with self._lock:
            found = self._jobs.get(job_id)
        return found if found is not None and (found.graph_id, found.actor) == (graph_id, actor) else None

    def close(self) -> None:
        """Call off what is not over: a load may take hours, and one that is called off has written nothing."""
        with self._lock:
            for job in self._jobs.values():
                job.called_off.set()
        self._pool.shutdown(wait=True)
        self._folder.cleanup()


def _loaded(job: Job, graph: Graph, records: Path, how: dict[str, Any]) -> LoadResult:
    return graph.load(records, format="jsonl", engine="auto", progress=job.report, **how)


def now_us() -> int:
    """The time of day."""
    return time.time_ns() // 1000
