"""Kill an act after every single store operation, each time on a fresh copy of one graph."""

from __future__ import annotations

import json
import queue
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
NEVER = -1
AT_ONCE = 2
SPARE = 2

T = TypeVar("T")


class Victims:
    """Processes started ahead of need, so that nobody waits for their imports."""

    def __init__(self) -> None:
        self._ready: queue.SimpleQueue[subprocess.Popen[str]] = queue.SimpleQueue()
        for _ in range(SPARE):
            self._ready.put(self._start())

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.fault.victim"]
        return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, act: str, uri: Path, after: int) -> int | None:
        """Let one do an act. How many operations it took; None if it was killed on the way."""
        victim = self._ready.get()
        self._ready.put(self._start())
        out, _ = victim.communicate(json.dumps({"act": act, "uri": str(uri), "after": after}) + "\n", timeout=60)
        if victim.returncode == 0:
            return json.loads(out)["seen"]
        assert victim.returncode == -signal.SIGKILL, f"{act} failed by itself, at operation {after}"
        return None

    def close(self) -> None:
        while not self._ready.empty():
            spare = self._ready.get()
            spare.kill()
            spare.communicate()


class Trial(Generic[T]):
    """One act, killed after each of its operations on a copy of the same graph.

    `look` says what a reader can see of a graph; `goes_on` insists that work goes on where an act was killed.
    """

    def __init__(
        self,
        act: str,
        original: Path,
        folder: Path,
        victims: Victims,
        look: Callable[[Path], T],
        goes_on: Callable[[Path], None],
    ) -> None:
        self.act, self.original, self.folder, self.victims = act, original, folder, victims
        self.look, self._goes_on = look, goes_on
        self.old = look(original)

    def everywhere(self, check: Callable[[Path, T, bool], None]) -> int:
        """Kill everywhere and check each time; returns at how many places."""
        whole = self._copy("whole")
        total = self.victims.run(self.act, whole, NEVER)
        assert total is not None
        check(whole, self.look(whole), True)

        def one(after: int) -> bool:
            uri = self._copy(str(after))
            finished = self.victims.run(self.act, uri, after) is not None
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
