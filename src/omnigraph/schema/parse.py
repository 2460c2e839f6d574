"""Text to tree. On a syntax error every declaration is parsed by itself, so that one run reports them all."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from lark import TextSlice, Tree, UnexpectedInput

from omnigraph.model.diagnostics import Findings, SourceText, Span
from omnigraph.model.grammar import GrammarFile
from omnigraph.schema.ast import ParsedSchema
from omnigraph.schema.build import build_declarations
from omnigraph.schema.scan import declaration_starts
from omnigraph.schema.syntax_errors import explain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Lark

PARSE_ERROR = "parse error"

_HALF = re.compile("[\ud800-\udfff]")


def parse(text: str, name: str = "<schema>") -> ParsedSchema:
    """Parse a schema text, or raise a LanguageError that carries every finding."""
    findings = Findings()
    source = SourceText(_only_characters(text, findings), name)
    findings.raise_if_any(PARSE_ERROR, source)
    declarations = tuple(d for tree in _trees(text, findings) for d in build_declarations(tree, findings))
    findings.raise_if_any(PARSE_ERROR, source)
    return ParsedSchema(declarations, source)


def _trees(text: str, findings: Findings) -> list[Tree]:
    """Parse the text as one; only if that fails, its declarations, guessed, to report the mistakes of each."""
    try:
        return [_parser().parse(text)]
    except UnexpectedInput as error:
        whole = explain(error, text, 0, len(text))
    trees: list[Tree] = []
    for start, end in _parts(text):
        if findings.is_full:
            break
        try:
            trees.append(_parser().parse(TextSlice(text, start, end)))
        except UnexpectedInput as error:
            findings.extend([explain(error, text, start, end)])
    if not findings.count:
        findings.extend([whole])
    return trees


def _only_characters(text: str, findings: Findings) -> str:
    """Replace halves of characters, which no file in UTF-8 has and nothing can store, reporting the first."""
    half = _HALF.search(text)
    if half is None:
        return text
    at = Span(half.start(), half.start())
    findings.add("this is not a character", at, hint="the text was not read as UTF-8")
    return _HALF.sub("\ufffd", text)


GRAMMAR = GrammarFile("omnigraph.schema", {"propagate_positions": True, "maybe_placeholders": False})


@cache
def _parser() -> Lark:
    return GRAMMAR.parser()


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Split the text where declarations start: a mistake in one cannot hide the next."""
    yield from pairwise(sorted({0, *declaration_starts(text), len(text)}))
