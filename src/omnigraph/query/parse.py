"""Text to tree: `parse_queries`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

from lark.exceptions import UnexpectedToken, VisitError
from lark.lexer import Lexer

from omnigraph.model.diagnostics import Diagnostic, Findings, SourceText, Span
from omnigraph.model.grammar import GrammarFile
from omnigraph.query import ast
from omnigraph.query.build import Builder, BuildProblem
from omnigraph.query.lexer import lex, span_of
from omnigraph.query.syntax import unexpected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Lark, Token

PARSE_ERROR = "parse error"


class _Ready(Lexer):
    """Hands over tokens that were made before."""

    def __init__(self, lexer_conf: object) -> None:
        del lexer_conf

    def lex(self, data: list[Token]) -> Iterator[Token]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Give the tokens as they are."""
        return iter(data)


GRAMMAR = GrammarFile("omnigraph.query", {"start": "query"}, lexer=_Ready, transformer=Builder())


@cache
def _parser() -> Lark:
    return GRAMMAR.parser()


def parse_queries(text: str, name: str = "<query>") -> ast.ParsedFile:
    """Parse a `.gq` text. Raises a LanguageError that has the first mistake of every query in it."""
    source = SourceText(text, name)
    lexed = lex(text)
    findings = Findings()
    findings.extend(lexed.problems)
    findings.raise_if_any(PARSE_ERROR, source)
    queries: list[ast.ParsedQuery] = []
    for tokens in _split(lexed.tokens):
        found = _parse_one(tokens)
        if isinstance(found, Diagnostic):
            findings.extend([found])
            if findings.is_full:
                break
        else:
            queries.append(found)
    findings.raise_if_any(PARSE_ERROR, source)
    return ast.ParsedFile(tuple(queries), source)


def _split(tokens: list[Token]) -> Iterator[list[Token]]:
    """Cut at every `query name(` that follows a closing brace, so that queries fail one by one."""
    start = 0
    for position in range(1, len(tokens) - 2):
        if (
            tokens[position] == "query"
            and tokens[position - 1].type == "RBRACE"
            and tokens[position + 2].type == "LPAR"
            and tokens[position + 1].type in ("NAME", "FUNCTION")
        ):
            tokens[position].type, tokens[position + 1].type = "QUERY", "NAME"
            yield tokens[start:position]
            start = position
    if tokens[start:]:
        yield tokens[start:]


def _parse_one(tokens: list[Token]) -> ast.ParsedQuery | Diagnostic:
    try:
        return cast("ast.ParsedQuery", _parser().parse(cast("str", tokens)))
    except UnexpectedToken as error:
        end = span_of(tokens[-1]).end
        found = error.token
        at_end = found.type == "$END"
        span = Span(end, end) if at_end else span_of(found)
        return unexpected("" if at_end else str(found), span, error.expected, tokens)
    except BuildProblem as error:
        return error.diagnostic
    except VisitError as error:
        if isinstance(error.orig_exc, BuildProblem):
            return error.orig_exc.diagnostic
        raise
