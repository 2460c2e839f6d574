"""Large objects that are read in place: a file of a local disk is mapped into memory, any other object is fetched."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import TYPE_CHECKING

from obstore.store import LocalStore

from omnigraph.storage import meter
from omnigraph.storage.store import ObjectStoreStore, store_errors

if TYPE_CHECKING:
    from omnigraph.storage.store import Store


def read_mapped(store: Store, path: str) -> memoryview | None:
    """The bytes of an object, None if there is none. A mapped file stays readable when it is deleted or replaced."""
    backend = store.backend if isinstance(store, ObjectStoreStore) else None
    if not isinstance(backend, LocalStore):
        data = store.get(path)
        return None if data is None else memoryview(data)
    with store_errors(f"read {path}"):
        meter.count("get")
        try:
            with (Path(str(backend.prefix)) / path).open("rb") as file:
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except FileNotFoundError:
            return None
        except ValueError:  # an empty file cannot be mapped
            return memoryview(b"")
