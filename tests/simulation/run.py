"""Many universes: `python -m tests.simulation.run --seeds N --from K`."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
import traceback

from .scenario import simulate


def _try(task: tuple[int, int]) -> tuple[int, int, str | None]:
    """Seed, acknowledged commits, and what went wrong."""
    seed, size = task
    try:
        return seed, len(simulate(seed, size).acknowledged), None
    except Exception:
        return seed, 0, traceback.format_exc()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--size", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    started_s = time.monotonic()
    failures = acknowledged = 0
    tasks = [(seed, args.size) for seed in range(args.first, args.first + args.seeds)]
    with multiprocessing.get_context("spawn").Pool(min(args.jobs, len(tasks))) as pool:
        for done, (seed, commits, wrong) in enumerate(pool.imap_unordered(_try, tasks, 8), 1):
            acknowledged += commits
            if wrong is not None:
                failures += 1
                print(f"{wrong}seed {seed} failed; again: make simulate SEEDS=1 FROM={seed}", flush=True)
            if done % 500 == 0 or done == args.seeds:
                rate = done / (time.monotonic() - started_s)
                print(f"{done} universes, {acknowledged} commits, {failures} failures, {rate:.0f}/s", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
