"""What is wrong with a text, and where: the currency of both languages' errors."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Span:
    """A range of a source text, in characters, end exclusive."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """Give the span from the start of this one to the end of the other."""
        return Span(self.start, other.end)


@dataclass(frozen=True, slots=True)
class Position:
    """Line and column, both counted from one, as editors show them."""

    line: int
    column: int


@dataclass(frozen=True)
class SourceText:
    """A text with a name, able to turn offsets into lines and columns."""

    text: str
    name: str = "<text>"

    def position(self, offset: int) -> Position:
        """Find the line and column of a character offset."""
        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return Position(line, offset - starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """Give the text of a line, without its end."""
        starts = self._line_starts()
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    def _line_starts(self) -> Sequence[int]:
        cached: list[int] | None = self.__dict__.get("_starts")
        if cached is None:
            cached = [0, *(i + 1 for i, c in enumerate(self.text) if c == "\n")]
            self.__dict__["_starts"] = cached
        return cached


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: what is wrong, where, and what to do about it."""

    message: str
    span: Span | None = None
    code: str | None = None
    hint: str | None = None
    severity: Severity = "error"


class LanguageError(BadRequest):
    """A schema or query text is wrong. Carries every finding, not only the first."""

    def __init__(self, prefix: str, source: SourceText, diagnostics: Iterable[Diagnostic]) -> None:
        self.prefix = prefix
        self.source = source
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("\n".join(self._lines()), diagnostics=self.diagnostics)

    def _lines(self) -> Iterable[str]:
        for diagnostic in self.diagnostics:
            code = f"{diagnostic.code}: " if diagnostic.code else ""
            place = ""
            if diagnostic.span is not None:
                at = self.source.position(diagnostic.span.start)
                place = f" ({self.source.name}:{at.line}:{at.column})"
            hint = f"; {diagnostic.hint}" if diagnostic.hint else ""
            yield f"{self.prefix}: {code}{diagnostic.message}{hint}{place}"


def suggest(name: str, known: Iterable[str]) -> str | None:
    """Say which known name was probably meant; a name that differs only in case is said to be that."""
    names = sorted(set(known))
    for candidate in names:
        if candidate.lower() == name.lower() and candidate != name:
            return f"did you mean {candidate!r}? names are case-sensitive"
    near = get_close_matches(name, names, n=3, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(repr(n) for n in near) + "?"
    return None
