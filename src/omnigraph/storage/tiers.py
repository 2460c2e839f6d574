"""When to fold a table's tail, and which fragments: tiers by size, so that each row is rewritten a logarithmic number
of times and the number of fragments stays logarithmic in the number of commits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnigraph.storage.staged import FragmentIdentity

FANOUT = 8
ROWS_MAX = 262_144
BYTES_MAX = 256 * 2**20
"""What one fold may hold in memory."""
LOST_SHARE = 10
"""A fragment that lost more than this part of its rows is written anew."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Fragments to be written as one."""

    fragments: tuple[FragmentIdentity, ...]

    @property
    def rows(self) -> int:
        """How many rows the result has."""
        return sum(fragment.rows for fragment in self.fragments)


def tier(rows: int) -> int:
    """Which power of the fanout a fragment's size has reached."""
    level = 0
    while rows >= FANOUT:
        rows //= FANOUT
        level += 1
    return level


def choose_fold(fragments: Sequence[FragmentIdentity]) -> Fold | None:
    """Choose the lowest tier that has filled up; everything at or below it becomes one fragment of a higher tier."""
    small = [fragment for fragment in fragments if fragment.rows < ROWS_MAX and fragment.bytes < BYTES_MAX // 2]
    members: dict[int, int] = {}
    for fragment in small:
        level = tier(fragment.rows)
        members[level] = members.get(level, 0) + 1
    full = [level for level, count in sorted(members.items()) if count >= FANOUT]
    if not full:
        return None
    level = full[0]
    while level + 1 in members and members[level + 1] + 1 >= FANOUT:
        level += 1  # the result would fill the next tier: fold both at once instead of twice
    chosen = [fragment for fragment in small if tier(fragment.rows) <= level]
    kept = _within_memory(chosen)
    return Fold(tuple(kept)) if len(kept) >= 2 else None


def _within_memory(fragments: Sequence[FragmentIdentity]) -> list[FragmentIdentity]:
    rows = size = 0
    kept: list[FragmentIdentity] = []
    for fragment in fragments:
        rows += fragment.rows
        size += fragment.bytes
        if rows > ROWS_MAX or size > BYTES_MAX:
            break
        kept.append(fragment)
    return kept


def choose_compaction(fragments: Sequence[FragmentIdentity], physical: Mapping[int, int]) -> list[Fold]:
    """Neighbours that are small, or that have lost many rows, become fragments of a good size. Order is kept."""
    found: list[Fold] = []
    group: list[FragmentIdentity] = []
    for fragment in fragments:
        lost = physical[fragment.id] - fragment.rows
        is_small = fragment.rows < ROWS_MAX // 2 and fragment.bytes < BYTES_MAX // 2
        is_fit = fragment.rows <= ROWS_MAX and fragment.bytes <= BYTES_MAX
        if not is_fit or not (is_small or lost * LOST_SHARE > physical[fragment.id]):
            found += _worth_it(group, physical)
            group = []
            continue
        if group and len(_within_memory([*group, fragment])) <= len(group):
            found += _worth_it(group, physical)
            group = []
        group.append(fragment)
    return found + _worth_it(group, physical)


def _worth_it(group: Sequence[FragmentIdentity], physical: Mapping[int, int]) -> list[Fold]:
    lost = sum(physical[fragment.id] - fragment.rows for fragment in group)
    return [Fold(tuple(group))] if len(group) > 1 or lost * LOST_SHARE > sum(f.rows for f in group) + lost else []


def fragments_bound(commits: int) -> int:
    """How many fragments a table can have after that many one-row commits."""
    levels = 1
    while commits >= FANOUT:
        commits //= FANOUT
        levels += 1
    return levels * (FANOUT - 1) + 1
