"""A process that has imported everything and forks one for each module that is to be run: `forkserver FD`.

The other end of the socket FD asks, see `forks.py`. A request is four descriptors: a socket of its own, then the
standard ones. On that socket comes the rest as a line of JSON; back go the process id and, in the end, the status.
Nobody asks any more when the socket is closed; then the server ends.
"""

import atexit
import gc
import json
import os
import runpy
import signal
import socket
import sys
import threading
import traceback
from typing import Any

DESCRIPTORS = 4


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    asking = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(asking.fileno(), False)
    import tests.support.preload  # noqa: F401

    gc.collect()
    gc.freeze()  # children would copy every page that their collector touches
    while True:
        word, found, _, _ = socket.recv_fds(asking, 1, DESCRIPTORS)
        if not word:
            os._exit(0)
        if os.fork() == 0:
            asking.close()
            _attend(found)
        for each in found:
            os.close(each)
        _reap()


def _reap() -> None:
    """Take leave of those that have ended."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def _attend(found: list[int]) -> None:
    """Start what is asked for, and say how it ended. One process does this for each, so that none waits for another."""
    line = socket.socket(fileno=found[0])
    with line.makefile() as words:
        order = json.loads(words.readline())
    pid = os.fork()
    if pid == 0:
        line.close()
        _run(order, found[1:])
    for each in found[1:]:
        os.close(each)
    line.sendall(f"{pid}\n".encode())
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    line.sendall(f"{status}\n".encode())
    os._exit(0)


def _run(order: dict[str, Any], standard: list[int]) -> None:
    """As `python -m MODULE` would, to the end of the process; only what the interpreter itself tears down is left."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, each in enumerate(standard):
        os.dup2(each, number)
        os.close(each)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv = [order["module"], *order["arguments"]]
    sys.path[0] = order["cwd"]  # where `-m` looks first
    code = 1
    try:
        runpy.run_module(order["module"], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = _code(end)
    except KeyboardInterrupt:
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
    finally:
        threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue] - waits for threads as an interpreter does
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _code(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)
    return 1


if __name__ == "__main__":
    main()
