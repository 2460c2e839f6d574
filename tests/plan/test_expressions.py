"""Operators and functions, one line per rule: an expression, a row, and what it gives."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from omnigraph.execute.rows import compute, type_of
from omnigraph.model.errors import BadRequest, ResourceLimit
from omnigraph.plan import Dialect, Scope, lower, render
from omnigraph.query.functions import FUNCTIONS
from tests.plan.rows import INF, NAN, NOW, evaluate, expression, rows, single

BIG, LEAST = 2**63 - 1, -(2**63)


def at(*parts: int) -> datetime:
    *time, ms = parts if len(parts) == 7 else (*parts, 0)
    return datetime(*time, ms * 1000, tzinfo=UTC)


OPERATORS: list[tuple[str, dict[str, Any], Any]] = [
    # -- comparisons
    ("i32 = 3", {"i32": 3}, True),
    ("i32 != 3", {"i32": None}, None),
    ("i32 < i64", {"i32": -1, "i64": 2**40}, True),
    ("u64 > i64", {"u64": 2**64 - 1, "i64": -1}, True),
    ("u64 = i64", {"u64": 2**64 - 1, "i64": -1}, False),
    ("u64 = 18446744073709551615", {"u64": 2**64 - 1}, True),
    ("u64 < 18446744073709551615", {"u64": 5}, True),
    ("u32 >= u64", {"u32": 7, "u64": 7}, True),
    ("u64 > f64", {"u64": 2**64 - 1, "f64": -1.5}, True),
    ("i64 = 9007199254740993", {"i64": 2**53 + 1}, True),
    ("i64 = 9007199254740993", {"i64": 2**53}, False),
    ("f32 = f64", {"f32": 0.1, "f64": 0.1}, False),
    ("f32 = f64", {"f32": 0.5, "f64": 0.5}, True),
    ("f32 = f32", {"f32": 0.1}, True),
    ("f64 = f64", {"f64": NAN}, True),
    ("f64 > 1.0", {"f64": NAN}, True),
    ("f64 < f32", {"f64": INF, "f32": NAN}, True),
    ("f64 != 1", {"f64": NAN}, True),
    ("f64 = 0", {"f64": -0.0}, True),
    ("f64 in [0.0, 1.0]", {"f64": -0.0}, True),
    ("text < word", {"text": "a", "word": "B"}, False),
    ("text < word", {"text": "z", "word": "é"}, True),
    ("text > word", {"text": "\U0001f600", "word": "\uffff"}, True),
    ("text < word", {"text": "ab", "word": "abc"}, True),
    ("text = word", {"text": "é", "word": "e\u0301"}, False),
    ("text = word", {"text": "a", "word": "A"}, False),
    ('text = "it\'s \\\\ \\" %"', {"text": "it's \\ \" %"}, True),
    ("flag < true", {"flag": False}, True),
    ('role = "admin"', {"role": "admin"}, True),
    ('day < date("2024-01-02")', {"day": date(2024, 1, 1)}, True),
    ('moment = datetime("2024-01-01T02:00:00.5+02:00")', {"moment": at(2024, 1, 1, 0, 0, 0, 500)}, True),
    ("moment < now()", {"moment": datetime(2024, 5, 6, 7, 8, 9, 122000, tzinfo=UTC)}, True),
    ("moment = now()", {"moment": datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)}, True),
    # -- text
    ('text contains "%"', {"text": "abc"}, False),
    ('text contains "%"', {"text": "a%c"}, True),
    ('text contains "_"', {"text": "abc"}, False),
    ('text starts_with "a_"', {"text": "abc"}, False),
    ('text starts_with "a_"', {"text": "a_c"}, True),
    ('text ends_with "C"', {"text": "abc"}, False),
    ('text ends_with "c"', {"text": "abc"}, True),
    ('text contains ""', {"text": ""}, True),
    ("text contains word", {"text": "abc"}, None),
    ('text ends_with "\\\\"', {"text": "a\\"}, True),
    # -- membership
    ("i32 in [1, 2]", {"i32": 2}, True),
    ("i32 in [1, 2]", {"i32": 3}, False),
    ("i32 not in [1, 2]", {"i32": 3}, True),
    ("i32 in [1, 2]", {}, None),
    ("i32 not in [1, 2]", {}, None),
    ("i32 in [1, i64]", {"i32": 1}, True),
    ("i32 in [1, i64]", {"i32": 2}, None),
    ("i32 not in [1, i64]", {"i32": 2}, None),
    ("i32 not in [1, i64]", {"i32": 1}, False),
    ("i32 in [i32, 5000000000]", {"i32": 1}, True),
    ("u64 in [1, 18446744073709551615]", {"u64": 2**64 - 1}, True),
    ("i32 in [1.5, 2]", {"i32": 2}, True),
    ("text in []", {"text": "a"}, False),
    ("i32 not in []", {"i32": 1}, True),
    ("i32 in []", {}, None),
    ("i32 in whole", {"i32": 2, "whole": [1, 2]}, True),
    ("u64 in small", {"u64": 2**63, "small": [-1]}, False),
    ("i64 in small", {"i64": 2**40, "small": [1]}, False),
    ("i64 in floats", {"i64": 2, "floats": [2.0]}, True),
    ("f32 in floats", {"f32": 0.5, "floats": [NAN, 0.5]}, True),
    ("f64 in floats", {"f64": NAN, "floats": [1.0, NAN]}, True),
    ("whole contains 2", {"whole": [1, 2]}, True),
    ("whole contains 2", {"whole": []}, False),
    ("whole contains 2", {}, None),
    ("whole contains i64", {"whole": [1]}, None),
    ('texts contains "a"', {"texts": ["A", "a"]}, True),
    ('texts contains "%"', {"texts": ["A"]}, False),
    ('days contains date("2024-01-01")', {"days": [date(2024, 1, 1)]}, True),
    # -- null and logic
    ("text is null", {}, True),
    ("text is not null", {}, False),
    ("vector is null", {"vector": [1.0, 2.0]}, False),
    ("texts is null", {"texts": []}, False),
    ("(i32 > 1) is null", {}, True),
    ("null is null", {}, True),
    ("flag and i32 = 1", {"flag": False}, False),
    ("flag and i32 = 1", {"flag": True}, None),
    ("flag or i32 = 1", {"flag": True}, True),
    ("flag or i32 = 1", {"flag": False}, None),
    ("flag or i32 = 1 and i64 = 1", {"flag": False, "i32": 1, "i64": 1}, True),
    ("(flag or i32 = 1) and i64 = 2", {"flag": True, "i32": 1, "i64": 1}, False),
    ("not flag", {}, None),
    ("not (flag or not flag)", {"flag": True}, False),
    ("not flag and flag", {"flag": True}, False),
    # -- arithmetic
    ("i32 + i32", {"i32": 2**31 - 1}, 2**32 - 2),
    ("u32 - 1", {"u32": 0}, -1),
    ("u64 - 1", {"u64": 0}, -1),
    ("i64 * 2 + 1", {"i64": 3}, 7),
    ("i64 - 2 - 3", {"i64": 10}, 5),
    ("i64 - (2 - 3)", {"i64": 10}, 11),
    ("(i64 + 1) * 2", {"i64": 3}, 8),
    ("i64 / 2", {"i64": 7}, 3.5),
    ("i64 / 2 * 2", {"i64": 7}, 7.0),
    ("i64 / 0", {"i64": 7}, None),
    ("f64 / 0.0", {"f64": 0.0}, None),
    ("f64 / f32", {"f64": 1.0, "f32": -0.0}, None),
    ("i64 % 3", {"i64": -7}, -1),
    ("i64 % -3", {"i64": 7}, 1),
    ("i64 % 0", {"i64": 7}, None),
    ("i64 % i32", {"i64": LEAST, "i32": -1}, 0),
    ("i64 % (i32 - 1)", {"i64": LEAST, "i32": 0}, 0),
    ("f64 % 2", {"f64": -5.5}, -1.5),
    ("f64 % 0", {"f64": 1.0}, None),
    ("f32 + 1", {"f32": 0.1}, single(0.1) + 1),
    ("f32 * f32", {"f32": 3e38}, single(3e38) ** 2),
    ("f64 * 10.0", {"f64": 1e308}, INF),
    ("i64 + f64", {"i64": 1}, None),
    ("-i32", {"i32": -(2**31)}, 2**31),
    ("-u32", {"u32": 5}, -5),
    ("-f32", {"f32": 0.5}, -0.5),
    ("-9223372036854775808", {}, LEAST),
    ("i64 - -1", {"i64": 1}, 2),
    ("-(i64 + 1)", {"i64": 1}, -2),
    ("9223372036854775807", {}, BIG),
    ("1.5", {}, 1.5),
    ('"a"', {}, "a"),
    ("[i32, 5]", {"i32": 3}, [3, 5]),
    ("[i64, 1.5]", {"i64": 3}, [3.0, 1.5]),
    ("[text, word]", {"text": "a"}, ["a", None]),
    ("[1, 2.5]", {}, [1.0, 2.5]),
    ("userName", {"userName": "x", "username": "y"}, "x"),
    ("concat(userName, username)", {"userName": "x", "username": "y"}, "xy"),
]

FUNCTION_CASES: list[tuple[str, dict[str, Any], Any]] = [
    ("lower(text)", {"text": "ÀÉ Ω"}, "àé ω"),
    ("upper(text)", {"text": "àé ω😀"}, "ÀÉ Ω😀"),
    ("lower(text)", {}, None),
    ("lower(null)", {}, None),
    ("upper(null)", {}, None),
    ("trim(text)", {"text": "\u2003\t a\u00a0b\r\n\u3000 "}, "a\u00a0b"),
    ("trim(text)", {"text": " \n"}, ""),
    ("length(text)", {"text": "aé😀"}, 3),
    ("length(text)", {"text": "e\u0301"}, 2),
    ("length(texts)", {"texts": ["a", "b"]}, 2),
    ("length(texts)", {"texts": []}, 0),
    ("length(texts)", {}, None),
    ("length(null)", {}, None),
    ("substring(text, 2)", {"text": "héllo"}, "éllo"),
    ("substring(text, 2, 3)", {"text": "héllo"}, "éll"),
    ("substring(text, 0, 2)", {"text": "hello"}, "h"),
    ("substring(text, -2, 5)", {"text": "hello"}, "he"),
    ("substring(text, -2)", {"text": "hello"}, "hello"),
    ("substring(text, 9)", {"text": "hello"}, ""),
    ("substring(text, 2, -1)", {"text": "hello"}, ""),
    ("substring(text, 2, 0)", {"text": "hello"}, ""),
    ("substring(text, 2, 9223372036854775807)", {"text": "hello"}, "ello"),
    ("substring(text, i64, i64)", {"text": "hello", "i64": LEAST}, ""),
    ("substring(text, i64, u64)", {"text": "hello", "i64": 4, "u64": 5}, "lo"),
    ("substring(text, u64, u64)", {"text": "hello", "u64": 2**64 - 1}, ""),
    ("substring(text, 4, u64)", {"text": "hello", "u64": 2**64 - 1}, "lo"),
    ("substring(text, i64)", {"text": "hello"}, None),
    ("substring(text, 1, i64)", {"text": "hello"}, None),
    ("substring(text, i32 + 1, length(text) - 2)", {"text": "hello", "i32": 1}, "ell"),
    ('replace(text, "l", "LL")', {"text": "hello"}, "heLLLLo"),
    ('replace(text, "", "x")', {"text": "hello"}, "hello"),
    ('replace(text, ".", "")', {"text": "a.b."}, "ab"),
    ("replace(text, word, word)", {"text": "a"}, None),
    ("concat(text)", {"text": "a"}, "a"),
    ('concat(text, "-", i32, flag)', {"text": "a", "i32": -1, "flag": True}, "a--1true"),
    ("concat(text, i32)", {"text": "a"}, None),
    ('split(text, ",")', {"text": "a,b,,c"}, ["a", "b", "", "c"]),
    ('split(text, ".")', {"text": "a.b"}, ["a", "b"]),
    ('split(text, "")', {"text": "abc"}, ["abc"]),
    ('split(text, ",")', {"text": ""}, [""]),
    ("split(text, word)", {"text": "a"}, None),
    ("split(text, word)", {"word": "a"}, None),
    ("split(text, word)", {"word": ""}, None),
    ("length(split(trim(text), lower(word)))", {"text": " axbxc ", "word": "X"}, 3),
    # -- numbers
    ("abs(i32)", {"i32": -5}, 5),
    ("abs(u64)", {"u64": 2**64 - 1}, 2**64 - 1),
    ("abs(f32)", {"f32": -0.5}, 0.5),
    ("abs(f64)", {"f64": -INF}, INF),
    ("abs(null)", {}, None),
    ("round(f64)", {"f64": 2.5}, 3.0),
    ("round(f64)", {"f64": -2.5}, -3.0),
    ("round(f64)", {"f64": 0.49999999999999994}, 0.0),
    ("round(f64, 2)", {"f64": 2.345}, 2.35),
    ("round(f64, 1)", {"f64": -0.25}, -0.3),
    ("round(f64, 2)", {"f64": 1e300}, 1e300),
    ("round(f64, 400)", {"f64": 1.5}, 1.5),
    ("round(f64, 400)", {"f64": 0.0}, 0.0),
    ("round(f64, -400)", {"f64": 1.5}, 0.0),
    ("round(i64, -2)", {"i64": 12350}, 12400.0),
    ("round(f64, i32)", {"f64": 1.25, "i32": 1}, 1.3),
    ("round(f64, i32)", {"f64": 1.25}, None),
    ("round(f64, u64)", {"f64": 1.25, "u64": 2**64 - 1}, 1.25),
    ("round(f64 + 1, i32 * 1)", {"f64": 0.25, "i32": 1}, 1.3),
    ("round(f64, 2)", {"f64": INF}, INF),
    ("round(null, 2)", {}, None),
    ("floor(f64)", {"f64": -0.5}, -1.0),
    ("floor(f64)", {"f64": 1e300}, 1e300),
    ("floor(f64)", {"f64": -INF}, -INF),
    ("floor(i32)", {"i32": 3}, 3.0),
    ("ceil(f64)", {"f64": 0.2}, 1.0),
    ("ceil(f32 + 1)", {"f32": 0.5}, 2.0),
    ("sqrt(f64)", {"f64": 9.0}, 3.0),
    ("sqrt(i32)", {"i32": -1}, None),
    ("sqrt(f64)", {"f64": -0.0}, 0.0),
    ("power(i32, -1)", {"i32": 2}, 0.5),
    ("power(f64, 2)", {"f64": 1e200}, INF),
    ("power(f64, null)", {"f64": 1.0}, None),
    ('coalesce(text, word, "z")', {"word": "w"}, "w"),
    ("coalesce(i32, i64)", {"i64": 2**40}, 2**40),
    ("coalesce(i32, f64, 1)", {"i32": 3}, 3.0),
    ("coalesce(null, f32)", {"f32": 0.5}, 0.5),
    ("coalesce(null, null)", {}, None),
    ("coalesce(u64, u64)", {"u64": 2**64 - 1}, 2**64 - 1),
    # -- parts of times
    ("year(day)", {"day": date(1969, 12, 31)}, 1969),
    ("year(moment)", {"moment": at(1969, 12, 31, 23, 59, 59, 999)}, 1969),
    ("month(moment)", {"moment": at(2024, 2, 29, 23, 59, 59, 999)}, 2),
    ("day(moment)", {"moment": at(2024, 2, 29, 23, 59, 59, 999)}, 29),
    ("hour(moment)", {"moment": at(1969, 12, 31, 23, 59, 58, 999)}, 23),
    ("minute(moment)", {"moment": at(1969, 12, 31, 23, 59, 58, 999)}, 59),
    ("second(moment)", {"moment": at(1969, 12, 31, 23, 59, 58, 999)}, 58),
    ("year(null)", {}, None),
    ("hour(null)", {}, None),
    ("year(day)", {"day": date(1, 1, 1)}, 1),
    ("year(moment)", {"moment": at(9999, 12, 31, 23, 59, 59, 999)}, 9999),
    # -- date_trunc
    ('date_trunc("year", day)', {"day": date(2024, 5, 6)}, date(2024, 1, 1)),
    ('date_trunc("quarter", day)', {"day": date(2024, 5, 6)}, date(2024, 4, 1)),
    ('date_trunc("month", moment)', {"moment": at(2024, 5, 6, 7, 8, 9)}, at(2024, 5, 1, 0, 0, 0)),
    ('date_trunc("week", day)', {"day": date(2024, 1, 7)}, date(2024, 1, 1)),
    ('date_trunc("week", day)', {"day": date(1969, 12, 28)}, date(1969, 12, 22)),
    ('date_trunc("week", moment)', {"moment": at(2024, 1, 8, 1, 0, 0)}, at(2024, 1, 8, 0, 0, 0)),
    ('date_trunc("day", moment)', {"moment": at(1969, 12, 31, 23, 0, 0, 1)}, at(1969, 12, 31, 0, 0, 0)),
    ('date_trunc("hour", moment)', {"moment": at(1969, 12, 31, 23, 1, 2, 3)}, at(1969, 12, 31, 23, 0, 0)),
    ('date_trunc("second", moment)', {"moment": at(2024, 1, 1, 1, 1, 1, 999)}, at(2024, 1, 1, 1, 1, 1)),
    ('date_trunc("hour", day)', {"day": date(2024, 5, 6)}, date(2024, 5, 6)),
    ('date_trunc("day", null)', {}, None),
    # -- date_diff
    ('date_diff("week", day, date("2024-01-08"))', {"day": date(2024, 1, 6)}, 1),
    ('date_diff("week", day, date("2024-01-07"))', {"day": date(2024, 1, 1)}, 0),
    ('date_diff("month", day, date("2024-02-01"))', {"day": date(2024, 1, 31)}, 1),
    ('date_diff("year", day, date("2023-12-31"))', {"day": date(2024, 1, 1)}, -1),
    ('date_diff("quarter", day, date("2024-04-01"))', {"day": date(2023, 12, 31)}, 2),
    ('date_diff("day", moment, day)', {"moment": at(2024, 1, 1, 23, 59, 59), "day": date(2024, 1, 2)}, 1),
    ('date_diff("hour", day, moment)', {"day": date(2024, 1, 1), "moment": at(2024, 1, 1, 2, 59, 0)}, 2),
    ('date_diff("minute", moment, now())', {"moment": at(2024, 5, 6, 7, 7, 59)}, 1),
    ('date_diff("second", moment, moment)', {}, None),
    ('date_diff("day", null, day)', {"day": date(2024, 1, 2)}, None),
    # -- date_add
    ('date_add("day", 1, day)', {"day": date(2024, 2, 28)}, date(2024, 2, 29)),
    ('date_add("week", -1, day)', {"day": date(1970, 1, 1)}, date(1969, 12, 25)),
    ('date_add("month", 1, day)', {"day": date(2024, 1, 31)}, date(2024, 2, 29)),
    ('date_add("quarter", -1, day)', {"day": date(2024, 5, 31)}, date(2024, 2, 29)),
    ('date_add("year", 1, day)', {"day": date(2024, 2, 29)}, date(2025, 2, 28)),
    ('date_add("hour", 25, day)', {"day": date(2024, 1, 1)}, date(2024, 1, 2)),
    ('date_add("hour", -1, day)', {"day": date(2024, 1, 1)}, date(2023, 12, 31)),
    ('date_add("hour", i32, moment)', {"i32": 3, "moment": at(2024, 1, 1, 22, 0, 0, 5)}, at(2024, 1, 2, 1, 0, 0, 5)),
    ('date_add("month", 1, moment)', {"moment": at(2024, 1, 31, 22, 0, 0, 5)}, at(2024, 2, 29, 22, 0, 0, 5)),
    ('date_add("month", -1, moment)', {"moment": at(1969, 3, 31, 22, 0, 0, 5)}, at(1969, 2, 28, 22, 0, 0, 5)),
    (
        'date_add("month", i32, date_add("month", i32, moment))',
        {"i32": 1, "moment": at(2024, 1, 31, 1, 0, 0)},
        at(2024, 3, 29, 1, 0, 0),
    ),
    ('date_add("day", i64, day)', {"day": date(2024, 1, 1)}, None),
    ('date_add("month", 1, null)', {}, None),
    # -- dates from values
    ("date(moment)", {"moment": at(1969, 12, 31, 23, 59, 59, 999)}, date(1969, 12, 31)),
    ("date(text)", {"text": "2024-02-29"}, date(2024, 2, 29)),
    ("date(text)", {"text": "2024-02-30"}, None),
    ("date(text)", {"text": "2024-2-3"}, None),
    ("date(text)", {"text": " 2024-02-03"}, None),
    ("date(text)", {"text": "2024-02-03\n"}, None),
    ("date(text)", {"text": "2024-02-03T00:00:00Z"}, None),
    ("date(text)", {"text": "0000-01-01"}, None),
    ("date(text)", {"text": "0001-01-01"}, date(1, 1, 1)),
    ("date(text)", {}, None),
    ("date(null)", {}, None),
    ("datetime(day)", {"day": date(2024, 2, 29)}, at(2024, 2, 29, 0, 0, 0)),
    ("datetime(text)", {"text": "2024-02-29"}, at(2024, 2, 29, 0, 0, 0)),
    ("datetime(text)", {"text": "2024-02-29T10:11"}, at(2024, 2, 29, 10, 11, 0)),
    ("datetime(text)", {"text": "2024-02-29 10:11:12Z"}, at(2024, 2, 29, 10, 11, 12)),
    ("datetime(text)", {"text": "2024-02-29T10:11:12.5+0230"}, at(2024, 2, 29, 7, 41, 12, 500)),
    ("datetime(text)", {"text": "2024-02-29T10:11:12.123999-02:30"}, at(2024, 2, 29, 12, 41, 12, 123)),
    ("datetime(text)", {"text": "1969-12-31T23:59:59.999999999Z"}, at(1969, 12, 31, 23, 59, 59, 999)),
    ("datetime(text)", {"text": "2024-02-29T24:00:00Z"}, None),
    ("datetime(text)", {"text": "2024-02-30T10:00:00Z"}, None),
    ("datetime(text)", {"text": "2024-02-29T10:60:00Z"}, None),
    ("datetime(text)", {"text": "2024-02-29T10:00:00+25:00"}, None),
    ("datetime(text)", {"text": "0001-01-01T00:00:00+10:00"}, None),
    ("datetime(text)", {"text": "9999-12-31T23:59:59-00:01"}, None),
    ("datetime(text)", {"text": "today"}, None),
    ("datetime(lower(text))", {"text": "2024-02-29"}, at(2024, 2, 29, 0, 0, 0)),
    ("datetime(null)", {}, None),
    # -- to_string
    ("to_string(text)", {"text": "a"}, "a"),
    ("to_string(flag)", {"flag": False}, "false"),
    ("to_string(i64)", {"i64": LEAST}, str(LEAST)),
    ("to_string(u64)", {"u64": 2**64 - 1}, str(2**64 - 1)),
    ("to_string(f64)", {"f64": 1.0}, "1"),
    ("to_string(f64)", {"f64": -0.0}, "0"),
    ("to_string(f64)", {"f64": 0.1}, "0.1"),
    ("to_string(f32)", {"f32": 0.1}, "0.1"),
    ("to_string(f64)", {"f64": -12345.678}, "-12345.678"),
    ("to_string(f64)", {"f64": 1e20}, "1" + "0" * 20),
    ("to_string(f64)", {"f64": -1.5e-7}, "-0.00000015"),
    ("to_string(f64)", {"f64": 5e-324}, "0." + "0" * 323 + "5"),
    ("to_string(f64)", {"f64": 1.7976931348623157e308}, "17976931348623157" + "0" * 292),
    ("to_string(f64)", {"f64": 123456789012345678.0}, "123456789012345680"),
    ("to_string(f64)", {"f64": NAN}, "NaN"),
    ("to_string(f64)", {"f64": -INF}, "-Infinity"),
    ("to_string(f64 * 2)", {"f64": 0.75}, "1.5"),
    ("to_string(day)", {"day": date(24, 1, 2)}, "0024-01-02"),
    ("to_string(moment)", {"moment": at(2024, 1, 2, 3, 4, 5, 6)}, "2024-01-02T03:04:05.006Z"),
    ("to_string(moment)", {"moment": at(1969, 12, 31, 23, 59, 59, 999)}, "1969-12-31T23:59:59.999Z"),
    ("to_string(now())", {}, "2024-05-06T07:08:09.123Z"),
    ("to_string(f64)", {}, None),
    ("to_string(null)", {}, None),
    # -- to_int, to_float
    ("to_int(text)", {"text": "-007"}, -7),
    ("to_int(text)", {"text": "+5"}, 5),
    ("to_int(text)", {"text": "12.0"}, None),
    ("to_int(text)", {"text": " 12"}, None),
    ("to_int(text)", {"text": "1e3"}, None),
    ("to_int(text)", {"text": "1_000"}, None),
    ("to_int(text)", {"text": ""}, None),
    ("to_int(text)", {"text": "9223372036854775808"}, None),
    ("to_int(text)", {"text": "12\n"}, None),
    ("to_int(f64)", {"f64": 3.0}, 3),
    ("to_int(f64)", {"f64": 2.5}, None),
    ("to_int(f64)", {"f64": NAN}, None),
    ("to_int(f64)", {"f64": 2.0**63}, None),
    ("to_int(f64)", {"f64": -(2.0**63)}, LEAST),
    ("to_int(f32)", {"f32": 16777216.0}, 16777216),
    ("to_int(u64)", {"u64": 2**64 - 1}, None),
    ("to_int(i32)", {"i32": 3}, 3),
    ("to_int(flag)", {"flag": True}, 1),
    ("to_int(day)", {"day": date(1969, 12, 31)}, -1),
    ("to_int(moment)", {"moment": at(1969, 12, 31, 23, 59, 59, 999)}, -1),
    ("to_int(null)", {}, None),
    ("to_float(text)", {"text": "-1.5e3"}, -1500.0),
    ("to_float(text)", {"text": "7"}, 7.0),
    ("to_float(text)", {"text": "1e400"}, None),
    ("to_float(text)", {"text": "nan"}, None),
    ("to_float(text)", {"text": "inf"}, None),
    ("to_float(text)", {"text": ".5"}, None),
    ("to_float(text)", {"text": "1_0"}, None),
    ("to_float(f32)", {"f32": 0.1}, single(0.1)),
    ("to_float(u64)", {"u64": 2**64 - 1}, 2.0**64),
    ("to_float(flag)", {"flag": False}, 0.0),
    ("to_float(day)", {"day": date(1970, 1, 3)}, 2.0),
    ("to_float(null)", {}, None),
]
CASES = [*OPERATORS, *FUNCTION_CASES]


@pytest.mark.parametrize(("text", "row", "wanted"), CASES, ids=lambda value: str(value)[:60])
def test_value(text: str, row: dict[str, Any], wanted: Any) -> None:
    node = expression(text)
    found = compute(rows(row), {"value": node}, {}, NOW)
    assert found.schema.field("value").type == type_of(node)
    value = found.column("value")[0].as_py()
    assert value == wanted
    assert type(value) is type(wanted)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("i64 + 1", {"i64": BIG}),
        ("i64 * i64", {"i64": 2**40}),
        ("-i64", {"i64": LEAST}),
        ("u64 + 1", {"u64": 2**64 - 1}),
        ("abs(i32)", {"i32": -(2**31)}),
        ("abs(i64)", {"i64": LEAST}),
        ("[i32, 5000000000]", {}),
        ('date_add("month", 9223372036854775807, day)', {"day": date(2024, 1, 1)}),
        ('date_add("day", 99999999999, day)', {"day": date(2024, 1, 1)}),
        ('date_add("hour", 9223372036854775807, moment)', {"moment": at(2024, 1, 1, 0, 0, 0)}),
    ],
)
def test_overflow_is_an_error(text: str, row: dict[str, Any]) -> None:
    with pytest.raises(BadRequest, match="cannot be evaluated"):
        evaluate(text, row)


def test_nan_stays_nan() -> None:
    for text in ("f64 + 1", "f64 % 2", "floor(f64)", "round(f64, 2)", "sqrt(f64)", "power(f64, 2)", "f64 / 2"):
        found = evaluate(text, {"f64": NAN})
        assert found != found


def test_simple_case_mapping() -> None:
    assert evaluate("lower(text)", {"text": "İΣ"}) == "iσ"
    assert evaluate("upper(text)", {"text": "ŉ"}) == "ŉ"


def test_every_function_has_cases() -> None:
    used = " ".join(text for text, _, _ in FUNCTION_CASES)
    assert not [name for name in FUNCTIONS if f"{name}(" not in used and name not in ("nodes", "edges")]


@pytest.mark.parametrize("text", dict.fromkeys(text for text, _, _ in CASES))
def test_renders_for_spark(text: str, caplog: pytest.LogCaptureFixture) -> None:
    found = render(lower(expression(text), Scope()), Dialect.SPARK)
    assert found
    assert "UBIGINT" not in found
    assert not caplog.records


def test_nesting_does_not_multiply() -> None:
    nested = "f64"
    for _ in range(12):
        nested = f"to_float(to_string({nested}))"
    assert evaluate(nested, {"f64": 1.5}) == 1.5


def test_what_multiplies_is_refused() -> None:
    nested = "i64"
    for _ in range(18):
        nested = f"length(substring(text, {nested}, 1))"
    with pytest.raises(ResourceLimit, match="parts of one expression"):
        evaluate(nested, {"text": "a"})


def test_spark_quotes_separators() -> None:
    found = render(lower(expression("split(text, word)"), Scope()), Dialect.SPARK)
    assert r"SPLIT(`text`, CONCAT('\\Q', REPLACE(`word`, '\\E', '\\E\\\\E\\Q'), '\\E'))" in found


def test_names_of_ours_do_not_catch_columns() -> None:
    inner = 'year(date_add("month", 1, moment)) - 2024'
    assert evaluate(
        f'date_add("month", {inner}, date_add("day", 1, moment))', {"moment": at(2025, 1, 1, 5, 0, 0)}
    ) == at(2025, 2, 2, 5, 0, 0)
