"""Real S3 servers on loopback: started in a moment, killed without warning, never left behind."""

import http.client
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from tests.support.endpoint import ACCESS_KEY, REGION, SECRET_KEY, S3Endpoint

START_TIMEOUT_S = 120.0
START_ATTEMPTS = 3
LOOPBACK = "127.0.0.1"
GUARD = Path(__file__).with_name("guard.py")

# A block of ports below the kernel's own range (32768 and up), so that no client socket sits on one of them.
BLOCK_PORTS = 16
FIRST_BLOCK, LAST_BLOCK = 12_000, 21_000
ADMIN_PORT, ADMIN_GRPC_PORT = (
    8,
    8 + 10_000,
)  # seaweed's worker looks for gRPC 10,000 up, whatever was configured


class ServerFailed(Exception):
    """A server did not start, or died; carries the end of its log."""


class PortBlock:
    """Consecutive free ports; the last stays bound by us so that no other test process takes the block."""

    def __init__(self) -> None:
        blocks = list(range(FIRST_BLOCK, LAST_BLOCK, BLOCK_PORTS))
        random.SystemRandom().shuffle(blocks)
        for first in blocks:
            if self._claim(first):
                return
        raise ServerFailed(f"no {BLOCK_PORTS} free ports in a row between {FIRST_BLOCK} and {LAST_BLOCK}")

    def _claim(self, first: int) -> bool:
        ports = [*range(first, first + BLOCK_PORTS), first + ADMIN_GRPC_PORT]
        bound: list[socket.socket] = []
        try:
            for port in ports:
                bound.append(socket.socket())
                bound[-1].bind((LOOPBACK, port))
        except OSError:
            return False
        else:
            self.first = first
            self._claim_socket = bound.pop(BLOCK_PORTS - 1)
            return True
        finally:
            for each in bound:
                each.close()

    def release(self) -> None:
        self._claim_socket.close()


class ServerProcess(S3Endpoint):
    """A server in its own process: a context manager that starts it in a temporary folder of its own.

    A subclass says how: `command`, `environment`, `ready_path` and what files to remove with it.
    """

    ready_path: str

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ports: PortBlock | None = None
        self._folder: Path | None = None

    def command(self, port: int, data: Path) -> list[str]:
        raise NotImplementedError

    def environment(self, port: int) -> dict[str, str]:
        raise NotImplementedError

    def leftovers(self, port: int) -> list[str]:
        return []

    @property
    def port(self) -> int:
        assert self._ports, "not started"
        return self._ports.first

    @property
    def endpoint(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def folder(self) -> Path:
        """Holds the data and the server's log; removed by `stop`."""
        assert self._folder, "not started"
        return self._folder

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Start on fresh ports and an empty folder, and wait until it answers."""
        for attempt in range(START_ATTEMPTS):
            self._ports = PortBlock()
            self._folder = Path(tempfile.mkdtemp(prefix="omnigraph-s3-"))
            try:
                self._launch()
            except ServerFailed:
                self.stop()
                if attempt == START_ATTEMPTS - 1:
                    raise
            except BaseException:
                self.stop()
                raise
            else:
                return self
        raise AssertionError("unreachable")

    def kill(self) -> None:
        """SIGKILL, as when a machine loses its process: nothing is flushed, the data folder stays."""
        if self._process is None:
            return
        self._process.terminate()  # the guard turns this into SIGKILL for the server
        self._process.wait(timeout=START_TIMEOUT_S)
        if self._process.stdin:
            self._process.stdin.close()
        self._process = None

    def restart(self) -> None:
        """Start again on the same data and the same ports, after a kill if it still runs."""
        self.kill()
        self._launch()

    def stop(self) -> None:
        """Kill it and remove what it stored."""
        self.kill()
        if self._ports:
            self._ports.release()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._ports = self._folder = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _launch(self) -> None:
        data, temporary = self.folder / "data", self.folder / "tmp"
        for needed in (data, temporary):
            needed.mkdir(exist_ok=True)
        base = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.folder), "TMPDIR": str(temporary)}
        keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY, "AWS_REGION": REGION}
        guard = [sys.executable, "-IS", str(GUARD), str(self.folder), *self.leftovers(self.port), "--"]
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                guard + self.command(self.port, data),
                env=base | keys | self.environment(self.port),
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C reaches pytest, and pytest stops the server
            )
        wait_until(self._ready, self._explain, START_TIMEOUT_S)

    def _ready(self) -> bool:
        if not self.running:
            raise ServerFailed(self._explain())
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=START_TIMEOUT_S)
        try:
            connection.request("GET", self.ready_path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _explain(self) -> str:
        log = (self.folder / "log").read_text(errors="replace")
        return f"{type(self).__name__} did not start on port {self.port}:\n{log[-2000:]}"


class SeaweedServer(ServerProcess):
    """SeaweedFS on disk: what it acknowledged survives a kill. The first PUT in a bucket takes it 0.2 s."""

    ready_path = "/healthz"

    def command(self, port: int, data: Path) -> list[str]:
        sockets = self.folder / "tmp"
        return [
            executable("weed"),
            "mini",
            f"-dir={data}",
            f"-ip={LOOPBACK}",
            f"-ip.bind={LOOPBACK}",
            f"-s3.port={port}",
            *(f"-{flag}={number}" for flag, number in self._inner_ports(port).items()),
            f"-s3.localSocket={sockets}/s3.sock",
            f"-filer.localSocket={sockets}/filer.sock",
            "-volume.max=10000",  # a bucket takes a volume; the default is one per GB of free disk
            "-webdav=false",
            "-admin.ui=false",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            "-master.telemetry=false",
        ]

    def environment(self, port: int) -> dict[str, str]:
        return {}

    def leftovers(self, port: int) -> list[str]:
        grpc = {flag: number for flag, number in self._inner_ports(port).items() if flag.endswith("grpc")}
        return [f"/tmp/seaweedfs-{flag.partition('.')[0]}-grpc-{number}.sock" for flag, number in grpc.items()]

    def _ready(self) -> bool:
        """S3 answers before the other parts are up: wait for the line that says they are."""
        return super()._ready() and b"All enabled components" in (self.folder / "log").read_bytes()

    @staticmethod
    def _inner_ports(port: int) -> dict[str, int]:
        return {
            "s3.port.grpc": port + 1,
            "master.port": port + 2,
            "master.port.grpc": port + 3,
            "volume.port": port + 4,
            "volume.port.grpc": port + 5,
            "filer.port": port + 6,
            "filer.port.grpc": port + 7,
            "admin.port": port + ADMIN_PORT,
            "admin.port.grpc": port + ADMIN_GRPC_PORT,
        }


class MinistackServer(ServerProcess):
    """ministack: in memory and quick; a kill forgets everything."""

    ready_path = "/_ministack/health"

    def command(self, port: int, data: Path) -> list[str]:
        return [executable("ministack")]

    def environment(self, port: int) -> dict[str, str]:
        return {"BIND_HOST": LOOPBACK, "GATEWAY_PORT": str(port), "SERVICES": "s3", "LOG_LEVEL": "ERROR"}


def executable(name: str) -> str:
    """A program installed next to this Python."""
    return str(Path(sys.executable).parent / name)


def wait_until(done: Callable[[], bool], explain: Callable[[], str], timeout_s: float) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not done():
        if time.monotonic() > deadline_s:
            raise ServerFailed(explain())
        time.sleep(0.02)
