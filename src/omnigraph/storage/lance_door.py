"""The door to Lance: its exceptions become ours, and its requests are counted."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from omnigraph.model.errors import BadRequest, CorruptObject, Denied, SnapshotReclaimed, StoreUnavailable
from omnigraph.storage import meter

if TYPE_CHECKING:
    from collections.abc import Generator

    from lance import LanceDataset

_drain_lock = threading.Lock()

_GONE = ("not found", "NotFound", "No such file", "does not exist")
_DENIED = ("Permission denied", "AccessDenied", "SignatureDoesNotMatch", "InvalidAccessKeyId", "403 Forbidden")
_DAMAGED = ("Invalid magic", "magic number", "corrupt", "invalid wire type", "failed to decode", "buffer underflow")


@contextmanager
def lance_errors(what: str) -> Generator[None]:
    """Turn Lance's exceptions into ours. `what` names the table and the act."""
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        text = str(error)
        gist = text.strip().split("\n", 1)[0][:300]
        if any(sign in text for sign in _DENIED):
            raise Denied(f"no permission or wrong credentials to {what} ({gist})") from error
        if any(sign in text for sign in _DAMAGED):
            raise CorruptObject(what, gist) from error
        if any(sign in text for sign in _GONE):
            raise SnapshotReclaimed(f"what is needed to {what}") from error
        if isinstance(error, ValueError) and not isinstance(error, OSError):
            raise BadRequest(f"cannot {what}: {gist}") from error
        raise StoreUnavailable(f"could not {what}: {gist}") from error


def drain(dataset: LanceDataset, hops: int | None = None) -> None:
    """Report what Lance asked of the store since the last report; `hops` if the caller knows how many in a row.

    The library counts per session, not per call: an operation that runs alone sees its own requests exactly; several
    at once share them between their meters without losing any. So only the caller knows the hops of one among several.
    """
    with _drain_lock:
        stats = dataset.io_stats_incremental()
    if stats.read_iops:
        meter.count("get", stats.read_iops, None if hops is None else 0)
    if stats.write_iops:
        meter.count("put", stats.write_iops, None if hops is None else 0)
    if hops is not None:
        meter.count_hops(hops)
    meter.count_bytes(stats.read_bytes + stats.written_bytes)
