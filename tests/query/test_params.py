"""JSON in, typed values out, and errors that name the parameter."""

import json
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from omnigraph.model.errors import BadRequest
from omnigraph.query import CheckedRead, decode_params
from tests.query.people import match

GOOD = {
    "String": [("String", '"a"', "a")],
    "I32": [("I32", "-2147483648", -(2**31)), ("I32", '"12"', 12)],
    "I64": [("I64", "9223372036854775807", 2**63 - 1), ("I64", '"-9223372036854775808"', -(2**63))],
    "U32": [("U32", "4294967295", 2**32 - 1), ("U32", '"0"', 0)],
    "U64": [("U64", "9223372036854775807", 2**63 - 1)],
    "F64": [("F64", "1.5", 1.5), ("F64", "3", 3.0)],
    "F32": [("F32", "0.1", 0.10000000149011612)],
    "Bool": [("Bool", "true", True), ("Bool", "false", False)],
    "Date": [("Date", '"2020-02-29"', date(2020, 2, 29))],
    "DateTime": [
        ("DateTime", '"2020-02-29T10:00:00Z"', datetime(2020, 2, 29, 10, tzinfo=UTC)),
        ("DateTime", '"2020-02-29T10:00:00.123456+02:00"', datetime(2020, 2, 29, 8, 0, 0, 123000, tzinfo=UTC)),
        ("DateTime", '"2020-02-29T10:00:00"', datetime(2020, 2, 29, 10, tzinfo=UTC)),
        ("DateTime", '"2020-02-29"', datetime(2020, 2, 29, tzinfo=UTC)),
    ],
    "Blob": [("Blob", '"base64:aGk="', "base64:aGk=")],
    "lists": [("[I32]", '[1, "2"]', (1, 2)), ("[String]", "[]", ()), ("[Date]", '["2020-01-01"]', (date(2020, 1, 1),))],
    "Vector": [("Vector(2)", "[1, 2.5]", (1.0, 2.5))],
    "nullable": [("String?", "null", None), ("[I32]?", "null", None), ("Vector(2)?", "null", None)],
}
BAD = {
    "String from number": ("String", "1", "1 is not a string"),
    "String of half a pair": ("String", '"\\ud800"', "surrogate"),
    "I32 too large": ("I32", "2147483648", "outside -2147483648 to 2147483647"),
    "I32 from a fraction": ("I32", "1.0", "1.0 is not a whole number"),
    "I32 from bool": ("I32", "true", "True is not a whole number"),
    "I32 from words": ("I32", '"one"', "is not a whole number"),
    "I64 from a long text": ("I64", '"' + "9" * 5000 + '"', "is not a whole number"),
    "I64 from a huge number": ("I64", "9" * 4000, "this number is outside"),
    "U32 negative": ("U32", "-1", "outside 0 to"),
    "U64 above the largest": ("U64", "9223372036854775808", "outside 0 to 9223372036854775807"),
    "F64 from text": ("F64", '"1.5"', "is not a number"),
    "F64 from NaN": ("F64", "NaN", "is not a finite number"),
    "F64 too large": ("F64", "1" + "0" * 400, "is not a finite number"),
    "F32 too large": ("F32", "1e39", "does not fit in F32"),
    "Bool from number": ("Bool", "1", "neither true nor false"),
    "Date from number": ("Date", "18000", "is not a string"),
    "Date with a time": ("Date", '"2020-01-01T00:00:00Z"', "write YYYY-MM-DD"),
    "Date as a week": ("Date", '"2020-W01-1"', "is not a day"),
    "no such Date": ("Date", '"2021-02-29"', "is not a day"),
    "DateTime from number": ("DateTime", "0", "is not a string"),
    "no such DateTime": ("DateTime", '"2020-01-01T25:00:00Z"', "write YYYY-MM-DDTHH:MM:SSZ"),
    "DateTime before the first": ("DateTime", '"0001-01-01T00:00:00+10:00"', "is not a time"),
    "list from a value": ("[I32]", "1", "is not an array"),
    "list with a wrong item": ("[I32]", '[1, "a"]', "is not a whole number"),
    "list with null": ("[I32]", "[null]", "cannot be null"),
    "Vector too short": ("Vector(2)", "[1]", "takes 2 numbers, not 1"),
    "Vector of texts": ("Vector(2)", '["a", "b"]', "is not a number"),
    "null": ("String", "null", "cannot be null"),
}


def _query(kind: str) -> CheckedRead:
    return match("", f"$a: {kind}")


@pytest.mark.parametrize(
    ("kind", "given", "value"), [case for cases in GOOD.values() for case in cases], ids=lambda v: str(v)[:30]
)
def test_value(kind: str, given: str, value: object) -> None:
    decoded = decode_params(_query(kind), {"a": json.loads(given)})
    assert decoded == {"a": value}
    assert type(decoded["a"]) is type(value)


@pytest.mark.parametrize(("kind", "given", "said"), BAD.values(), ids=BAD.keys())
def test_wrong_value(kind: str, given: str, said: str) -> None:
    with pytest.raises(BadRequest) as raised:
        decode_params(_query(kind), {"a": json.loads(given)})
    assert f"parameter 'a' is {kind}: " in str(raised.value)
    assert said in str(raised.value)
    assert raised.value.facts["parameter"] == "a"
    assert len(str(raised.value)) < 200


def test_omitted() -> None:
    query = match("$p.name = $a and $p.age > $b", "$a: String?, $b: I64, $unused: I64")
    assert decode_params(query, {"b": 1}) == {"a": None, "b": 1}
    for nothing in ({}, None):
        with pytest.raises(BadRequest, match="parameter 'b' not provided"):
            decode_params(query, nothing)


def test_omitted_because_misspelt() -> None:
    with pytest.raises(BadRequest, match="parameter 'limit_count' not provided; instead there is 'limit_cout'"):
        decode_params(match("$p.age > $limit_count", "$limit_count: I64"), {"limit_cout": 1})


def test_undeclared_keys_are_kept() -> None:
    given = {"a": 1, "b": [1.5, "x"], "c": None, "d": True}
    assert decode_params(match(""), given) == {"a": 1, "b": (1.5, "x"), "c": None, "d": True}
    with pytest.raises(BadRequest, match="parameter 'e': an object is no value"):
        decode_params(match(""), {"e": {}})


@pytest.mark.parametrize("given", [[], "a", 1, False])
def test_parameters_are_an_object(given: object) -> None:
    with pytest.raises(BadRequest, match="JSON object"):
        decode_params(match(""), given)


@pytest.mark.parametrize(
    ("kind", "given", "wanted"),
    [
        ("Date", date(2020, 1, 2), date(2020, 1, 2)),
        ("DateTime", datetime(2020, 1, 2, 3, tzinfo=timezone(timedelta(hours=1))), datetime(2020, 1, 2, 2, tzinfo=UTC)),
        (
            "DateTime",
            datetime(2020, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
            datetime(2020, 1, 2, 3, 4, 5, 678000, tzinfo=UTC),
        ),
        ("[I32]", (1, 2), (1, 2)),
        ("Vector(2)", np.array([1, 0.5], np.float32), (1.0, 0.5)),
        ("[Date]", [date(2020, 1, 2)], (date(2020, 1, 2),)),
    ],
)
def test_values_of_python(kind: str, given: object, wanted: object) -> None:
    query = match("$p.name = $p.name", f"$x: {kind}")
    assert decode_params(query, {"x": given})["x"] == wanted


def test_a_time_is_no_day() -> None:
    with pytest.raises(BadRequest, match="is not a string"):
        decode_params(match("$p.born = $x", "$x: Date"), {"x": datetime(2020, 1, 2, tzinfo=UTC)})
