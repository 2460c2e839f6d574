"""The query language: text in, type-checked queries out. No I/O."""

from omnigraph.query.catalogue import catalogue_entry
from omnigraph.query.check.queries import CheckedFile, check_each, check_queries, compile_queries
from omnigraph.query.dump import dump_query
from omnigraph.query.format import format_queries
from omnigraph.query.ir import CheckedMutation, CheckedQuery, CheckedRead
from omnigraph.query.lint import LintReport, SchemaSource, lint_queries
from omnigraph.query.operation import describe_operation
from omnigraph.query.params import decode_params
from omnigraph.query.parse import parse_queries

__all__ = [
    "CheckedFile",
    "CheckedMutation",
    "CheckedQuery",
    "CheckedRead",
    "LintReport",
    "SchemaSource",
    "catalogue_entry",
    "check_each",
    "check_queries",
    "compile_queries",
    "decode_params",
    "describe_operation",
    "dump_query",
    "format_queries",
    "lint_queries",
    "parse_queries",
]
