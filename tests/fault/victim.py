"""A process that kills itself with SIGKILL after the n-th store operation of an act.

Started ahead of time; told on its standard input what to do: one JSON object {"act", "uri", "after"}.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from omnigraph.graph import Graph
from omnigraph.graph.holder import Holder
from omnigraph.manifest import Repository, Retention, collect
from omnigraph.storage import folds, handles, reshape, versions
from omnigraph.storage.store import ObjectStoreStore
from tests.support.graphs import append, reopen, upsert
from tests.support.social import EVOLVED

MUTATION = """
query grow() {
  insert Person { name: "eve", age: 5 }
  insert Knows { from: "eve", to: "ada" }
  update Person set { age: age + 1 } where name = "bob"
}
"""
RECORDS: list[dict[str, Any]] = [
    {"type": "Person", "data": {"name": "eve", "age": 5}},
    {"type": "Person", "data": {"name": "bob", "age": 21}},
    {"edge": "Knows", "from": "eve", "to": "ada"},
]


def graph(repo: Repository) -> Graph:
    return Graph(Holder(repo))


ACTS: dict[str, Callable[[Repository], object]] = {
    "append": lambda repo: append(repo, "new1", "new2", v=9),
    "upsert": lambda repo: upsert(repo, "k0", "k3", "new1", v=9),
    "create_branch": lambda repo: repo.create_branch("fresh", "work"),
    "delete_branch": lambda repo: repo.delete_branch("doomed"),
    "cleanup": lambda repo: collect(repo, Retention(keep=1, grace_s=0.0), dry_run=False),
    "mutate": lambda repo: graph(repo).mutate(MUTATION),
    "load_branch": lambda repo: graph(repo).load(RECORDS, mode="merge", branch="fresh", base="main"),
    "merge": lambda repo: graph(repo).branches.merge("theirs"),
    "revert": lambda repo: graph(repo).commits.revert(graph(repo).commits.list()[1].id),
    "schema_apply": lambda repo: graph(repo).schema.apply(EVOLVED),
}


class Countdown:
    """Ends the process when so many operations have been done; `seen` counts them."""

    def __init__(self, after: int) -> None:
        self._after = after
        self._lock = threading.Lock()
        self.seen = 0

    def tick(self) -> None:
        with self._lock:
            self.seen += 1
            if self.seen == self._after:
                os.kill(os.getpid(), signal.SIGKILL)


def arm(countdown: Countdown) -> None:
    """Every store call and every step of Lance counts once it is done."""

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def wrapper(*args: Any, **how: Any) -> Any:
            result = call(*args, **how)
            if isinstance(result, Iterator):
                result = iter(list(result))
            countdown.tick()
            return result

        return wrapper

    for name in ("get", "stat", "create", "put", "first_page", "list", "delete"):
        setattr(ObjectStoreStore, name, counted(getattr(ObjectStoreStore, name)))
    for module in (folds, handles, reshape, versions):  # each holds its own name for it
        vars(module)["drain"] = counted(module.drain)


def main() -> None:
    order = json.loads(sys.stdin.readline())
    repo = reopen(order["uri"])
    countdown = Countdown(order["after"])
    arm(countdown)
    ACTS[order["act"]](repo)
    print(json.dumps({"seen": countdown.seen}), flush=True)


if __name__ == "__main__":
    main()
