"""Run a command that must not outlive the process that asked for it: `guard.py FOLDER FILE… -- COMMAND…`.

The asker holds the other end of our stdin. On SIGTERM the command is killed, the files it would leave behind
are removed and the rest of our process group goes too. When stdin closes the asker is gone, perhaps killed:
then its folder is removed as well. A pipe rather than PR_SET_PDEATHSIG, which fires
when the asking *thread* ends.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path


def main() -> None:
    split = sys.argv.index("--")
    folder, *leftovers = sys.argv[1:split]
    abandoned = threading.Event()
    # The signal waits until there is a command to kill.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    process = subprocess.Popen(sys.argv[split + 1 :], stdin=subprocess.DEVNULL)

    def watch() -> None:
        sys.stdin.buffer.read()
        abandoned.set()
        process.kill()

    threading.Thread(target=watch, daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: process.kill())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    process.wait()
    for leftover in leftovers:
        Path(leftover).unlink(missing_ok=True)
    if abandoned.is_set():
        shutil.rmtree(folder, ignore_errors=True)
    os.killpg(os.getpgid(0), signal.SIGKILL)


if __name__ == "__main__":
    main()
