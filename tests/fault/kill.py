"""Kill an act after every single store operation, each time on a fresh copy of one graph."""

from __future__ import annotations

import json
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Generic, TypeVar

from tests.support.forks import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NEVER = -1
AT_ONCE = 2

T = TypeVar("T")


def run_victim(act: str, uri: Path, after: int) -> int | None:
    """Let a process do an act. How many operations it took; None if it was killed on the way."""
    order = json.dumps({"act": act, "uri": str(uri), "after": after})
    done = run("tests.fault.victim", input=order + "\n")
    if done.returncode == 0:
        return json.loads(done.stdout)["seen"]
    assert done.returncode == -signal.SIGKILL, f"{act} failed by itself, at operation {after}: {done.stderr}"
    return None


class Trial(Generic[T]):
    """One act, killed after each of its operations on a copy of the same graph.

    `look` says what a reader can see of a graph; `goes_on` insists that work goes on where an act was killed.
    """

    def __init__(
        self,
        act: str,
        original: Path,
        folder: Path,
        look: Callable[[Path], T],
        goes_on: Callable[[Path], None],
    ) -> None:
        self.act, self.original, self.folder = act, original, folder
        self.look, self._goes_on = look, goes_on
        self.old = look(original)

    def everywhere(self, check: Callable[[Path, T, bool], None]) -> int:
        """Kill everywhere and check each time; returns at how many places."""
        whole = self._copy("whole")
        total = run_victim(self.act, whole, NEVER)
        assert total is not None
        check(whole, self.look(whole), True)

        def one(after: int) -> bool:
            uri = self._copy(str(after))
            finished = run_victim(self.act, uri, after) is not None
            try:
                check(uri, self.look(uri), finished)
                self._goes_on(uri)
            except Exception as error:
                error.add_note(f"{self.act}, killed after operation {after} of {total}; graph left in {uri}")
                raise
            shutil.rmtree(uri)
            return finished

        with ThreadPoolExecutor(AT_ONCE) as pool:
            ends = list(pool.map(one, range(1, total + 1)))
        after = total + 1
        while not ends[-1]:  # operations side by side may take one more or less than they did the first time
            ends.append(one(after))
            after += 1
        return ends.count(False)

    def _copy(self, name: str) -> Path:
        uri = self.folder / f"{name}.omni"
        shutil.copytree(self.original, uri)
        return uri
