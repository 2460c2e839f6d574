"""What to say about a token that does not fit."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import Diagnostic, suggest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lark import Token

    from omnigraph.model.diagnostics import Span

_SPELLED = {
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COMMA": "','",
    "COLON": "':'",
    "DOT": "'.'",
    "QMARK": "'?'",
    "CLOSE": "'>'",
    "IS_PATH": "'='",
    "QUERY": "'query'",
    "MATCH": "'match'",
    "RETURN": "'return'",
    "SET": "'set'",
    "WHERE": "'where'",
    "ORDER": "'order'",
    "LIMIT": "'limit'",
    "OFFSET": "'offset'",
    "INSERT": "'insert'",
    "UPDATE": "'update'",
    "DELETE": "'delete'",
    "NAME": "a name",
    "VARIABLE": "a $variable",
    "TYPE": "a Type name",
    "EDGE": "an edge",
    "STRING": "a string",
    "INTEGER": "an integer",
    "NULL": "null",
    "AT": "an @annotation",
    "COMPARE": "a comparison",
    "$END": "the end",
}
_EXPRESSION = frozenset({"FUNCTION", "FLOAT", "TRUE"})
_OPERATORS = frozenset({"PLUS", "TIMES", "AND", "OR", "MINUS", "IS", "DIRECTION", "AS"})
_KEYWORDS = ("match", "return", "order", "limit", "offset", "insert", "update", "delete", "set", "where", "query")
_LOWER_CASE = frozenset(
    {*_KEYWORDS, "and", "or", "not", "in", "is", "null", "as", "asc", "desc", "distinct", "true", "false", "exists"}
)
# What people mean who write this as in another language.
_PAIRS: dict[tuple[str | None, str], str] = {
    ("=", "="): "write = once",
    ("<", ">"): "write !=",
    ("(", "*"): "name what is counted: count($x)",
}
_OPENING = {"LBRACE": "}", "LPAR": ")", "LSQB": "]"}
_CLOSING = frozenset({"RBRACE", "RPAR", "RSQB"})


def unexpected(found: str, span: Span, expected: Iterable[str], tokens: list[Token]) -> Diagnostic:
    """Say what was found, what would have fitted, and what was probably meant."""
    what = f"unexpected {found!r}" if found else "the query ends too early"
    return Diagnostic(
        f"{what}: expected {_wanted(set(expected))}", span, hint=_hint(found, span, set(expected), tokens)
    )


def _wanted(expected: set[str]) -> str:
    parts: list[str] = []
    if expected >= _EXPRESSION:
        parts.append("an expression")
        expected = expected - {"NAME", "VARIABLE", "STRING", "INTEGER", "NULL", "AT", "LSQB", "LPAR", "NOT", "MINUS"}
    known = [text for kind, text in _SPELLED.items() if kind in expected]
    if expected & _OPERATORS:
        known.append("an operator")
    parts.extend(known)
    return " or ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts) or "something else"


def _hint(found: str, span: Span, expected: set[str], tokens: list[Token]) -> str | None:
    if not found:
        opened = [token for token in tokens if token.type in _OPENING]
        closed = sum(token.type in _CLOSING for token in tokens)
        return f"a '{_OPENING[opened[-1].type]}' is missing" if len(opened) > closed else None
    if found[0].isupper() and found.lower() in _LOWER_CASE:
        return f"words of the language are in lower case: {found.lower()}"
    if found[0].isupper() and ({"NAME", "EDGE"} & expected) and "TYPE" not in expected:
        return f"names start with a lower-case letter: {found[0].lower() + found[1:]}"
    if found[0].islower() and "TYPE" in expected:
        return "type names start with an upper-case letter"
    before = next((token for token, after in pairwise(tokens) if after.start_pos == span.start), None)
    if (before, found) in _PAIRS:
        return _PAIRS[before, found]
    keywords = [word for word in _KEYWORDS if word.upper() in expected]
    return suggest(found, keywords) if keywords and found not in keywords else None
