"""Intents: notes that a long work is under way, which cleanup honours."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from omnigraph.manifest.collect import INTENTS
from omnigraph.model.errors import Denied, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Generator

    from omnigraph.manifest.repository import Repository
    from omnigraph.manifest.state import State


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
