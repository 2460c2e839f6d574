"""What each word of a query is: keyword, operator, edge, function or plain name.

Every rule looks at the neighbours of a word and at the block around it. A word that is not recognised in its
place is a plain NAME, which is why new keywords never take a name away from an existing schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark import Token

OPERATORS = {
    "and": "AND",
    "or": "OR",
    "is": "IS",
    "in": "COMPARE",
    "contains": "COMPARE",
    "starts_with": "COMPARE",
    "ends_with": "COMPARE",
}
_LITERALS = {"true": "TRUE", "false": "FALSE", "null": "NULL"}
_DIRECTIONS = frozenset({"asc", "desc"})
_BLOCKS = frozenset({"not", "exists", "optional"})
_STATEMENTS = {"insert": "INSERT", "update": "UPDATE", "delete": "DELETE"}
_BODY_BLOCKS = {"match": "MATCH", "return": "RETURN", "order": "ORDER", "set": "SET"}
_OPERAND_ENDS = frozenset(
    {"VARIABLE", "NAME", "AT", "STRING", "INTEGER", "FLOAT", "TRUE", "FALSE", "NULL", "RPAR", "RSQB"}
)
_CONTINUES = frozenset({"DOT", "COMPARE", "PLUS", "MINUS", "TIMES"})
_EXPECTS_OPERAND = frozenset(
    {"COMPARE", "PLUS", "MINUS", "TIMES", "AND", "OR", "NOT", "LPAR", "LSQB", "COMMA", "IS_PATH", "COLON"}
)

# What a brace opens, by the token before it. Everything else opens a list of `name: value`, or hops.
_OPENS = {
    "MATCH": "clauses",
    "BLOCK": "clauses",
    "COUNT": "clauses",
    "RETURN": "projections",
    "DISTINCT": "projections",
    "ORDER": "order",
    "TYPE": "pairs",
    "SET": "pairs",
    "EDGE": "hops",
    "CLOSE": "hops",
}


def classify(tokens: list[Token]) -> None:
    """Give every word and angle bracket its final type, in place, from left to right."""
    blocks: list[str] = []
    for position, token in enumerate(tokens):
        kind = token.type
        if kind == "WORD":
            token.type = _word(tokens, position, blocks[-1] if blocks else "file")
        elif kind == "LBRACE":
            blocks.append(_opened(tokens, position, blocks))
        elif kind in ("LPAR", "LSQB"):
            blocks.append("brackets")
        elif kind in ("RBRACE", "RPAR", "RSQB"):
            if blocks:
                blocks.pop()
        elif kind == "COMPARE" and len(token) == 1:
            _angle(tokens, position)


def _type(tokens: list[Token], position: int) -> str:
    return tokens[position].type if 0 <= position < len(tokens) else ""


def _opened(tokens: list[Token], position: int, blocks: list[str]) -> str:
    before = _type(tokens, position - 1)
    if before == "RPAR":
        return "clauses" if blocks and blocks[-1] == "clauses" else "body"
    return _OPENS.get(before, "pairs")


def _angle(tokens: list[Token], position: int) -> None:
    """`<edge>` after a variable or a colon is an undirected edge, not a comparison."""
    token = tokens[position]
    if token == "<" and _type(tokens, position + 1) == "WORD":
        closing = tokens[position + 2] if position + 2 < len(tokens) else None
        if closing is not None and closing == ">" and _type(tokens, position - 1) in ("VARIABLE", "COLON"):
            token.type = "OPEN"
    elif token == ">" and _type(tokens, position - 1) == "EDGE" and _type(tokens, position - 2) == "OPEN":
        token.type = "CLOSE"
    elif token == "=" and _type(tokens, position - 1) == "VARIABLE" and _type(tokens, position - 2) == "SHORTEST":
        token.type = "IS_PATH"


def _word(tokens: list[Token], position: int, block: str) -> str:
    word = tokens[position].value
    before, after = _type(tokens, position - 1), _type(tokens, position + 1)
    if before in ("DOT", "AS", "QUERY"):
        return "NAME"
    if before == "OPEN" or (before == "COLON" and _type(tokens, position - 2) == "VARIABLE"):
        return "EDGE"
    if after == "COLON":
        return "NAME"
    if block == "file":
        return "QUERY" if word == "query" else "NAME"
    if block == "clauses":
        found = _in_clauses(tokens, position, word, before, after)
    elif block == "body":
        found = _in_body(word, before, after)
    elif block == "order":
        found = _in_order(tokens, position, before, after)
    elif block == "projections":
        found = "AS" if word == "as" and after in ("WORD", "TYPE") and before in _OPERAND_ENDS else ""
    else:
        found = ""
    return found or _in_expression(word, before, after)


def _in_clauses(tokens: list[Token], position: int, word: str, before: str, after: str) -> str:
    if word == "shortest" and after == "VARIABLE" and tokens[position + 2 : position + 3] == ["="]:
        return "SHORTEST"
    hops = after == "LBRACE" and _is_hops(tokens, position + 1)
    if before == "VARIABLE" and word != "not" and (after == "VARIABLE" or hops):
        if word not in OPERATORS or hops:
            return "EDGE"
        if not _is_operand(tokens, position - 1) and not _continues(tokens, position + 2):
            return "AMBIGUOUS"
    if after == "LBRACE":
        if word in _BLOCKS:
            return "BLOCK"
        if word == "count":
            return "COUNT"
    return ""


def _is_hops(tokens: list[Token], position: int) -> bool:
    return _type(tokens, position + 1) == "INTEGER" and _type(tokens, position + 2) == "COMMA"


def _is_operand(tokens: list[Token], position: int) -> bool:
    """Tell whether the variable here belongs to an expression that began before it."""
    return _type(tokens, position - 1) in _EXPECTS_OPERAND


def _continues(tokens: list[Token], position: int) -> bool:
    """Tell whether an expression goes on here, so that what came before is no complete traversal."""
    after = _type(tokens, position)
    return after in _CONTINUES or (after == "WORD" and tokens[position].value in OPERATORS)


def _in_body(word: str, before: str, after: str) -> str:
    if before == "WHERE" and after == "COMPARE":
        return "NAME"
    if word in _STATEMENTS and after == "TYPE":
        return _STATEMENTS[word]
    if word in _BODY_BLOCKS and after == "LBRACE":
        return _BODY_BLOCKS[word]
    if word == "return" and after == "WORD":
        return "RETURN"
    if word == "distinct" and before == "RETURN":
        return "DISTINCT"
    if word == "limit" and before == "RBRACE":
        return "LIMIT"
    if word == "offset" and before in ("RBRACE", "INTEGER", "VARIABLE") and after in ("INTEGER", "VARIABLE"):
        return "OFFSET"
    if word == "where" and before in ("TYPE", "RBRACE"):
        return "WHERE"
    return ""


def _in_order(tokens: list[Token], position: int, before: str, after: str) -> str:
    if tokens[position].value in _DIRECTIONS and before in _OPERAND_ENDS:
        return "DIRECTION"
    directed = after == "WORD" and tokens[position + 1].value in _DIRECTIONS
    return "NAME" if before in ("LBRACE", "COMMA") and (after in ("COMMA", "RBRACE") or directed) else ""


def _in_expression(word: str, before: str, after: str) -> str:
    if word in OPERATORS and before in _OPERAND_ENDS:
        return OPERATORS[word]
    if word == "not":
        return "NOT"
    if word == "distinct" and before == "LPAR" and after not in ("RPAR", "COMMA", "COMPARE", "DOT"):
        return "DISTINCT"
    if word in _LITERALS:
        return _LITERALS[word]
    return "FUNCTION" if after == "LPAR" else "NAME"
