"""A long run: `python -m tests.stateful.run EXAMPLES [STEPS] [SEED]`. Prints what was tried."""

from __future__ import annotations

import sys
import time

from hypothesis import seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.stateful.test_writes import TALLY, TestWrites, Writes


def main(examples: int, steps: int = 30, first: int = 0) -> None:
    chosen = settings(TestWrites.settings, max_examples=examples, stateful_step_count=steps, derandomize=False)
    started = time.monotonic()
    try:
        run_state_machine_as_test(seed(first)(Writes), settings=chosen)
    finally:
        for name, count in sorted(TALLY.items()):
            print(f"{count:8} {name}")
        print(f"{time.monotonic() - started:8.0f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
