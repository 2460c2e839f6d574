"""Processes like `python -m MODULE`, without the seconds that their imports take: forked from one that has done them.

Arguments, environment, folder, standard streams, exit code and signals are real. Tests that are about the start of a
process start a real one.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tests.support.eventually import HANGS_S

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext

    import pytest

ROOT = Path(__file__).parents[2]
READ_WHEN_NEEDED = (
    "OMNIGRAPH_",
    "AWS_",
    "PYTEST_",
    "HOME",
    "TMPDIR",
    "PATH",
    "PWD",
    "JAVA_HOME",
    "OLDPWD",
    "SHLVL",
    "_",
    "FORK_SERVER",
)
"""Variables that no import reads. Where another one differs, the process gets a start of its own."""


def run(
    module: str,
    *arguments: str,
    cwd: Path = ROOT,
    env: dict[str, str] | None = None,
    input: str = "",  # noqa: A002 - as subprocess calls it
    timeout_s: float = HANGS_S,
) -> subprocess.CompletedProcess[str]:
    """Run a module to its end."""
    env = dict(os.environ) if env is None else env
    with (
        tempfile.TemporaryFile("w+") as given,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        given.write(input)
        given.seek(0)
        server = fork_server()
        if server.fits(env):
            code = server.start(module, arguments, (given, out, err), cwd, env).wait(timeout_s)
        else:
            command = [sys.executable, "-m", module, *arguments]
            code = subprocess.run(
                command, cwd=cwd, env=env, stdin=given, stdout=out, stderr=err, timeout=timeout_s
            ).returncode
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess([module, *arguments], code, out.read(), err.read())


def forking() -> ForkServerContext:
    """Multiprocessing's own way to the same end: for functions that talk to each other."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.preload"])
    return context


class Forked:
    """A process under way."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._words = line.makefile()
        self.pid = int(self._words.readline())

    def wait(self, timeout_s: float = HANGS_S) -> int:
        """Its exit code, or a signal's number, negative. Who takes longer is killed."""
        self._line.settimeout(timeout_s)
        try:
            return int(self._words.readline())
        except TimeoutError:
            self.send(signal.SIGKILL)
            raise
        finally:
            self._words.close()
            self._line.close()

    def send(self, what: int) -> None:
        os.kill(self.pid, what)


class ForkServer:
    """Starts when it is made, and ends with this process."""

    def __init__(self) -> None:
        self._given = _read_by_imports(dict(os.environ))
        self._asking, theirs = socket.socketpair()
        self._lock = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.forkserver", str(theirs.fileno())],
                cwd=ROOT,
                env={**os.environ, "COLUMNS": "200"},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def close(self) -> None:
        """End it before this process ends."""
        self._asking.close()
        self._process.wait()

    def fits(self, env: dict[str, str]) -> bool:
        """Whether imports would have done the same with this environment."""
        return _read_by_imports(env) == self._given

    def program(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
        """Put an `omnigraph` for shells into a folder; it needs the descriptor that comes back."""
        script = folder / "omnigraph"
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {Path(__file__).with_name("shim.py")} "$@"\n')
        script.chmod(0o755)
        monkeypatch.setenv("FORK_SERVER", str(self._asking.fileno()))
        return self._asking.fileno()

    def start(
        self, module: str, arguments: tuple[str, ...], streams: tuple[IO[str], ...], cwd: Path, env: dict[str, str]
    ) -> Forked:
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            socket.send_fds(self._asking, [b"!"], [theirs.fileno(), *(stream.fileno() for stream in streams)])
        order = {"module": module, "arguments": arguments, "cwd": str(cwd), "env": env}
        ours.sendall(json.dumps(order).encode() + b"\n")
        return Forked(ours)


@cache
def fork_server() -> ForkServer:
    """This process's one."""
    return ForkServer()


def _read_by_imports(env: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if not name.startswith((*READ_WHEN_NEEDED, "COLUMNS"))}
