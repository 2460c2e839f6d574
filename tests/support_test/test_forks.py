"""A forked process is like a started one, as far as a test can tell."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support import forks

PROBE = """
import atexit, json, os, signal, sys, threading
if __name__ == "__main__":
    atexit.register(lambda: print("at exit"))
    print(json.dumps({
        "arguments": sys.argv[1:], "cwd": os.getcwd(), "given": sys.stdin.read(),
        "said": os.environ.get("OMNIGRAPH_SAID"), "home": os.environ.get("HOME"),
        "interrupt": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
        "threads": threading.active_count(), "name": __name__, "tty": sys.stdout.isatty(),
    }))
    print("trouble", file=sys.stderr)
    late = threading.Timer(0.05, print, ["from a thread"])
    late.start()
    how = sys.argv[1]
    if how == "raise":
        raise ValueError(how)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.exit({"none": None, "text": "a last word"}.get(how) if how in ("none", "text") else int(how))
"""


@pytest.mark.parametrize("how", ["0", "3", "none", "text", "raise", "kill"])
def test_a_forked_process_is_like_a_started_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    (tmp_path / "probe.py").write_text(PROBE)
    env = {**os.environ, "OMNIGRAPH_SAID": "ä word", "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "probe", how, "ü"]
    started = subprocess.run(
        command, cwd=tmp_path, env=env, input="line\n", capture_output=True, text=True, timeout=forks.HANGS_S
    )
    forked = forks.run("probe", how, "ü", cwd=tmp_path, env=env, input="line\n")
    assert (forked.returncode, forked.stdout) == (started.returncode, started.stdout)
    assert forked.stderr.splitlines()[-1:] == started.stderr.splitlines()[-1:]


def test_what_imports_would_read_takes_a_real_start() -> None:
    server = forks.ForkServer()  # of now: what other tests left in the environment is not the matter here
    try:
        assert server.fits({**os.environ, "OMNIGRAPH_HOME": "x", "AWS_REGION": "y"})
        assert not server.fits({**os.environ, "PYTHONHASHSEED": "1"})
        without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        assert not server.fits(without | {"LANG": "x"})
    finally:
        server.close()


def test_a_forked_process_can_be_interrupted(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text("import sys\nprint('here', flush=True)\nsys.stdin.readline()\n")
    ours, theirs = os.pipe()
    with os.fdopen(ours) as given, os.fdopen(theirs, "w"), tempfile.TemporaryFile("w+") as err:
        said, says = os.pipe()
        with os.fdopen(said) as out:
            with os.fdopen(says, "w") as to:
                started = forks.fork_server().start("waits", (), (given, to, err), tmp_path, dict(os.environ))
            assert out.readline() == "here\n"
            started.send(signal.SIGINT)
            assert started.wait() == -signal.SIGINT
        err.seek(0)
        assert "KeyboardInterrupt" in err.read()


def test_the_parent_has_started_nothing() -> None:
    """A thread does not survive a fork: what is imported beforehand may not have any of Lance, DuckDB or Python."""
    program = (
        "import json, pathlib, threading, tests.support.preload\n"
        "tasks = [path.read_text().strip() for path in pathlib.Path('/proc/self/task').glob('*/comm')]\n"
        "print(json.dumps([threading.active_count(), tasks]))"
    )
    if not Path("/proc/self/task").exists():
        pytest.skip("needs /proc")
    done = subprocess.run([sys.executable, "-c", program], cwd=forks.ROOT, capture_output=True, text=True, check=True)
    count, tasks = json.loads(done.stdout)
    assert count == 1
    # the allocator's own and those of OpenBLAS, which both start again in a child
    assert not [name for name in tasks if name not in ("jemalloc_bg_thd", "python", Path(sys.executable).name)]
