"""Documents people write in YAML, read strictly: a key given twice or a key nobody knows is a mistake."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Collection

TEXT_BYTES_MAX = 4 * 2**20
_DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at one place of a document."""

    path: str
    message: str
    code: str = "invalid"

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class DocumentInvalid(BadRequest):
    """A document does not say what it should; carries every problem that was found."""

    def __init__(self, what: str, problems: Collection[Problem]) -> None:
        self.problems = tuple(problems)
        lines = "\n".join(f"  {problem}" for problem in self.problems)
        super().__init__(f"{what} is not valid:\n{lines}", problems=[str(problem) for problem in self.problems])


def read_yaml(text: str, what: str) -> object:
    """Parse a document: plain values only, no aliases, no key twice."""
    import yaml

    if len(text) > TEXT_BYTES_MAX:
        raise DocumentInvalid(what, [Problem("", f"it is longer than {TEXT_BYTES_MAX:,} characters")])
    try:
        _insist_on_plain(text, what)
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark is not None else ""
        raise DocumentInvalid(what, [Problem(where, str(getattr(error, "problem", None) or error))]) from None
    except RecursionError:
        raise DocumentInvalid(what, [Problem("", "it is nested too deeply")]) from None


def _insist_on_plain(text: str, what: str) -> None:
    import yaml

    problems: list[Problem] = []
    seen: list[set[str] | None] = []
    is_key: list[bool] = []
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = f"line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            problems.append(Problem(line, "aliases are not allowed: write the value out", "yaml_alias"))
        if len(seen) > _DEEPEST:
            raise DocumentInvalid(what, [Problem(line, "it is nested too deeply")])
        if isinstance(event, yaml.ScalarEvent | yaml.AliasEvent | yaml.CollectionStartEvent):
            if seen and is_key[-1] and isinstance(event, yaml.ScalarEvent):
                keys = seen[-1]
                if keys is not None and event.value in keys:
                    problems.append(Problem(line, f"{event.value!r} is given twice", "duplicate_yaml_key"))
                elif keys is not None:
                    keys.add(event.value)
            if seen and seen[-1] is not None:
                is_key[-1] = not is_key[-1]
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            seen.append(set() if isinstance(event, yaml.MappingStartEvent) else None)
            is_key.append(isinstance(event, yaml.MappingStartEvent))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            seen.pop()
            is_key.pop()
    if problems:
        raise DocumentInvalid(what, problems)


@dataclass
class Reader:
    """Takes a document apart and collects what is wrong with it, instead of stopping at the first mistake."""

    problems: list[Problem] = field(default_factory=list[Problem])

    def say(self, path: str, message: str, code: str = "invalid") -> None:
        """Note a problem."""
        self.problems.append(Problem(path, message, code))

    def raise_if_any(self, what: str) -> None:
        """Refuse the document if there were problems."""
        if self.problems:
            raise DocumentInvalid(what, self.problems)

    def mapping(self, value: object, path: str, keys: Collection[str] | None = None) -> dict[str, Any]:
        """A mapping with text keys; with `keys` only these."""
        if not isinstance(value, dict):
            self.say(path, f"a mapping is expected, not {_kind(value)}")
            return {}
        found: dict[str, Any] = {}
        for key, one in cast("dict[object, object]", value).items():
            if not isinstance(key, str):
                self.say(path, f"the key {key!r} is no text")
            elif keys is not None and key not in keys:
                hint = suggest(key, keys) or f"known here: {', '.join(keys)}"
                self.say(_join(path, key), f"unknown key; {hint}", "unknown_key")
            else:
                found[key] = one
        return found

    def items(self, value: object, path: str) -> list[Any]:
        """A list."""
        if isinstance(value, list):
            return cast("list[Any]", value)
        self.say(path, f"a list is expected, not {_kind(value)}")
        return []

    def text(self, value: object, path: str) -> str:
        """Text that is not blank."""
        if not isinstance(value, str):
            self.say(path, f"text is expected, not {_kind(value)}")
        elif not value.strip():
            self.say(path, "it is blank")
        else:
            return value
        return ""

    def texts(self, value: object, path: str) -> tuple[str, ...]:
        """A list of texts, none of them blank, none twice, and at least one."""
        found: list[str] = []
        for number, one in enumerate(self.items(value, path)):
            text = self.text(one, f"{path}[{number}]")
            if text in found:
                self.say(f"{path}[{number}]", f"{text!r} is listed twice")
            elif text:
                found.append(text)
        if isinstance(value, list) and not value:
            self.say(path, "the list is empty")
        return tuple(found)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _kind(value: object) -> str:
    names: dict[type, str] = {
        dict: "a mapping",
        list: "a list",
        str: "text",
        bool: "true or false",
        type(None): "nothing",
    }
    return next((name for kind, name in names.items() if type(value) is kind), "a number")
