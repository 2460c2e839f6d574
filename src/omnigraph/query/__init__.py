"""The query language: text in, type-checked queries out. No I/O."""

from omnigraph.query.check.queries import CheckedFile, Outcome, check_each, check_queries, compile_queries
from omnigraph.query.ir import CheckedMutation, CheckedQuery, CheckedRead
from omnigraph.query.parse import parse_queries

__all__ = [
    "CheckedFile",
    "CheckedMutation",
    "CheckedQuery",
    "CheckedRead",
    "Outcome",
    "check_each",
    "check_queries",
    "compile_queries",
    "parse_queries",
]
