"""The registry of names: branches and tags, the epoch, and what cleanup has given up. Values and codec."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, cast

from omnigraph.manifest.codec import mark_values, read_mark
from omnigraph.manifest.rows import Row, decode_rows, encode_rows
from omnigraph.manifest.state import CollectMark, Stripped
from omnigraph.model.errors import CorruptObject
from omnigraph.model.names import MAIN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

BranchStatus = Literal["live", "deleting", "removed"]
_REFS = "refs"
_STRIPPED = "refs-stripped"


@dataclass(frozen=True, slots=True)
class Point:
    """A place in history: a number of a chain, and the commit that was the head there."""

    chain: str
    number: int
    commit: str


@dataclass(frozen=True, slots=True)
class BranchRef:
    """A branch by name. Its id is new at every creation, so a re-created branch is another branch."""

    name: str
    id: str
    first: int
    status: BranchStatus = "live"
    fork: Point | None = None
    created_us: int = 0
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class TagRef:
    """A name for a point that stays."""

    name: str
    point: Point
    created_us: int = 0
    actor: str | None = None


MAIN_REF = BranchRef(MAIN, MAIN, 0)
"""Main has a fixed id and is never deleted: opening it does not need the registry."""


@dataclass(frozen=True)
class Refs:
    """Everything the registry says at one number."""

    number: int
    entry: str
    branches: Mapping[str, BranchRef] = field(default_factory=lambda: {MAIN: MAIN_REF})
    """By id."""
    tags: Mapping[str, TagRef] = field(default_factory=dict[str, TagRef])
    """By name."""
    epoch: int = 0
    kept_from: Mapping[str, int] = field(default_factory=dict[str, int])
    """By chain: numbers below this have been given up, unless a point pins them."""
    collect: CollectMark | None = None

    def live(self, name: str) -> BranchRef | None:
        """The branch of this name that is not removed."""
        for ref in self.branches.values():
            if ref.name == name and ref.status != "removed":
                return ref
        return None

    def live_branches(self) -> list[BranchRef]:
        """Branches people can see, by name."""
        return sorted((ref for ref in self.branches.values() if ref.status == "live"), key=lambda ref: ref.name)

    def pins(self) -> set[tuple[str, int]]:
        """Points that must stay whatever the retention says."""
        forks = (ref.fork for ref in self.branches.values() if ref.status != "removed" and ref.fork is not None)
        tags = (tag.point for tag in self.tags.values())
        return {(point.chain, point.number) for point in (*forks, *tags)}

    def keeps(self, point: Point) -> bool:
        """Whether cleanup has not given this point up."""
        given_up_below = self.kept_from.get(point.chain, 0)
        return point.number >= given_up_below or (point.chain, point.number) in self.pins()

    def next(self, entry: str) -> Refs:
        """The same at the next number."""
        return replace(self, number=self.number + 1, entry=entry)

    def with_branch(self, ref: BranchRef) -> Refs:
        """With a branch added or replaced."""
        return replace(self, branches={**self.branches, ref.id: ref})

    def without_branches(self, ids: Collection[str]) -> Refs:
        """Without branches that are gone for good, by id."""
        branches = {key: ref for key, ref in self.branches.items() if key not in ids}
        kept_from = {key: number for key, number in self.kept_from.items() if key not in ids}
        return replace(self, branches=branches, kept_from=kept_from)

    def with_tag(self, tag: TagRef) -> Refs:
        """With a tag added."""
        return replace(self, tags={**self.tags, tag.name: tag})

    def without_tag(self, name: str) -> Refs:
        """With a tag removed."""
        return replace(self, tags={key: tag for key, tag in self.tags.items() if key != name})


def encode_refs(refs: Refs) -> bytes:
    """To bytes."""
    return encode_rows(_REFS, _rows(refs))


def encode_stripped_refs(number: int, entry: str) -> bytes:
    """What stays of a registry number after cleanup."""
    return encode_rows(_STRIPPED, [Row("refs", "stripped", metadata={"number": number, "entry": entry})])


def decode_refs(data: bytes, where: str) -> Refs | Stripped:
    """From bytes."""
    kind, rows = decode_rows(data, where)
    try:
        if kind == _STRIPPED:
            facts = rows[0].metadata or {}
            return Stripped("refs", facts["number"], facts["entry"])
        if kind == _REFS:
            return _refs(rows)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise CorruptObject(where, f"a part is missing: {error}") from error
    raise CorruptObject(where, f"it is a {kind or 'nameless'} object, not a registry")


def _rows(refs: Refs) -> Iterable[Row]:
    yield Row(
        "refs",
        "refs_head",
        metadata={
            "number": refs.number,
            "entry": refs.entry,
            "epoch": refs.epoch,
            "kept_from": dict(refs.kept_from),
            "collect": mark_values(refs.collect),
        },
    )
    for branch in refs.branches.values():
        fork = branch.fork
        yield Row(
            branch.id,
            "branch",
            metadata={
                "first": branch.first,
                "status": branch.status,
                "fork": [fork.chain, fork.number, fork.commit] if fork else None,
                "created_us": branch.created_us,
                "actor": branch.actor,
            },
            table_branch=branch.name,
        )
    for tag in refs.tags.values():
        point = tag.point
        yield Row(
            tag.name,
            "tag",
            metadata={
                "point": [point.chain, point.number, point.commit],
                "created_us": tag.created_us,
                "actor": tag.actor,
            },
        )


def _refs(rows: list[Row]) -> Refs:
    branches: dict[str, BranchRef] = {}
    tags: dict[str, TagRef] = {}
    head: Row | None = None
    for row in rows:
        facts = row.metadata or {}
        if row.object_type == "branch":
            fork = Point(*facts["fork"]) if facts["fork"] else None
            status = cast("BranchStatus", facts["status"])
            branches[row.object_id] = BranchRef(
                row.table_branch or "", row.object_id, facts["first"], status, fork, facts["created_us"], facts["actor"]
            )
        elif row.object_type == "tag":
            tags[row.object_id] = TagRef(row.object_id, Point(*facts["point"]), facts["created_us"], facts["actor"])
        elif row.object_type == "refs_head":
            head = row
    if head is None or head.metadata is None:
        raise KeyError("refs_head")
    facts = head.metadata
    return Refs(
        facts["number"],
        facts["entry"],
        branches,
        tags,
        facts["epoch"],
        facts["kept_from"],
        read_mark(facts["collect"]),
    )
