"""Ways out of common slips: habits from other languages, and words that are almost right."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import suggest

if TYPE_CHECKING:
    from omnigraph.model.diagnostics import Span

_LOOK_BACK = 60
_KEYWORDS = ("node", "edge", "interface")
_OTHER_KEYWORDS = {
    **dict.fromkeys(("type", "class", "table", "entity", "vertex", "model", "struct"), "node"),
    **dict.fromkeys(("relation", "relationship", "rel", "link"), "edge"),
    **dict.fromkeys(("trait", "abstract", "mixin"), "interface"),
}
ARROW = "->"


@dataclass(frozen=True, slots=True)
class _Slip:
    """A hint for what was found, where one token was expected and something stood before."""

    found: str
    expected: str | None
    hint: str
    before: str = ""

    def matches(self, found: str, expected: set[str], before: str) -> bool:
        is_expected = self.expected is None or self.expected in expected
        return is_expected and bool(re.match(self.found, found)) and bool(re.search(self.before + r"\s*\Z", before))


_SLIPS = (
    _Slip(r"[^\x00-\x7f]", "WORD", "names are written with ASCII letters, digits and '_'"),
    _Slip("[0-9]", "WORD", "a name starts with a letter or '_'", before=r"[:{]|node|edge|interface|->|,"),
    _Slip("extends|:|<", "_IMPLEMENTS", "interfaces are named like this: node A implements I"),
    _Slip("impl", "_IMPLEMENTS", "did you mean 'implements'?"),
    _Slip("implements", "LBRACE", "only node types implement interfaces"),
    _Slip(r"\(", "RBRACE", "did you mean 'enum'? names are case-sensitive", before=r"(?i:\benum)"),
    _Slip(r"\(", "RBRACE", "did you mean 'Vector'? names are case-sensitive", before=r"(?i:\bvector)"),
    _Slip(".", "LPAR", "say how many numbers it has: Vector(768)", before="Vector"),
    _Slip(r"\[", "RBRACE", "a list is written [String]"),
    _Slip(r"\?", "RSQB", "what a list holds is never null; write [String]? for a list that may be"),
    _Slip('"', "ENUM_VALUE", "enum values are written without quotes: enum(open, closed)"),
    _Slip("=", "RBRACE", "a default is written @default(…)"),
    _Slip("=", "RPAR", 'a value without a name comes first: @embed("text", model="small")'),
    _Slip(r"\)", "STRING", "give a value, or leave the parentheses out", before=r"@\s*\w+\s*\("),
    _Slip('"', "RBRACE", "names are written without quotes"),
    _Slip("@", "_NODE", 'annotations follow the name: node A @description("…")'),
    _Slip("}", "_NODE", "there is one '}' too many"),
    _Slip("[eE][0-9]*", "RPAR", "numbers are written without an exponent", before="[0-9]"),
    _Slip(r"\.", "STRING", "a number starts with a digit: 0.5"),
    _Slip(r"\)", "RANGE", "bounds are written 0..5, 0.. or ..5"),
    _Slip(".", ARROW, "an edge is written: edge Knows: Person -> Person"),
    _Slip(".", "COLON", "an edge is written: edge Knows: Person -> Person", before=r"\bedge\s+\w+"),
    _Slip(".", "COLON", "a property is written 'name: Type'"),
)


def hint_for(text: str, span: Span, start: int, expected: set[str]) -> str | None:
    """Say what was probably meant by what was found where something else was expected."""
    found = text[span.start : span.end]
    if {"_NODE", "_EDGE"} <= expected and found[:1].isalpha():
        return _keyword_hint(found)
    before = text[max(start, span.start - _LOOK_BACK) : span.start]
    return next((slip.hint for slip in _SLIPS if slip.matches(found, expected, before)), None)


def _keyword_hint(found: str) -> str | None:
    if found.lower() in _KEYWORDS:
        return f"keywords are in lower case: write {found.lower()!r}"
    if found == "enum":
        return "an enum is written where it is used: 'status: enum(open, closed)'"
    if found.lower() in _OTHER_KEYWORDS:
        return f"did you mean {_OTHER_KEYWORDS[found.lower()]!r}?"
    return suggest(found, _KEYWORDS)
