"""Requests that may go side by side: whether they do shows only if none of them is held up by something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.exchange import Counts
    from tests.support.proxy import CountingProxy

LATENCIES_S = (0.05, 0.2, 0.8, 3.2)


def fewest_hops(proxy: CountingProxy, act: Callable[[], Counts], at_most: int) -> Counts:
    """Count an act with more and more latency, until no more hops are seen than it should take.

    On a busy machine a thread may come late. Requests that wait for each other need as many hops at any latency.
    """
    for latency_s in LATENCIES_S:
        proxy.latency_s = latency_s
        try:
            seen = act()
        finally:
            proxy.latency_s = 0.0
        if seen.hops <= at_most:
            break
    return seen
