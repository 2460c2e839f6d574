"""The schema of the cases, and short ways to compile against it."""

from pathlib import Path

import pytest

from omnigraph.model.diagnostics import Diagnostic, LanguageError
from omnigraph.query import CheckedMutation, CheckedRead, compile_queries
from omnigraph.schema import compile_schema

CASES = Path(__file__).parent.parent / "cases"
CATALOG = compile_schema((CASES / "people.pg").read_text(encoding="utf-8"), "people.pg")


def read(body: str, parameters: str = "") -> CheckedRead:
    """Compile the body of one query that reads."""
    (query,) = compile_queries(f"query q({parameters}) {{ {body} }}", CATALOG).queries
    assert isinstance(query, CheckedRead)
    return query


def match(clauses: str, parameters: str = "", result: str = "$p.name") -> CheckedRead:
    """Compile a query with a person $p and these clauses."""
    return read(f"match {{ $p: Person {clauses} }} return {{ {result} }}", parameters)


def write(body: str, parameters: str = "") -> CheckedMutation:
    """Compile the body of one query that writes."""
    (query,) = compile_queries(f"query q({parameters}) {{ {body} }}", CATALOG).queries
    assert isinstance(query, CheckedMutation)
    return query


def failure(text: str) -> LanguageError:
    """Compile a text that is wrong."""
    with pytest.raises(LanguageError) as raised:
        compile_queries(text, CATALOG, "my.gq")
    return raised.value


def only(error: LanguageError) -> Diagnostic:
    """Give the one finding of an error."""
    assert len(error.diagnostics) == 1, str(error)
    return error.diagnostics[0]
