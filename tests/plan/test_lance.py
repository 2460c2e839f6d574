"""What Lance filters and what is left over give the rows of the whole condition."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omnigraph.execute.rows import filter_rows
from omnigraph.model.types import PropType
from omnigraph.plan import LanceFilter, to_lance_filter
from omnigraph.query import ir
from tests.plan import generate
from tests.plan.rows import INF, NAN, NOW, expression, rows
from tests.plan.rows import given as given_parameters

TABLE = rows(
    {"text": "it's", "i32": 1, "i64": 2**53 + 1, "u64": 2**64 - 1, "u32": 1, "f64": 0.1, "f32": 0.1, "flag": True},
    {"text": "", "i32": -5, "i64": -(2**63), "u64": 0, "u32": 2**32 - 1, "f64": NAN, "f32": -0.0, "flag": False},
    {"text": 'a"\\%', "i32": 0, "i64": 2**53, "u64": 7, "f64": -0.0, "f32": 2.0, "day": date(2024, 2, 29)},
    {"text": "é😀", "day": date(1, 1, 1), "moment": datetime(2024, 1, 1, 0, 0, 0, 123000, tzinfo=UTC), "f64": INF},
    {"userName": "a", "username": "b", "day": date(9999, 12, 31), "moment": datetime(1, 1, 1, tzinfo=UTC)},
    {
        "userName": "b",
        "username": "a",
        "texts": ["x"],
        "vector": [1.0, 2.0],
        "moment": datetime(1969, 1, 1, tzinfo=UTC),
    },
    {},
)

PUSHED = [
    "i32 = 1",
    "1 < i32",
    "i32 >= -5 and i32 != 0",
    "i32 = 1.0",
    "i64 = 9007199254740993",
    "u64 = 18446744073709551615",
    "u64 > 9223372036854775807",
    "u32 in [1, 4294967295]",
    "i32 not in [1, 2]",
    "f64 = 0.1",
    "f64 != 0.1",
    "f32 = 2",
    'text = "it\'s"',
    'text > ""',
    'text in ["it\'s", "é😀", "a\\"\\\\%"]',
    "flag",
    "not flag",
    "flag = true or flag is null",
    'day = date("0001-01-01")',
    'day > date("2024-01-01")',
    'moment = datetime("2024-01-01T00:00:00.123Z")',
    'moment < datetime("1970-01-01T00:00:00Z")',
    'moment in [datetime("0001-01-01T00:00:00Z")]',
    "i32 is null",
    "i32 is not null and text is null",
    'not (i32 = 1 or text = "")',
    'userName = "a"',
    'username = "a"',
    '@id = "3"',
    'role = "admin" or i32 < 0',
]
KEPT = [
    "f64 > 0.5",
    "f64 = 0",
    "f32 = 0.1",
    "i32 = 1.5",
    "i32 < 5000000000",
    "u64 > i64",
    "i64 = -9223372036854775808",
    "i64 in [-9223372036854775808, 9007199254740993]",
    'text contains "%"',
    "i32 + 1 > 1",
    "vector is null",
    'texts contains "x"',
    "i64 = 9007199254740993.0",
    "i32 in [1, i64]",
    "text in []",
    "flag < true",
    "not (i32 = 1 or f64 > 1)",
    "moment < now()",
]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> lance.LanceDataset:
    folder: Path = tmp_path_factory.mktemp("rows")
    return lance.write_dataset(TABLE, str(folder / "rows.lance"))


def found(dataset: lance.LanceDataset, pushed: LanceFilter, params: dict[str, Any]) -> list[str]:
    table: pa.Table = dataset.scanner(filter=pushed.text).to_table()
    if pushed.residual is not None:
        table = filter_rows(table, pushed.residual, params, NOW)
    return table.column("id").to_pylist()


@pytest.mark.parametrize("text", PUSHED)
def test_pushed(dataset: lance.LanceDataset, text: str) -> None:
    pushed = to_lance_filter(expression(text), {})
    assert pushed.text is not None
    assert pushed.residual is None
    assert found(dataset, pushed, {}) == filter_rows(TABLE, expression(text), {}, NOW).column("id").to_pylist()


@pytest.mark.parametrize("text", KEPT)
def test_kept(dataset: lance.LanceDataset, text: str) -> None:
    condition = expression(text)
    assert to_lance_filter(condition, {}) == LanceFilter(None, condition)


def test_conjuncts_are_divided(dataset: lance.LanceDataset) -> None:
    condition = expression('i32 is not null and (f64 > 0.05 and text != "a")')
    pushed = to_lance_filter(condition, {})
    assert pushed.text == "(`i32` IS NOT NULL) AND (`text` != 'a')"
    assert pushed.residual == expression("f64 > 0.05")
    assert found(dataset, pushed, {}) == ["0", "1"]


def test_parameters(dataset: lance.LanceDataset) -> None:
    declared = "$t: String, $n: I64?, $l: [I32]?"
    condition = expression("text = $t or i32 = $n or i32 in $l", declared)
    params = given_parameters(declared, {"t": "it's", "n": -5, "l": [0]})
    pushed = to_lance_filter(condition, params)
    assert pushed.residual is None
    assert found(dataset, pushed, params) == ["0", "1", "2"]
    absent = given_parameters(declared, {"t": "x' OR 1=1 --"})
    assert found(dataset, to_lance_filter(condition, absent), absent) == []
    assert to_lance_filter(expression("text = $t", declared), absent).text == "(`text` = 'x'' OR 1=1 --')"


def simple() -> st.SearchStrategy[ir.Expression]:
    def build(scalar: Any) -> st.SearchStrategy[ir.Expression]:
        column = st.sampled_from(
            [ir.Property(None, n, generate.maybe(k)) for n, k in generate.COLUMNS.items() if k is scalar]
        )
        other = generate.number(0) if scalar.is_numeric else generate.leaf(scalar)
        operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
        compare = st.tuples(operators, column, other).map(lambda f: ir.Compare(*f, ir.BOOL.optional))
        items = st.lists(generate.leaf(scalar), min_size=1, max_size=3).map(
            lambda found: ir.ListOf(tuple(found), PropType(scalar, True, is_list=True))
        )
        member = st.tuples(column, items, st.booleans()).map(lambda f: ir.Member(*f, ir.BOOL.optional))
        return st.one_of(compare, member, st.tuples(column, st.booleans()).map(lambda f: ir.IsNull(*f)))

    return st.sampled_from(tuple(generate.VALUES)).flatmap(build)


def conditions() -> st.SearchStrategy[ir.Expression]:
    return st.recursive(
        simple(),
        lambda inner: st.one_of(
            inner.map(lambda c: ir.Not(c, ir.BOOL.optional)),
            st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3)).map(
                lambda f: ir.Logic(f[0], tuple(f[1]), ir.BOOL.optional)
            ),
        ),
        max_leaves=4,
    )


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(conditions(), generate.parameters())
def test_parts_make_the_whole(dataset: lance.LanceDataset, condition: ir.Expression, params: dict[str, Any]) -> None:
    whole = filter_rows(TABLE, condition, params, NOW).column("id").to_pylist()
    assert found(dataset, to_lance_filter(condition, params), params) == whole
