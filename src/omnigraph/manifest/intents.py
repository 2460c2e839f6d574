"""Intents: notes that a long work is under way, which cleanup honours."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from omnigraph.model.errors import Denied, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Generator

    from omnigraph.manifest.repository import Repository
    from omnigraph.manifest.state import State

INTENTS = "__intents"
INTENT_LIFE_S = 24 * 3600.0
STAGING = "__staging"
"""What loads keep beside the tables until they are published; an intent goes with it."""


@contextmanager
def pinned(repository: Repository, state: State) -> Generator[str]:
    """Keep the files of a state from being collected while it is read; gives the intent's id.

    Who may not write reads without it, and is told if cleanup was faster.
    """
    store, name = repository.parts.store, repository.parts.runtime.ids.ulid()
    path = f"{INTENTS}/{name}"
    with suppress(Denied):
        store.put(path, f"{state.chain} {state.number}".encode())
    try:
        yield name
    finally:
        with suppress(Denied, StoreUnavailable):
            store.delete([path])


def live_intents(repository: Repository, now_us: int) -> tuple[set[str], set[tuple[str, int]], int]:
    """Live intents, the points they pin, and the time of the oldest. Old ones have expired and are ignored."""
    names: set[str] = set()
    pins: set[tuple[str, int]] = set()
    oldest_us = now_us
    for info in repository.parts.store.list(INTENTS):
        if info.modified_us < now_us - int(INTENT_LIFE_S * 1e6):
            continue
        names.add(info.path.rpartition("/")[2])
        oldest_us = min(oldest_us, info.modified_us)
        body = (repository.parts.store.get(info.path) or b"").decode(errors="replace").split()
        if len(body) == 2 and body[1].isdigit():
            pins.add((body[0], int(body[1])))
    return names, pins, oldest_us
