"""Every test, and a second hearing: `make test`.

A test that fails beside others is run once more, alone, when the rest is done. One that is wrong fails again; one that
another process disturbed passes, and is named at the end, so that it can be mended. More than a few failures are a
finding as they are.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

HEARD_AGAIN_AT_MOST = 12
SOME_FAILED = 1
"""pytest's own word for it; its other codes say that the run itself went wrong."""

TOGETHER = ("-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder", "--durations", "10", "tests")


def main(arguments: list[str]) -> int:
    """Run what is asked for, or everything; return an exit code."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        failed = Path(folder, "failed")
        code = _pytest("--failed-to", str(failed), *(arguments or TOGETHER))
        unsteady: list[str] = []
        if code == SOME_FAILED and failed.exists():
            unsteady = failed.read_text().splitlines()
            if 0 < len(unsteady) <= HEARD_AGAIN_AT_MOST:
                print(f"\n{len(unsteady)} failed beside others: once more, alone", flush=True)
                code = _pytest(*unsteady)
    if code == 0 and unsteady:
        print("These failed beside others and passed alone, which is theirs to mend:", *unsteady, sep="\n  ")
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    print(f"{'all tests pass' if code == 0 else 'there are failures'}: {minutes} min {seconds:02} s", flush=True)
    return code


def _pytest(*arguments: str) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
