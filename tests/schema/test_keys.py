"""Ids from keys."""

import re
from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnigraph.model.types import PropType, ScalarType
from omnigraph.schema import compile_schema, table_schema
from omnigraph.schema.keys import InvalidKey, canonical_id, canonical_text, derive_id, derive_ids


@pytest.mark.parametrize(
    ("scalar", "value", "text"),
    [
        ("String", "a b", "a b"),
        ("String", "", ""),
        ("I32", -7, "-7"),
        ("U64", 2**64 - 1, "18446744073709551615"),
        ("Bool", True, "true"),
        ("Date", date(1970, 1, 2), "1"),
        ("Date", date(1969, 12, 31), "-1"),
        ("Date", 5, "5"),
        ("DateTime", datetime(1970, 1, 1, 0, 0, 1, 500_999, tzinfo=UTC), "1500"),
        ("DateTime", 1500, "1500"),
        ("F64", 1.0, "1"),
        ("F64", -0.0, "0"),
        ("F64", 1e21, "1" + "0" * 21),
        ("F64", 1e-7, "0.0000001"),
        ("F64", 0.1, "0.1"),
        ("F32", 0.1, "0.1"),
        ("F32", 16777216.0, "16777216"),
        ("F32", -2.5, "-2.5"),
    ],
)
def test_canonical_text(scalar: str, value: object, text: str) -> None:
    assert canonical_text(value, PropType(ScalarType(scalar))) == text


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("F64", float("nan")),
        ("F64", float("inf")),
        ("F32", 1e39),
        ("I32", 2**31),
        ("I32", True),
        ("I32", 1.0),
        ("U32", -1),
        ("String", 1),
        ("String", None),
        ("Bool", "true"),
        ("Date", datetime(1970, 1, 1, tzinfo=UTC)),
        ("Blob", b"x"),
        ("Vector", [1.0]),
    ],
)
def test_values_without_an_id(scalar: str, value: object) -> None:
    with pytest.raises(InvalidKey):
        canonical_text(value, PropType(ScalarType(scalar)))


def test_one_member_is_the_id_several_are_a_json_array() -> None:
    catalog = compile_schema("node A { x: I32 @key } node B { n: I32 s: String @key(s, n) } node C {}")
    assert derive_id(catalog.node_types["A"], {"x": 7}) == "7"
    assert derive_id(catalog.node_types["B"], {"s": 'ä"', "n": 7}) == '["7","ä\\""]'
    assert derive_id(catalog.node_types["C"], {}) is None


def test_columns_and_rows_agree() -> None:
    types = ["String", "I32", "I64", "U32", "U64", "F32", "F64", "Bool", "Date", "DateTime"]
    members = " ".join(f"p{i}: {t}" for i, t in enumerate(types))
    names = ", ".join(f"p{i}" for i in range(len(types)))
    node = compile_schema(f"node A {{ {members} @key({names}) }}").node_types["A"]
    row: dict[str, object] = dict(
        zip(
            (f"p{i}" for i in range(len(types))),
            (
                "a",
                -1,
                -(2**63),
                7,
                2**64 - 1,
                0.1,
                1e21,
                False,
                date(1, 1, 1),
                datetime(9999, 1, 1, tzinfo=UTC),
            ),
            strict=True,
        )
    )
    rows = pa.Table.from_pylist([{"id": "", **row}], schema=table_schema(node))
    ids = derive_ids(node, rows)
    assert ids is not None
    assert ids.to_pylist() == [derive_id(node, row)]


def test_null_members_are_refused_in_columns() -> None:
    node = compile_schema("node A { x: I32 @key }").node_types["A"]
    with pytest.raises(InvalidKey, match=r"A\.x"):
        derive_ids(node, pa.table({"x": pa.array([1, None], pa.int32())}))


@pytest.mark.parametrize(
    ("declared", "supplied", "canonical"),
    [
        ("I32", "007", "7"),
        ("I32", "x", None),
        ("I32", "99999999999", None),
        ("F64", "1.50", "1.5"),
        ("F64", "inf", None),
        ("Date", "1970-01-03", "2"),
        ("Date", "-2", "-2"),
        ("DateTime", "1970-01-01T00:00:01Z", "1000"),
        ("Bool", "true", "true"),
        ("Bool", "yes", None),
        ("String", "a", "a"),
    ],
)
def test_other_spellings_of_an_id(declared: str, supplied: str, canonical: str | None) -> None:
    node = compile_schema(f"node A {{ x: {declared} @key }}").node_types["A"]
    assert canonical_id(node, supplied) == canonical


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=300, deadline=None)
def test_floats_are_the_shortest_decimal_that_reads_back(value: float) -> None:
    text = canonical_text(value, PropType(ScalarType.F64))
    assert float(text) == value
    assert re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?", text)
    assert len(text.replace("-", "").replace(".", "").strip("0")) <= 17


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
@settings(max_examples=300, deadline=None)
def test_floats_of_32_bits_are_rendered_at_their_width(value: float) -> None:
    text = canonical_text(value, PropType(ScalarType.F32))
    assert np.float32(text) == np.float32(value)
    assert len(text.replace("-", "").replace(".", "").strip("0")) <= 9


@given(st.data(), st.sampled_from(["String", "Bool", "I32", "I64", "U32", "U64", "F32", "F64", "Date", "DateTime"]))
@settings(max_examples=200, deadline=None)
def test_columns_and_values_agree_whatever_the_type(data: st.DataObject, scalar: str) -> None:
    values = {
        "String": st.text(st.characters(exclude_categories=["Cs"])),
        "Bool": st.booleans(),
        "I32": st.integers(-(2**31), 2**31 - 1),
        "I64": st.integers(-(2**63), 2**63 - 1),
        "U32": st.integers(0, 2**32 - 1),
        "U64": st.integers(0, 2**64 - 1),
        "F32": st.floats(allow_nan=False, allow_infinity=False, width=32),
        "F64": st.floats(allow_nan=False, allow_infinity=False),
        "Date": st.dates(),
        "DateTime": st.datetimes(timezones=st.just(UTC)).map(
            lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000)
        ),
    }[scalar]
    node = compile_schema(f"node A {{ a: {scalar} b: {scalar} @key(a, b) }}").node_types["A"]
    row = {"id": "", "a": data.draw(values), "b": data.draw(values)}
    ids = derive_ids(node, pa.Table.from_pylist([row], schema=table_schema(node)))
    assert ids is not None
    assert ids.to_pylist() == [derive_id(node, row)]
