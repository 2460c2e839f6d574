"""Expressions over Arrow rows: types, order, parameters, errors, and what is not loaded."""

import os
import subprocess
import sys
import threading
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from omnigraph.execute import compute, constant, filter_rows, select_mask
from omnigraph.execute.engine import EvaluationFailed, cursor
from omnigraph.model.errors import BadRequest
from omnigraph.query import ir
from omnigraph.schema.arrow import arrow_type
from tests.plan.rows import CATALOG, LINK, NOW, ROW, expression, given, rows

FULL: dict[str, Any] = {
    "text": "a", "flag": True, "i32": 1, "i64": 2, "u32": 3, "u64": 2**64 - 1, "f32": 0.5, "f64": 0.25,
    "day": date(2024, 1, 1), "moment": datetime(2024, 1, 1, 0, 0, 0, 5000, tzinfo=UTC), "role": "guest",
    "texts": ["x"], "whole": [1], "small": [1], "floats": [0.5], "days": [date(2024, 1, 1)], "vector": [1.0, 2.0],
}  # fmt: skip


def ids(table: pa.Table) -> list[str]:
    return table.column("id").to_pylist()


# -- rows ----------------------------------------------------------------------------------------------


def test_filter_keeps_what_is_true() -> None:
    table = rows({"i32": 1}, {"i32": 2}, {})
    assert ids(filter_rows(table, expression("i32 != 2"), {}, NOW)) == ["0"]
    assert ids(filter_rows(table, expression("i32 is null"), {}, NOW)) == ["2"]
    assert filter_rows(table, expression("i32 != 2"), {}, NOW).schema == table.schema
    mask = select_mask(table, expression("i32 > 1"), {}, NOW)
    assert isinstance(mask, pa.BooleanArray)
    assert mask.to_pylist() == [False, True, False]


def test_filter_by_a_column_or_a_constant() -> None:
    table = rows({"flag": True}, {"flag": False}, {})
    assert ids(filter_rows(table, expression("flag"), {}, NOW)) == ["0"]
    assert ids(filter_rows(table, expression("true"), {}, NOW)) == ["0", "1", "2"]
    assert ids(filter_rows(table, expression("$b", "$b: Bool?"), {"b": None}, NOW)) == []


def test_no_rows() -> None:
    empty = rows().slice(0, 0)
    assert filter_rows(empty, expression("i32 > 1"), {}, NOW).num_rows == 0
    found = compute(empty, {"a": expression("i32 + 1"), "b": expression("1 + 1"), "c": expression("2")}, {}, NOW)
    assert found.schema.types == [pa.int64()] * 3
    assert found.num_rows == 0


def test_order_of_many_rows() -> None:
    count = 500_000
    table = pa.table({"id": pc.cast(pa.array(range(count)), pa.string()), "i64": pa.array(range(count), pa.int64())})
    found = compute(table, {"double": expression("i64 * 2")}, {}, NOW)
    assert found.column("double").combine_chunks().equals(pc.multiply(table.column("i64"), 2).combine_chunks())
    mask = select_mask(table, expression("i64 % 3 = 0"), {}, NOW)
    assert mask.to_numpy(zero_copy_only=False)[:7].tolist() == [True, False, False, True, False, False, True]


@pytest.mark.parametrize("name", list(FULL))
def test_every_type_passes_through_the_engine(name: str) -> None:
    declared = CATALOG.node_types["Row"].properties_by_name[name].type
    column = ir.Property(None, name, declared)
    table = rows(FULL, {})
    found = compute(table, {"same": column, "null": ir.IsNull(column, False)}, {}, NOW)
    assert found.column("null").to_pylist() == [False, True]
    assert found.schema.field("same").type == arrow_type(declared)
    assert found.column("same").to_pylist() == [FULL[name], None]
    if not (declared.is_list or declared.is_vector):
        made = compute(table, {"made": ir.Call("coalesce", (column, column), declared)}, {}, NOW)
        assert made.schema.field("made").type == arrow_type(declared)
        assert made.column("made").to_pylist() == [FULL[name], None]


def test_other_encodings_of_text() -> None:
    table = rows({"text": "a"}, {"text": "b"}, {})
    at = table.column_names.index("text")
    for column in (table.column("text").cast(pa.large_string()), table.column("text").dictionary_encode()):
        other = table.set_column(at, "text", column)
        assert ids(filter_rows(other, expression('text = "b"'), {}, NOW)) == ["1"]
        assert compute(other, {"t": expression("text")}, {}, NOW).schema.field("t").type == pa.string()


def test_unused_columns_are_no_matter() -> None:
    table = rows(FULL).append_column("odd", pa.array([{"a": b"x"}], pa.struct([("a", pa.large_binary())])))
    assert filter_rows(table, expression("i32 = 1"), {}, NOW).equals(table)


def test_names_that_differ_in_case() -> None:
    table = rows({"userName": "x", "username": "y"})
    found = compute(table, {"a": expression("lower(userName)"), "A": expression("lower(username)")}, {}, NOW)
    assert found.to_pylist() == [{"a": "x", "A": "y"}]


def test_edges() -> None:
    table = pa.table({"id": ["e"], "src": ["a"], "dst": ["b"], "since": [None], "weight": [0.5]}, schema=LINK)
    for text in ('from = "a" and to = "b"', '@src = "a" and @dst != "a" and @id = "e"', "weight < 1"):
        assert filter_rows(table, expression(text, type_name="Link"), {}, NOW).num_rows == 1


# -- parameters ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("String", "'; DROP TABLE rows_of_table; --"),
        ("I32", -5),
        ("U64", 2**63 - 1),
        ("F32", 0.1),
        ("F64", 1e300),
        ("Bool", True),
        ("Date", "2024-02-29"),
        ("DateTime", "2024-02-29T10:00:00.123Z"),
    ],
)
def test_parameters_are_bound(declared: str, value: Any) -> None:
    params = given(f"$v: {declared}?", {"v": value})
    same = expression("$v = coalesce($v, $v)", f"$v: {declared}?")
    assert constant(same, params, NOW) is True
    assert constant(same, {"v": None}, NOW) is None
    listed = expression("$v in $l and length($l) = 2", f"$v: {declared}, $l: [{declared}]")
    assert constant(listed, given(f"$v: {declared}, $l: [{declared}]", {"v": value, "l": [value, value]}), NOW) is True


def test_empty_list_parameter() -> None:
    condition = expression("i32 in $l", "$l: [I64]?")
    table = rows({"i32": 1}, {})
    assert compute(table, {"in": condition}, {"l": ()}, NOW).column("in").to_pylist()[0] is False
    assert compute(table, {"in": condition}, {"l": None}, NOW).column("in").to_pylist() == [None, None]


def test_vectors_pass_through() -> None:
    table = rows({"vector": [1.0, 2.0]}, {})
    found = compute(
        table, {"old": expression("vector"), "new": expression("$v", "$v: Vector(2)")}, {"v": (3.0, 4.0)}, NOW
    )
    assert found.schema.types == [ROW.field("vector").type] * 2
    assert found.column("new").to_pylist() == [[3.0, 4.0]] * 2


# -- constants -----------------------------------------------------------------------------------------


def test_constants() -> None:
    assert constant(expression('"a"'), {}, NOW) == "a"
    assert constant(expression("[1, 2.5]"), {}, NOW) == (1.0, 2.5)
    assert constant(expression("now()"), {}, NOW) == datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)
    assert constant(expression("null"), {}, NOW) is None
    assert constant(expression("$n", "$n: I64"), {"n": 3}, NOW) == 3
    assert constant(expression("$n + 1", "$n: I64"), {"n": 3}, NOW) == 4
    assert constant(expression('split("a b", " ")'), {}, NOW) == ("a", "b")
    assert constant(expression('date_add("day", 1, now())'), {}, NOW) == datetime(
        2024, 5, 7, 7, 8, 9, 123000, tzinfo=UTC
    )


def test_plain_constants_load_no_engine() -> None:
    program = """
import sys
import omnigraph
from datetime import UTC, datetime
from omnigraph.execute import constant, key_equality
from omnigraph.query import ir
assert constant(ir.Literal("a", ir.STRING), {}, datetime.now(UTC)) == "a"
assert constant(ir.Parameter("p", ir.I64), {"p": 1}, datetime.now(UTC)) == 1
assert constant(ir.Now(), {}, datetime.now(UTC)) is not None
assert not {"duckdb", "_duckdb", "sqlglot"} & set(sys.modules), "an engine was loaded"
"""
    subprocess.run([sys.executable, "-c", program], check=True)


# -- the engine ----------------------------------------------------------------------------------------


def test_errors_are_ours() -> None:
    with pytest.raises(EvaluationFailed, match=r"cannot be evaluated: Overflow in addition") as raised:
        compute(rows({"i64": 2**63 - 1}), {"v": expression("i64 + 1")}, {}, NOW)
    assert isinstance(raised.value, BadRequest)
    assert compute(rows({"i64": 1}), {"v": expression("i64 + 1")}, {}, NOW).column("v").to_pylist() == [2]


def test_engine_is_closed() -> None:
    at = cursor()
    for setting in ("autoinstall_known_extensions", "autoload_known_extensions", "enable_external_access"):
        assert at.execute(f"SELECT current_setting('{setting}')").fetchall() == [(False,)]
    assert at.execute("SELECT current_setting('TimeZone')").fetchall() == [("UTC",)]


def test_time_zone_of_the_process_is_no_matter() -> None:
    program = """
from datetime import UTC, datetime
from tests.plan.rows import evaluate
row = {"moment": datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC)}
assert evaluate("to_string(moment)", row) == "1969-12-31T23:59:59.999Z"
assert evaluate("hour(moment)", row) == 23
assert evaluate("day(moment)", row) == 31
assert evaluate('date_trunc("month", moment) = datetime("1969-12-01T00:00:00Z")', row) is True
assert evaluate("moment < now()", row) is True
assert evaluate("date(moment) = date(text)", row | {"text": "1969-12-31"}) is True
"""
    environment = os.environ | {"TZ": "Pacific/Kiritimati", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


def test_threads() -> None:
    wrong: list[Any] = []

    def work(number: int) -> None:
        for _ in range(10):
            found = compute(rows({"i64": number}), {"v": expression("i64 + 1")}, {}, NOW).column("v").to_pylist()
            if found != [number + 1]:
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
