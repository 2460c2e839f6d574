"""Differences for people: who came, changed and went, property by property, in colours on a terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from omnigraph.cli import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from omnigraph.history import EntityChange, Image, MergeConflict

SHOWN_CHARACTERS = 100
_MARKS = {"insert": ("+", "green"), "update": ("~", "yellow"), "delete": ("-", "red")}


def print_changes(changes: Iterable[EntityChange]) -> int:
    """Print changes, a heading for each type; how many there were."""
    count, heading = 0, ""
    for change in changes:
        count += 1
        named = f"{change.kind} {change.type_name}"
        if named != heading:
            heading = named
            render.out.print(f"[bold]{escape(named)}[/]")
        for line in change_lines(change):
            render.out.print(line)
    return count


def change_lines(change: EntityChange) -> list[str]:
    """One change: the entity, and below it what changed or what it has or had."""
    mark, colour = _MARKS[change.op]
    head = f"  [{colour}]{mark} {escape(change.id)}[/]{_ends(change.after or change.before)}"
    if change.op == "update":
        assert change.before is not None
        assert change.after is not None
        before, after = _values(change.before), _values(change.after)
        return [head, *(_changed(name, before.get(name), after.get(name)) for name in change.changed)]
    image = change.after or change.before
    values = _values(image) if image is not None else {}
    told = [f"      {escape(name)}: {_text(value)}" for name, value in values.items() if _is_told(name, value)]
    return [head, *told]


def _is_told(name: str, value: object) -> bool:
    return value is not None and name not in ("id", "src", "dst")


def _changed(name: str, before: object, after: object) -> str:
    return f"      {escape(name)}: [red]{_text(before)}[/] → [green]{_text(after)}[/]"


def _values(image: Image) -> Mapping[str, Any]:
    if image.endpoints is None:
        return image.properties
    return {**image.properties, "src": image.endpoints[0], "dst": image.endpoints[1]}


def _ends(image: Image | None) -> str:
    if image is None or image.endpoints is None:
        return ""
    return escape(f"  {image.endpoints[0]} → {image.endpoints[1]}")


def _text(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return escape(text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…")


def print_summary(summary: Sequence[Mapping[str, Any]]) -> None:
    """How many entities of each type came, changed and went."""
    rows = [(f"{one['kind']} {one['type_name']}", one["inserted"], one["updated"], one["deleted"]) for one in summary]
    if rows:
        render.print_table(("type", "inserted", "updated", "deleted"), rows)


def print_conflicts(conflicts: Sequence[MergeConflict]) -> None:
    """Conflicts with what each side has."""
    for conflict in conflicts:
        render.out.print(f"[red]{conflict.kind}[/] {escape(conflict.message)}")
        for name in conflict.properties:
            values = [_of(image, name) for image in (conflict.base, conflict.ours, conflict.theirs)]
            told = ", ".join(f"{who} {value}" for who, value in zip(("base", "ours", "theirs"), values, strict=True))
            render.out.print(f"      {escape(name)}: {told}")


def _of(image: Image | None, name: str) -> str:
    return "-" if image is None else _text(_values(image).get(name))
