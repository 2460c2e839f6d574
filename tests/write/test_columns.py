"""Columns from values: each JSON form, each refusal, and that the fast path is the slow one."""

import base64
import math
import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnigraph.model.types import PropType, ScalarType
from omnigraph.schema import arrow_type
from omnigraph.write.blobs import build_blob
from omnigraph.write.columns import build_column
from omnigraph.write.scalars import at_once, one_by_one

S = ScalarType
MS = 1_577_836_800_000  # 2020-01-01T00:00:00Z
DAY = 18_262
NAIVE = datetime.fromisoformat("2020-01-01T00:00:00")


def scalar(word: str) -> PropType:
    return PropType(ScalarType(word), nullable=True)


def listed(word: str) -> PropType:
    return PropType(ScalarType(word), is_list=True)


def counts(array: pa.Array) -> list[object]:
    if pa.types.is_date32(array.type):
        array = array.cast(pa.int32())
    elif pa.types.is_timestamp(array.type):
        array = array.cast(pa.int64())
    return array.to_pylist()


@pytest.mark.parametrize(
    ("word", "value", "stored"),
    [
        ("String", "", ""),
        ("String", "a\x00é😀", "a\x00é😀"),
        ("Bool", False, False),
        ("I32", -(2**31), -(2**31)),
        ("I32", np.int64(5), 5),
        ("I64", 2**63 - 1, 2**63 - 1),
        ("U32", 2**32 - 1, 2**32 - 1),
        ("U64", 2**64 - 1, 2**64 - 1),
        ("I64", Decimal("7.0"), 7),
        ("F64", 3, 3.0),
        ("F64", 2**53 + 1, float(2**53)),
        ("F64", 2**64, float(2**64)),
        ("F64", "Infinity", math.inf),
        ("F64", "-Infinity", -math.inf),
        ("F64", Decimal("0.1"), 0.1),
        ("F32", 0.1, float(np.float32(0.1))),
        ("F32", 2**40 + 1, float(2**40)),
        ("F32", np.float32(1.5), 1.5),
        ("Bool", np.bool_(True), True),
        ("Date", DAY, DAY),
        ("Date", "2020-01-01", DAY),
        ("Date", "2020-01-01T23:59:59Z", DAY),
        ("Date", "2020-01-01T23:00:00-05:00", DAY + 1),
        ("Date", date(2020, 1, 1), DAY),
        ("Date", NAIVE.replace(hour=12), DAY),
        ("Date", np.datetime64("2020-01-01"), DAY),
        ("Date", "0001-01-01", -719_162),
        ("DateTime", MS, MS),
        ("DateTime", "2020-01-01T00:00:00Z", MS),
        ("DateTime", "2020-01-01T00:00:00.123456789Z", MS + 123),
        ("DateTime", "2020-01-01 00:00", MS),
        ("DateTime", "2020-01-01", MS),
        ("DateTime", "2020-01-01T02:00:00+02:00", MS),
        ("DateTime", "1969-12-31T23:59:59.999Z", -1),
        ("DateTime", NAIVE.replace(microsecond=1999), MS + 1),
        ("DateTime", datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1),
        ("DateTime", datetime(2020, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), MS),
        ("DateTime", date(2020, 1, 1), MS),
        ("DateTime", np.datetime64("2020-01-01T00:00:00.000000001"), MS),
        ("DateTime", np.datetime64("NaT"), None),
    ],
)
def test_what_is_stored(word: str, value: object, stored: object) -> None:
    column = build_column([value, None], scalar(word))
    assert (counts(column.array), column.bad) == ([stored, None], [])
    assert column.array.type == arrow_type(scalar(word))


def test_nan_is_a_value_of_f64() -> None:
    column = build_column(["NaN", 1], scalar("F64"))
    assert not column.bad
    assert math.isnan(column.array[0].as_py())


@pytest.mark.parametrize(
    ("word", "value", "reason"),
    [
        ("String", 1, "1 is not a string"),
        ("String", "\ud800", "half of a surrogate pair is no text"),
        ("String", {"a": 1}, "an object is not a string"),
        ("Bool", 1, "1 is neither true nor false"),
        ("Bool", "true", '"true" is neither true nor false'),
        ("I32", True, "true is not a whole number"),
        ("I32", 1.0, "1.0 is not a whole number"),
        ("I32", "1", '"1" is not a whole number'),
        ("I32", 2**31, "2147483648 is outside -2147483648 to 2147483647"),
        ("I64", 2**63, "9223372036854775808 is outside -9223372036854775808 to 9223372036854775807"),
        ("U32", -1, "-1 is outside 0 to 4294967295"),
        ("U64", 2**64, "18446744073709551616 is outside 0 to 18446744073709551615"),
        pytest.param("U64", 10**5000, "this number is outside 0 to 18446744073709551615", id="5000 digits"),
        ("I64", Decimal("7.5"), "Decimal('7.5') is not a whole number"),
        ("I64", Decimal("1E+999999"), "Decimal('1E+999999') is not a whole number"),
        ("I64", Decimal("sNaN"), "Decimal('sNaN') is not a whole number"),
        ("F64", "1", '"1" is not a number'),
        ("F64", False, "false is not a number"),
        ("F64", 10**400, "this number does not fit in F64"),
        ("F32", 1e39, "1e+39 does not fit in F32"),
        ("F32", "NaN", '"NaN" is not finite'),
        ("F32", math.inf, "inf is not finite"),
        ("Date", "2020-1-1", '"2020-1-1" is not a day; write YYYY-MM-DD'),
        ("Date", "2020-02-30", '"2020-02-30" is not a day; write YYYY-MM-DD'),
        ("Date", "2020-01-01\n", '"2020-01-01\\n" is not a day; write YYYY-MM-DD'),
        ("Date", 1.5, "1.5 is not a day; write YYYY-MM-DD"),
        ("Date", True, "true is not a day; write YYYY-MM-DD"),
        ("Date", 2**31, "2147483648 is outside the years 1 to 9999"),
        ("Date", "0000-01-01", '"0000-01-01" is not a day; write YYYY-MM-DD'),
        ("DateTime", "yesterday", '"yesterday" is not a time; write YYYY-MM-DDTHH:MM:SSZ'),
        ("DateTime", "2020-01-01T00:00:60Z", '"2020-01-01T00:00:60Z" is not a time; write YYYY-MM-DDTHH:MM:SSZ'),
        ("DateTime", 10**17, "100000000000000000 is outside the years 1 to 9999"),
        (
            "DateTime",
            "9999-12-31T23:59:59-01:00",
            '"9999-12-31T23:59:59-01:00" is not a time; write YYYY-MM-DDTHH:MM:SSZ',
        ),
    ],
)
def test_what_is_refused(word: str, value: object, reason: str) -> None:
    column = build_column([None, value], scalar(word))
    assert (column.array.to_pylist(), column.bad) == ([None, None], [(1, reason)])
    permissive = build_column([None, value], scalar(word), strict=False)
    assert (permissive.array.to_pylist(), permissive.bad) == ([None, None], [])


def test_long_values_are_shortened() -> None:
    ((_, reason),) = build_column(["x" * 10_000_000], scalar("I32")).bad
    assert len(reason) < 100


def test_one_bad_value_spoils_no_other() -> None:
    column = build_column([1, "x", 3, None, 2**40], scalar("I32"))
    assert column.array.to_pylist() == [1, None, 3, None, None]
    assert [index for index, _ in column.bad] == [1, 4]


def test_no_values() -> None:
    for declared in (scalar("I32"), listed("String"), PropType(S.VECTOR, vector_dim=3)):
        assert build_column([], declared).array.type == arrow_type(declared)
        assert build_column([None], declared).array.to_pylist() == [None]


def test_columns_travel() -> None:
    column = build_column([1, "x"], scalar("I32"))
    assert pickle.loads(pickle.dumps(column)) == column


# -- the fast path is the slow one ---------------------------------------------------------------------

_texts = st.one_of(
    st.text(max_size=12),
    st.dates().map(str),
    st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
    st.datetimes().map(lambda moment: moment.isoformat(" ", "milliseconds")),
    st.datetimes().map(lambda moment: moment.isoformat("T", "seconds") + "+01:30"),
    st.from_regex(r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,4})?Z?)?\n?\Z"),
    st.sampled_from(["NaN", "Infinity", "-Infinity", "1", "true", ""]),
)
_numbers = st.one_of(
    st.integers(),
    st.integers(-10, 10),
    st.sampled_from([2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -1]),
    st.floats(),
)
_columns = st.one_of(
    *(
        st.lists(st.none() | values, max_size=5)
        for values in (_texts, _numbers, st.booleans(), st.dates(), st.datetimes())
    ),
    st.lists(st.none() | _texts | _numbers | st.booleans() | st.binary(max_size=3), max_size=5),
)


@given(_columns, st.sampled_from([kind for kind in S if kind not in (S.BLOB, S.VECTOR)]))
def test_both_paths_agree(values: list[object], kind: ScalarType) -> None:
    fast, slow = at_once(values, kind), one_by_one(values, kind)
    assert slow.array.type == arrow_type(PropType(kind))
    if fast is not None:
        assert slow.bad == []
        assert fast.type == slow.array.type
        assert [repr(value) for value in counts(fast)] == [repr(value) for value in counts(slow.array)]


@given(st.lists(st.dates(min_value=date(1000, 1, 1)).map(str), min_size=1))
def test_canonical_days_are_fast(values: list[str]) -> None:
    assert at_once(values, S.DATE) is not None


@given(st.lists(st.datetimes(min_value=NAIVE.replace(year=1000)), min_size=1), st.sampled_from(["", "Z"]))
def test_canonical_times_are_fast(values: list[datetime], zone: str) -> None:
    assert at_once([value.isoformat("T", "milliseconds") + zone for value in values], S.DATE_TIME) is not None


# -- lists and vectors ---------------------------------------------------------------------------------


def test_lists() -> None:
    column = build_column([["a", "b"], None, [], ("c",), np.array(["d"])], listed("String"))
    assert (column.array.to_pylist(), column.bad) == ([["a", "b"], None, [], ["c"], ["d"]], [])
    assert column.array.type == pa.list_(pa.string())


def test_lists_of_days() -> None:
    column = build_column([["2020-01-01"], [DAY, "2020-01-01"]], listed("Date"))
    assert column.array.to_pylist() == [[date(2020, 1, 1)], [date(2020, 1, 1)] * 2]


def test_strict_lists_refuse_items() -> None:
    column = build_column([[1], [2, None], [3, "x", "y"], "abc", [4], {"a": 1}], listed("I32"))
    assert column.array.to_pylist() == [[1], None, None, None, [4], None]
    assert column.bad == [
        (1, "item 2: it is null"),
        (2, 'item 2: "x" is not a whole number'),
        (3, '"abc" is not an array'),
        (5, "an object is not an array"),
    ]
    column.array.validate(full=True)


def test_permissive_lists_hold_null() -> None:
    column = build_column([[1, None, "x"], "abc"], listed("I32"), strict=False)
    assert (column.array.to_pylist(), column.bad) == ([[1, None, None], None], [])


def test_vectors() -> None:
    declared = PropType(S.VECTOR, vector_dim=2)
    column = build_column([[1, 2.5], None, np.array([3.0, 4.0], np.float32), (5, 6)], declared)
    assert (column.array.to_pylist(), column.bad) == ([[1, 2.5], None, [3, 4], [5, 6]], [])
    assert column.array.type == arrow_type(declared)
    column.array.validate(full=True)


@pytest.mark.parametrize("strict", [True, False])
def test_vectors_refuse(strict: bool) -> None:
    declared = PropType(S.VECTOR, vector_dim=2)
    column = build_column(
        [[1], [1, 2, 3], [1, None], [1, 1e39], [1, "x"], [1, 2], [True, 1], []], declared, strict=strict
    )
    assert column.array.to_pylist() == [None, None, None, None, None, [1, 2], None, None]
    assert column.bad == [
        (0, "it takes 2 numbers, not 1"),
        (1, "it takes 2 numbers, not 3"),
        (2, "item 2: it is null"),
        (3, "item 2: 1e+39 does not fit in F32"),
        (4, 'item 2: "x" is not a number'),
        (6, "item 1: true is not a number"),
        (7, "it takes 2 numbers, not 0"),
    ]


def test_a_vector_that_is_no_array() -> None:
    declared = PropType(S.VECTOR, vector_dim=2)
    assert build_column(["x"], declared).bad == [(0, '"x" is not an array')]
    assert build_column(["x"], declared, strict=False).bad == []


# -- blobs ---------------------------------------------------------------------------------------------


def test_blobs(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"from a file")
    values = ["base64:" + base64.b64encode(b"hi").decode(), "base64:", None, "s3://b/k", b"raw", bytearray(b"x"), file]
    columns = build_blob(values)
    assert columns.data.to_pylist() == [b"hi", b"", None, None, b"raw", b"x", b"from a file"]
    assert columns.uri.to_pylist() == [None, None, None, "s3://b/k", None, None, None]
    assert columns.size.to_pylist() == [2, 0, None, None, 3, 1, 11]
    assert (columns.data.type, columns.bad) == (pa.large_binary(), [])


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("base64:a", "not standard base64"),
        ("base64:_-8=", "not standard base64"),
        ("base64:aGk=\n", "not standard base64"),
        ("base64:é", "not standard base64"),
        ("", "an empty text is no URI"),
        ("s3://" + "x" * 70_000, "at most 65536 bytes"),
        ("s3://\ud800", "surrogate"),
        (5, "5 is neither"),
        (Path("no/such/file"), "cannot be read"),
    ],
)
def test_blobs_refuse(value: object, part: str) -> None:
    columns = build_blob([b"x", value])
    assert columns.data.to_pylist() == [b"x", None]
    ((index, reason),) = columns.bad
    assert index == 1
    assert part in reason


def test_permissive_blobs() -> None:
    assert build_blob([5], strict=False).bad == []
    assert build_blob(["base64:a"], strict=False).bad != []
