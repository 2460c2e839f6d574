r"""Patterns of `@check`: the syntax of Rust's `regex`, run by RE2, which Arrow brings along.

Both have no look-around and no back-references, and both take time linear in the text. They differ in what
`\d`, `\w` and `\s` mean (Unicode in Rust, ASCII in RE2) and in how code points are written; `translate` evens
that out. What is left: `\b` knows ASCII words only, and classes have no `&&`, `--`, `~~` and no nesting.
"""

from __future__ import annotations

import re
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

_REFUSED = (
    (re.compile(r"\(\?(?:=|!|<=|<!)"), "look-around is not supported", "match the whole text instead"),
    (re.compile(r"\\[1-9]|\\k[<{]|\(\?P="), "back-references are not supported", None),
    (re.compile(r"\(\?>"), "atomic groups are not supported", "use a plain group (?:…)"),
    (re.compile(r"\(\?\("), "conditional groups are not supported", None),
)
# One piece of a pattern: an escape with its argument, a group's head, or a character.
_PIECE = re.compile(
    r"\\[xuU]\{[0-9A-Fa-f]+\}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}|\\[pP]\{[^}]*\}|\\.|\(\?P?<|\[:\^?[a-z]+:\]|.",
    re.DOTALL,
)
_CODE_POINT = re.compile(r"\\[uU]\{?([0-9A-Fa-f]+)\}?")
# In a class (without brackets) and outside of it.
_UNICODE = {
    r"\d": r"\p{Nd}",
    r"\D": r"\P{Nd}",
    r"\w": r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}",
    r"\s": r"\s\x0B\x{85}\p{Z}",
}
_REFERENCES = (*"123456789", "k")
_SET_OPERATORS = ("&&", "--", "~~")


class BadPattern(ValueError):
    """A pattern that cannot be used; carries what could be done instead."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.hint = hint


def check_pattern(pattern: str) -> None:
    """Raise BadPattern if a pattern cannot be used."""
    matches(pa.array([""]), pattern)


def matches(values: pa.Array | pa.ChunkedArray, pattern: str) -> pa.Array | pa.ChunkedArray:
    """Tell for each string whether the pattern occurs in it; null stays null."""
    try:
        return pc.call_function("match_substring_regex", [values], pc.MatchSubstringOptions(translate(pattern)))
    except pa.ArrowInvalid as error:
        reason = str(error).removeprefix("Invalid regular expression: ")
        raise BadPattern(f"it is not a regular expression: {reason}") from None


def is_match(value: str, pattern: str) -> bool:
    """Tell whether the pattern occurs in one string."""
    return bool(matches(pa.array([value], pa.string()), pattern)[0].as_py())


@lru_cache(maxsize=256)
def translate(pattern: str) -> str:
    """Write a pattern of Rust's `regex` as RE2 reads it."""
    pieces = _PIECE.findall(pattern)
    _refuse(pieces, pattern)
    out: list[str] = []
    in_class = False
    for index, piece in enumerate(pieces):
        if in_class:
            _refuse_set(pieces, index)
        out.append(_piece(piece, in_class))
        if piece == "[" and not in_class:
            in_class = True
        elif piece == "]" and in_class and not _opens_class(pieces, index):
            in_class = False
    return "".join(out)


def _piece(piece: str, in_class: bool) -> str:
    if piece in _UNICODE:
        return _UNICODE[piece] if in_class or piece == r"\D" else f"[{_UNICODE[piece]}]"
    if piece in (r"\W", r"\S"):
        if in_class:
            raise BadPattern(f"{piece} inside […] is not supported", f"write it outside: (?:{piece}|[…])")
        return f"[^{_UNICODE[piece.lower()]}]"
    if piece == "(?<":
        return "(?P<"
    if code_point := _CODE_POINT.fullmatch(piece):
        return rf"\x{{{code_point.group(1)}}}"
    return piece


def _refuse(pieces: list[str], pattern: str) -> None:
    # Escaped characters are blanked out, so that `\(?=` is not taken for a look-ahead.
    plain = "".join("__" if p[0] == "\\" and p[1:] not in _REFERENCES else p for p in pieces)
    for refused, reason, hint in _REFUSED:
        if refused.search(plain):
            raise BadPattern(f"{reason} in a pattern, found in {pattern!r}", hint)
    if r"\Z" in pieces:
        raise BadPattern(r"\Z is not supported in a pattern", r"write \z for the end of the text")


def _refuse_set(pieces: list[str], index: int) -> None:
    if pieces[index] == "[":
        raise BadPattern("a class inside a class is not supported in a pattern", r"write \[ for a bracket")
    if "".join(pieces[index : index + 2]) in _SET_OPERATORS:
        raise BadPattern("set operations inside […] are not supported in a pattern", r"write \&, \- or \~")


def _opens_class(pieces: list[str], index: int) -> bool:
    """A `]` right after `[` or `[^` is an ordinary character of the class."""
    before = pieces[index - 1]
    return before == "[" or (before == "^" and index >= 2 and pieces[index - 2] == "[")
