"""Which points stay: by rule, by the grace, by intents."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from omnigraph.manifest.branch import MANIFESTS
from omnigraph.manifest.parts import PROBES
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from omnigraph.manifest.refs import BranchRef, Refs
    from omnigraph.manifest.repository import Repository

GRACE_S = 15 * 60.0
Numbers: TypeAlias = dict[str, dict[int, int]]
"""Chain id → number of an entry → time of its object."""


@dataclass(frozen=True)
class Retention:
    """What to keep: a commit goes only if every rule given lets it go."""

    keep: int | None = None
    older_than_s: float | None = None
    grace_s: float = GRACE_S

    def __post_init__(self) -> None:
        if self.keep is None and self.older_than_s is None:
            raise BadRequest("cleanup needs to know what to keep: give keep, older_than, or both")
        if self.keep is not None and self.keep < 1:
            raise BadRequest("keep must be at least 1: the newest version always stays")
        if self.older_than_s is not None and self.older_than_s < 0:
            raise BadRequest("older_than must not be negative")


def store_time(repository: Repository) -> int:
    """The store's own clock, read from an object written now."""
    store = repository.parts.store
    path = f"{PROBES}/{repository.parts.runtime.ids.ulid()}"
    store.put(path, b"")
    info = store.stat(path)
    store.delete([path])
    return info.modified_us if info is not None else repository.parts.runtime.clock.now_us()


def listed_numbers(repository: Repository) -> Numbers:
    """What the chains hold, by the store's own listing."""
    listed: Numbers = {}
    probe = repository.main().chain
    for info in repository.parts.store.list(MANIFESTS):
        number = probe.number(info.path)
        chain = info.path.split("/")[-2]
        if number is not None:
            listed.setdefault(chain, {})[number] = info.modified_us
    return listed


def retained_from(
    repository: Repository, refs: Refs, listed: Numbers, retention: Retention, now_us: int
) -> dict[str, int]:
    """By chain: the first number that stays by itself. Removed branches keep only what is pinned."""
    kept: dict[str, int] = dict(refs.kept_from)
    for ref in refs.branches.values():
        numbers = listed.get(ref.id, {})
        if not numbers:
            continue
        last = max(numbers)
        first = last + 1 if ref.status == "removed" else _first_kept(repository, ref, numbers, retention, now_us)
        kept[ref.id] = max(kept.get(ref.id, 0), first)
    return kept


def _first_kept(
    repository: Repository, ref: BranchRef, numbers: dict[int, int], retention: Retention, now_us: int
) -> int:
    ordered = sorted(numbers)
    candidates = [ordered[-1]]
    grace_us = now_us - int(retention.grace_s * 1e6)
    for older, newer in pairwise(ordered):
        if numbers[newer] >= grace_us:  # superseded within the grace: somebody may still be reading it
            candidates.append(older)
            break
    if retention.older_than_s is not None:
        young_us = now_us - int(retention.older_than_s * 1e6)
        candidates += [number for number in ordered if numbers[number] >= young_us][:1]
    if retention.keep is not None:
        own = _own_commits(repository, ref, retention.keep)
        candidates.append(min(own) if len(own) >= retention.keep else ordered[0])
    return min(candidates)


def _own_commits(repository: Repository, ref: BranchRef, wanted: int) -> list[int]:
    numbers: list[int] = []
    for commit in repository.lineage.walk(repository.branch_of(ref).head()):
        if commit.chain == ref.id:
            numbers.append(commit.number)
        if len(numbers) >= wanted:
            break
    return numbers
