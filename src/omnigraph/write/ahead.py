"""Work on what comes next, on other cores, while what came before is taken in."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from omnigraph.storage.parallel import begin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2
"""So many items are worked on before they are asked for."""


def ahead(items: Iterable[T], work: Callable[[T], R]) -> Iterator[tuple[T, R]]:
    """Each item with what `work` makes of it, in order.

    An error of the items comes when all that were there before it have been taken.
    """
    rest, error = iter(items), None
    begun: deque[tuple[T, Future[R]]] = deque()
    is_more = True
    try:
        while is_more or begun:
            if not is_more or len(begun) > AHEAD:
                item, future = begun.popleft()
                yield item, work(item) if future.cancel() else future.result()
                continue
            try:
                item = next(rest)
            except StopIteration:
                is_more = False
            except Exception as wrong:  # noqa: BLE001 - raised below
                error, is_more = wrong, False
            else:
                begun.append((item, begin(partial(work, item))))
    finally:
        for _, future in begun:
            future.cancel()
    if error is not None:
        raise error
