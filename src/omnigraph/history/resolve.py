"""Who is right where two branches disagree: one side for all, or a choice for each conflict."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from omnigraph.history.conflicts import MergeConflict

Take = Literal["ours", "theirs"]
TAKES: tuple[Take, ...] = ("ours", "theirs")
Key = tuple[str, str, str | None]
_FIELDS = ("entity_kind", "type_name", "entity_id", "kind", "take", "properties")
_IGNORED = ("message", "base", "ours", "theirs")
"""A file may be what a dry run printed, with choices added: what it says of the conflict is for people."""


class ResolutionInvalid(BadRequest):
    """A resolution does not fit: it is not of the right shape, or there is no such conflict."""


@dataclass(frozen=True)
class Choice:
    """What to do about the conflicts of one entity. `properties` are chosen one by one; `take` is for the rest."""

    take: Take | None = None
    properties: Mapping[str, Take] = field(default_factory=dict[str, Take])

    def of(self, name: str) -> Take | None:
        """The side that is right about one property."""
        chosen = self.properties.get(name)
        return self.take if chosen is None else chosen


NO_CHOICE = Choice()


@dataclass(frozen=True)
class Resolution:
    """Choices by entity, one side for whatever has none, or a function that is asked about each conflict."""

    default: Take | None = None
    choices: Mapping[Key, Choice] = field(default_factory=dict[Key, Choice])
    ask: Callable[[MergeConflict], Take | Choice | None] | None = None

    def choice(self, conflict: MergeConflict) -> Choice:
        """What to do about one conflict."""
        found = self.choices.get(conflict.key)
        if found is None and self.ask is not None:
            answer = self.ask(conflict)
            found = Choice(answer) if isinstance(answer, str) else answer
            if found is not None and found.take is not None:
                _check_take(found.take, "a choice")
        return found if found is not None else Choice(self.default)

    def asked_about(self, conflicts: Iterable[MergeConflict]) -> Resolution:
        """The same without its function: what that says of each conflict has become a choice."""
        if self.ask is None:
            return self
        chosen = {one.key: self.choice(one) for one in conflicts}
        return Resolution(self.default, {key: choice for key, choice in chosen.items() if choice != NO_CHOICE})

    def to_json(self) -> dict[str, Any]:
        """The form of a resolution file."""
        default = {"default": self.default} if self.default is not None else {}
        return {**default, "conflicts": [_entry_to_json(key, choice) for key, choice in self.choices.items()]}

    def insist_on_fit(self, conflicts: Iterable[MergeConflict], what: str) -> None:
        """Refuse choices for what is no conflict: the file was made for another merge."""
        known = {conflict.key: conflict for conflict in conflicts}
        for key, choice in self.choices.items():
            conflict = known.get(key)
            if conflict is None:
                raise ResolutionInvalid(
                    f"{what} has no conflict about {key[0]} {key[1]} {key[2]!r}; nothing was written"
                )
            for name in choice.properties:
                if name not in conflict.properties:
                    listed = ", ".join(conflict.properties) or "none"
                    raise ResolutionInvalid(
                        f"{key[0]} {key[1]} {key[2]!r}: {name!r} is not in conflict; properties in conflict: {listed}"
                    )


NO_RESOLUTION = Resolution()


def resolution_of(given: object) -> Resolution:
    """A resolution from what a caller gave: a word, a function, a list of choices, or a resolution."""
    if given is None:
        return NO_RESOLUTION
    if isinstance(given, Resolution):
        return given
    if callable(given):
        return Resolution(ask=cast("Any", given))
    if isinstance(given, str):
        return Resolution(default=_check_take(given, "a resolution"))
    return _from_document(given)


def read_resolution(text: str, name: str) -> Resolution:
    """A resolution from a JSON file: what a dry run printed, with a `take` in each conflict."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ResolutionInvalid(f"{name} is no JSON: {error}") from None
    return _from_document(document)


def _from_document(document: object) -> Resolution:
    default: Take | None = None
    if isinstance(document, dict):
        whole = cast("dict[str, Any]", document)
        if "default" in whole:
            default = _check_take(whole["default"], "'default'")
        document = whole.get("conflicts", [])
    if not isinstance(document, list):
        raise ResolutionInvalid("a resolution is a list of conflicts, each with a 'take', or {'conflicts': [...]}")
    choices: dict[Key, Choice] = {}
    for number, entry in enumerate(cast("list[object]", document), 1):
        key, choice = _entry(entry, f"conflict {number}")
        if key in choices and choices[key] != choice:
            raise ResolutionInvalid(f"conflict {number}: {key[0]} {key[1]} {key[2]!r} has two different choices")
        choices[key] = choice
    return Resolution(default, choices)


def _entry(entry: object, where: str) -> tuple[Key, Choice]:
    if not isinstance(entry, dict):
        raise ResolutionInvalid(f"{where}: an object is expected")
    found = cast("dict[str, Any]", entry)
    for name in found:
        if name not in _FIELDS and name not in _IGNORED:
            hint = suggest(name, _FIELDS)
            raise ResolutionInvalid(f"{where}: unknown key {name!r}{f'; {hint}' if hint else ''}")
    kind, type_name, entity_id = (found.get(name) for name in ("entity_kind", "type_name", "entity_id"))
    if kind not in ("node", "edge") or not isinstance(type_name, str) or not isinstance(entity_id, str | None):
        raise ResolutionInvalid(f"{where}: entity_kind (node or edge), type_name and entity_id say what it is about")
    take = _check_take(found["take"], where) if found.get("take") is not None else None
    given = found.get("properties")
    properties: dict[str, Take] = {}
    if isinstance(given, dict):
        properties = {name: _check_take(side, where) for name, side in cast("dict[str, object]", given).items()}
    elif given is not None and not isinstance(given, list):
        raise ResolutionInvalid(f'{where}: properties is an object of choices, as in {{"age": "ours"}}')
    if take is None and not properties:
        raise ResolutionInvalid(f'{where}: nothing is chosen; add "take": "ours" or "theirs"')
    return (str(kind), type_name, entity_id), Choice(take, properties)


def _entry_to_json(key: Key, choice: Choice) -> dict[str, Any]:
    about = dict(zip(("entity_kind", "type_name", "entity_id"), key, strict=True))
    take = {"take": choice.take} if choice.take is not None else {}
    return {**about, **take, **({"properties": dict(choice.properties)} if choice.properties else {})}


def _check_take(word: object, where: str) -> Take:
    if word not in TAKES:
        raise ResolutionInvalid(f"{where}: {word!r} is neither ours nor theirs")
    return word
