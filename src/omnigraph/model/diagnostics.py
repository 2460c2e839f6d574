"""What is wrong with a text, and where: the currency of both languages' errors."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Severity = Literal["error", "warning", "info"]

FINDINGS_MAX = 50
"""How many findings of one text are worked out and shown; the rest are counted."""

EXCERPT_COLUMNS_MAX = 120
SUGGESTION_CANDIDATES_MAX = 500


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
        starts = self._line_starts
        line = bisect_right(starts, offset)
        return Position(line, offset - starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """Give the text of a line, without its end."""
        starts = self._line_starts
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    def byte_span(self, span: Span) -> tuple[int, int]:
        """Give a span in bytes of UTF-8, end exclusive; an empty one is widened to one byte."""
        start = len(self.text[: span.start].encode())
        return start, max(start + len(self.text[span.start : span.end].encode()), start + 1)

    def excerpt(self, span: Span) -> str:
        """Show the line a span starts on, with carets under it."""
        at = self.position(span.start)
        line = self.line(at.line)
        first = max(0, at.column - 1 - EXCERPT_COLUMNS_MAX // 2)
        shown = line[first : first + EXCERPT_COLUMNS_MAX]
        # Tabs stay tabs, so that the carets stand under the text however wide the reader's tabs are.
        indent = "".join("\t" if c == "\t" else " " for c in shown[: at.column - 1 - first])
        width = max(1, min(span.end - span.start, len(shown) - len(indent)))
        margin = f"{at.line} | "
        return f"{margin}{shown}\n{' ' * (len(margin) - 2)}| {indent}{'^' * width}"

    @cached_property
    def _line_starts(self) -> Sequence[int]:
        return [0, *(i + 1 for i, c in enumerate(self.text) if c == "\n")]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: what is wrong, where, and what to do about it."""

    message: str
    span: Span | None = None
    code: str | None = None
    hint: str | None = None
    severity: Severity = "error"


class Findings:
    """Collects what is wrong with one text. Bounded, so that a hopeless text costs no more than a bad one."""

    def __init__(self, limit: int = FINDINGS_MAX) -> None:
        self._limit = limit
        self._kept: list[Diagnostic] = []
        self.count = 0

    def add(
        self,
        message: str,
        span: Span | None,
        *,
        hint: str | None = None,
        unknown: tuple[str, Iterable[str]] | None = None,
        code: str | None = None,
    ) -> None:
        """Report an error. `unknown` is a name and the names it could have been; the hint is made from it."""
        self.count += 1
        if len(self._kept) < self._limit:
            if unknown is not None:
                hint = suggest(*unknown) or hint
            self._kept.append(Diagnostic(message, span, code, hint))

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Take over findings made elsewhere."""
        for found in diagnostics:
            self.count += 1
            if len(self._kept) < self._limit:
                self._kept.append(found)

    @property
    def is_full(self) -> bool:
        """Tell whether more findings would only be counted."""
        return self.count >= self._limit

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Give the findings in the order of the text."""
        return tuple(sorted(self._kept, key=lambda d: d.span.start if d.span else -1))

    def raise_if_any(self, prefix: str, source: SourceText) -> None:
        """Raise one error that carries every finding, if there are any."""
        if self.count:
            raise LanguageError(prefix, source, self.diagnostics, has_more=self.is_full)


class LanguageError(BadRequest):
    """A schema or query text is wrong. Carries every finding, not only the first."""

    def __init__(
        self, prefix: str, source: SourceText, diagnostics: Iterable[Diagnostic], has_more: bool = False
    ) -> None:
        self.prefix = prefix
        self.source = source
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        self.has_more = has_more
        super().__init__("\n".join(self._lines()), diagnostics=self.diagnostics)

    def render(self) -> str:
        """Give the message with the source lines it speaks of, for people at a terminal."""
        parts = [
            self._line(d) if d.span is None else f"{self._line(d)}\n{self.source.excerpt(d.span)}"
            for d in self.diagnostics
        ]
        return "\n\n".join([*parts, *self._rest()])

    def _lines(self) -> Iterable[str]:
        yield from (self._line(d) for d in self.diagnostics)
        yield from self._rest()

    def _line(self, diagnostic: Diagnostic) -> str:
        code = f"{diagnostic.code}: " if diagnostic.code else ""
        place = ""
        if diagnostic.span is not None:
            at = self.source.position(diagnostic.span.start)
            place = f" ({self.source.name}:{at.line}:{at.column})"
        hint = f"; {diagnostic.hint}" if diagnostic.hint else ""
        return f"{self.prefix}: {code}{diagnostic.message}{hint}{place}"

    def _rest(self) -> Iterable[str]:
        if self.has_more:
            yield f"{self.prefix}: there may be more; these come first"


def suggest(name: str, known: Iterable[str]) -> str | None:
    """Say which known name was probably meant; a name that differs only in case is said to be that."""
    names = sorted(set(known))
    for candidate in names:
        if candidate.lower() == name.lower() and candidate != name:
            return f"did you mean {candidate!r}? names are case-sensitive"
    slack = 2 + len(name) // 3
    comparable = [n for n in names if abs(len(n) - len(name)) <= slack][:SUGGESTION_CANDIDATES_MAX]
    near = get_close_matches(name[:100], comparable, n=3, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(repr(n) for n in near) + "?"
    return None
