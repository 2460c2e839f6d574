"""The page for users: every example compiles, nothing is left out."""

import re
from pathlib import Path

import pytest

from omnigraph.query import compile_queries, format_queries
from omnigraph.query.functions import ALL_NAMES, UNITS
from omnigraph.schema import compile_schema
from tests.query.test_rules import RULES

PAGE = (Path(__file__).parents[2] / "docs" / "query-language.md").read_text(encoding="utf-8")
(SCHEMA,) = re.findall(r"```pg\n(.*?)```", PAGE, re.DOTALL)
EXAMPLES = re.findall(r"```gq\n(.*?)```", PAGE, re.DOTALL)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.split("(")[0].removeprefix("query "))
def test_example(example: str) -> None:
    compile_queries(example, compile_schema(SCHEMA))
    assert format_queries(example) == example


def test_every_function_is_described() -> None:
    assert not [name for name in ALL_NAMES if f"`{name}(" not in PAGE and f"`{name}`" not in PAGE]
    assert not [unit for unit in UNITS if f'`"{unit}"`' not in PAGE]


def test_every_code_is_described() -> None:
    codes = {code for code, _, _ in RULES.values() if code} | {"Q000", "L201"}
    assert not [code for code in codes if f"\n| {code} |" not in PAGE]
