"""The page about the language: its examples compile, and its tables name what the code has."""

import re
from pathlib import Path

import pytest

from omnigraph.schema import compile_schema, format_schema, lint_schema
from omnigraph.schema import lint as lint_rules
from omnigraph.schema.evolve.codes import CATALOGUE
from omnigraph.schema.evolve.data_checks import DataCheck
from omnigraph.schema.evolve.property_steps import PropertyStep
from omnigraph.schema.evolve.step import TypeStep

PAGE = (Path(__file__).parents[2] / "docs" / "schema-language.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```pg\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def table_column(heading: str, column: int = 0) -> list[str]:
    """Give the code in a column of the table under a row of headings."""
    rows = PAGE.split(heading, 1)[1].splitlines()[2:]
    cells = []
    for row in rows:
        if not row.startswith("|"):
            break
        cells.append(row.strip("|").split("|")[column])
    return re.findall(r"`([A-Za-z_0-9-]+)`", " ".join(cells))


@pytest.mark.parametrize("example", EXAMPLES, ids=[e.strip().splitlines()[0][:40] for e in EXAMPLES])
def test_example_compiles(example: str) -> None:
    assert compile_schema(example) == compile_schema(format_schema(example))
    assert [f for f in lint_schema(example) if f.severity == "warning" and f.code != "S201"] == []


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 10


def test_every_step_is_in_the_table() -> None:
    classes = {c for base in (TypeStep, PropertyStep) for c in base.__subclasses__() if hasattr(c, "kind")}
    assert set(table_column("| step | when | touches data | data check |")) == {c.kind for c in classes}


def test_every_data_check_is_in_the_table() -> None:
    named = table_column("| step | when | touches data | data check |", column=3)
    assert set(named) == {c.check for c in DataCheck.__subclasses__()}


def test_every_code_is_on_the_page() -> None:
    assert [c.code for c in CATALOGUE if f"`{c.code}`" not in PAGE] == []
    codes = {v for v in vars(lint_rules).values() if isinstance(v, str) and re.fullmatch(r"S\d{3}", v)}
    assert set(table_column("| code | severity | finding |")) == codes


def test_every_link_on_the_page_leads_somewhere() -> None:
    anchors = {h.lower().replace(" ", "-") for h in re.findall(r"^## (.+)$", PAGE, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= anchors
