"""The built-in scalar functions: one table, read by the checker, the documentation and the engines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from omnigraph.model.types import PropType, ScalarType
from omnigraph.query import ir

Unit = Literal["year", "quarter", "month", "week", "day", "hour", "minute", "second"]
UNITS: tuple[Unit, ...] = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")


class Kind(StrEnum):
    """What an argument may be."""

    TEXT = "a String"
    INTEGER = "an integer"
    NUMBER = "a number"
    TIME = "a Date or DateTime"
    CLOCK = "a DateTime"
    SCALAR = "a single value"
    SEVERAL = "a String, list or path"
    LIST = "a list"
    PATH = "a path variable"
    UNIT = "a unit of time as a string literal"
    DATED = "a DateTime or String"
    TIMED = "a Date or String"


class Result(StrEnum):
    """How the result's type follows from the arguments."""

    FIRST = "the first argument's type"
    COMMON = "the arguments' common type"
    LAST = "the last argument's type"


@dataclass(frozen=True, slots=True)
class Function:
    """A signature. `optional` counts the trailing arguments that may be left out; the last may repeat."""

    name: str
    arguments: tuple[Kind, ...]
    result: PropType | Result
    summary: str
    optional: int = 0
    repeats: bool = False
    may_fail: bool = False

    @property
    def fewest(self) -> int:
        """Give the smallest number of arguments."""
        return len(self.arguments) - self.optional

    @property
    def most(self) -> int | None:
        """Give the largest number of arguments, None without a bound."""
        return None if self.repeats else len(self.arguments)

    def kind(self, position: int) -> Kind:
        """Give what the argument at a position may be."""
        return self.arguments[min(position, len(self.arguments) - 1)]


_TEXTS = PropType(ScalarType.STRING, is_list=True)
_T, _N, _I, _D, _U = Kind.TEXT, Kind.NUMBER, Kind.INTEGER, Kind.TIME, Kind.UNIT

_TABLE = (
    Function("lower", (_T,), ir.STRING, "the text in lower case"),
    Function("upper", (_T,), ir.STRING, "the text in upper case"),
    Function("trim", (_T,), ir.STRING, "the text without white space at its ends"),
    Function("length", (Kind.SEVERAL,), ir.I64, "characters of a text, items of a list, hops of a path"),
    Function("substring", (_T, _I, _I), ir.STRING, "from a position (first is 1), at most so many characters", 1),
    Function("replace", (_T, _T, _T), ir.STRING, "every occurrence of the second text replaced by the third"),
    Function("concat", (Kind.SCALAR, Kind.SCALAR), ir.STRING, "the values as one text", 1, repeats=True),
    Function("split", (_T, _T), _TEXTS, "the parts between separators"),
    Function("abs", (_N,), Result.FIRST, "the number without its sign"),
    Function("round", (_N, _I), ir.F64, "rounded to so many decimals, none if left out; halves away from zero", 1),
    Function("floor", (_N,), ir.F64, "the largest whole number that is not larger"),
    Function("ceil", (_N,), ir.F64, "the smallest whole number that is not smaller"),
    Function("sqrt", (_N,), ir.F64, "the square root; null for a negative number", may_fail=True),
    Function("power", (_N, _N), ir.F64, "the first number to the power of the second"),
    Function(
        "coalesce", (Kind.SCALAR, Kind.SCALAR), Result.COMMON, "the first value that is not null", 1, repeats=True
    ),
    Function("year", (_D,), ir.I64, "the year"),
    Function("month", (_D,), ir.I64, "the month, 1 to 12"),
    Function("day", (_D,), ir.I64, "the day of the month"),
    Function("hour", (Kind.CLOCK,), ir.I64, "the hour, UTC"),
    Function("minute", (Kind.CLOCK,), ir.I64, "the minute"),
    Function("second", (Kind.CLOCK,), ir.I64, "the second"),
    Function("date_trunc", (_U, _D), Result.LAST, "the start of the unit the time lies in"),
    Function("date_diff", (_U, _D, _D), ir.I64, "unit boundaries passed from the first time to the second"),
    Function("date_add", (_U, _I, _D), Result.LAST, "the time so many units later, earlier if negative"),
    Function("date", (Kind.DATED,), ir.DATE, "the day of a DateTime, or a text read as a day", may_fail=True),
    Function("datetime", (Kind.TIMED,), ir.DATE_TIME, "midnight of a day, or a text read as a time", may_fail=True),
    Function("to_string", (Kind.SCALAR,), ir.STRING, "the value as text"),
    Function("to_int", (Kind.SCALAR,), ir.I64, "the value as a whole number; null if it is none", may_fail=True),
    Function("to_float", (Kind.SCALAR,), ir.F64, "the value as a number; null if it is none", may_fail=True),
    Function("nodes", (Kind.PATH,), _TEXTS, "the ids of a path's nodes, in order"),
    Function("edges", (Kind.PATH,), _TEXTS, "the ids of a path's edges, in order"),
)

FUNCTIONS: dict[str, Function] = {function.name: function for function in _TABLE}
"""Every scalar function by name."""

AGGREGATES: dict[str, str] = {
    "count": "how many values are not null",
    "sum": "the sum, F64; null without values",
    "avg": "the mean, F64; null without values",
    "min": "the smallest value",
    "max": "the largest value",
    "collect": "the values as a list; empty without values",
}
"""Every aggregate by name. `distinct` before the argument leaves out repeated values."""

SEARCHES: dict[str, str] = {
    "search": "any word of the query occurs in the text",
    "match_text": "the query occurs in the text as a phrase",
    "fuzzy": "a word of the text is within so many edits (2) of a word of the query",
    "nearest": "cosine distance of a vector from a vector or an embedded text; nearest first",
    "bm25": "relevance of a text; most relevant first",
    "rrf": "two rankings merged by reciprocal rank (k = 60)",
}
"""The search functions by name."""

ALL_NAMES: tuple[str, ...] = (*FUNCTIONS, *AGGREGATES, *SEARCHES, "now")
