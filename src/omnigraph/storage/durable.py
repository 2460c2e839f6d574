"""How much a commit on a local disk survives.

By default it survives `kill -9`: the operating system has it. With `fsync` it also survives a power cut: staged files
and their folders are on the disk before the publish, and the entry's bytes before its name exists.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from omnigraph.storage import meter
from omnigraph.storage.store import ObjectStoreStore, connect, store_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.storage.address import Address
    from omnigraph.storage.staged import Staged
    from omnigraph.storage.store import Store

DurabilityName = Literal["default", "fsync"]


class Durability(Protocol):
    """Called before a publish."""

    def before_publish(self, staged: Sequence[Staged]) -> None:
        """Everything the entry will point to must last."""
        ...


class LeaveToStore:
    """An object store acknowledges what is durable; a local disk's operating system survives its processes."""

    def before_publish(self, staged: Sequence[Staged]) -> None:
        """Nothing to do."""


class SyncToDisk:
    """Sync files, then the folders that name them, up to the graph's root."""

    def __init__(self, address: Address) -> None:
        self._root = Path(address.prefix)

    def before_publish(self, staged: Sequence[Staged]) -> None:
        """Sync what was staged."""
        folders: set[Path] = set()
        for name in (name for one in staged for name in one.files):
            sync_path(self._root / name)
            folders.update(_folders_up_to((self._root / name).parent, self._root))
        for folder in sorted(folders, key=lambda folder: len(folder.parts), reverse=True):
            sync_path(folder)


def _folders_up_to(folder: Path, root: Path) -> list[Path]:
    found = [folder]
    while folder != root:
        folder = folder.parent
        found.append(folder)
    return found


def sync_path(path: Path) -> None:
    """Make a file, or the names in a folder, survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class SyncedStore(ObjectStoreStore):
    """A local disk whose chain entries have their bytes on the disk before they have a name."""

    def __init__(self, address: Address) -> None:
        super().__init__(connect(address).backend, lists_in_order=False)
        self._root = Path(address.prefix)

    def create(self, path: str, data: bytes) -> bool:
        """Create an object if there is none; False if there is."""
        target = self._root / path
        draft = target.with_name(f"{target.name}#{secrets.randbelow(10**12)}")  # such names no listing shows
        with store_errors(f"create {path}"):
            meter.count("put")
            meter.count_bytes(len(data))
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                draft.write_bytes(data)
                sync_path(draft)
                os.link(draft, target)
            except FileExistsError:
                return False
            finally:
                draft.unlink(missing_ok=True)
            for folder in _folders_up_to(target.parent, self._root):
                sync_path(folder)
            return True


def connect_durably(name: DurabilityName, address: Address) -> tuple[Store, Durability]:
    """Open a store with the durability asked for. Object stores are durable by themselves."""
    if name == "fsync" and address.is_local:
        return SyncedStore(address), SyncToDisk(address)
    return connect(address), LeaveToStore()
