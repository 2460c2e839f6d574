"""Items are worked on ahead of time, and come as if they were not."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from omnigraph.write.ahead import ahead

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize("count", [0, 1, 2, 3, 50])
def test_every_item_comes_in_order_with_its_work(count: int) -> None:
    assert list(ahead(range(count), lambda item: item * item)) == [(item, item * item) for item in range(count)]


@pytest.mark.parametrize("count", [0, 1, 7])
def test_an_error_of_the_items_comes_after_those_before_it(count: int) -> None:
    def items() -> Iterator[int]:
        yield from range(count)
        raise ValueError("no more")

    found = ahead(items(), str)
    assert [next(found)[0] for _ in range(count)] == list(range(count))
    with pytest.raises(ValueError, match="no more"):
        next(found)


def test_an_error_of_the_work_comes_in_its_place() -> None:
    found = ahead([1, 0, 2], lambda item: 6 // item)
    assert next(found) == (1, 6)
    with pytest.raises(ZeroDivisionError):
        next(found)


def test_few_items_are_read_ahead() -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for item in range(100):
            read.append(item)
            yield item

    found = ahead(items(), str)
    next(found)
    assert len(read) <= 4
    found.close()  # type: ignore[attr-defined]
    assert len(read) <= 4


def test_work_is_done_on_another_thread_meanwhile() -> None:
    started, main = threading.Event(), threading.current_thread()

    def items() -> Iterator[int]:
        yield 1
        assert started.wait(60), "the first item is worked on while the second is read"
        yield 2

    def work(item: int) -> bool:
        started.set()
        return threading.current_thread() is main

    assert next(ahead(items(), work)) == (1, False)
