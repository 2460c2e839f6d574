"""A branch: the journal of its states."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnigraph.manifest.codec import decode_entry, encode_state
from omnigraph.manifest.journal import Journal, Place
from omnigraph.manifest.state import State, Stripped
from omnigraph.model.errors import BranchNotFound, CorruptObject, SnapshotReclaimed

if TYPE_CHECKING:
    from omnigraph.manifest.refs import BranchRef

MANIFESTS = "__manifest"


class Branch(Journal[State]):
    """One live branch as a process knows it."""

    def __init__(self, place: Place, ref: BranchRef) -> None:
        super().__init__(place, f"{MANIFESTS}/{ref.id}", ref.first)
        self.name = ref.name
        self.id = ref.id

    def encode(self, value: State) -> bytes:
        """To bytes."""
        return encode_state(value)

    def decode(self, data: bytes, number: int) -> State | Stripped:
        """From bytes."""
        where = self.chain.path(number)
        entry = decode_entry(data, where)
        if entry.chain != self.id or entry.number != number:
            raise CorruptObject(where, f"it says it is number {entry.number} of {entry.chain}")
        return replace(entry, branch=self.name) if isinstance(entry, State) else entry

    def missing(self) -> Exception:
        """There is no such branch."""
        return BranchNotFound(self.name)

    def state_at(self, number: int) -> State:
        """The state at a number, if cleanup has left it."""
        entry = self.read(number)
        if isinstance(entry, Stripped):
            raise SnapshotReclaimed(f"version {number} of branch {self.name!r}")
        return entry
