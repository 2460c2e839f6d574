"""`omnigraph` for shells of tests: asks the fork server on an inherited socket, so that it starts without imports.

It may use little of Python itself, because it starts for each command. What `forks.py` does, in a process of its own.
"""

import json
import os
import signal
import socket
import sys


def main() -> None:
    asking = socket.socket(fileno=int(os.environ["FORK_SERVER"]))
    ours, theirs = socket.socketpair()
    socket.send_fds(asking, [b"!"], [theirs.fileno(), 0, 1, 2])
    theirs.close()
    order = {"module": "omnigraph", "arguments": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ)}
    ours.sendall(json.dumps(order).encode() + b"\n")
    words = ours.makefile()
    pid = int(words.readline())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.kill(pid, number))
    code = int(words.readline())
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


main()
