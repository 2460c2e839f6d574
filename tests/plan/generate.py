"""Typed expressions and rows at random, for comparing the engine with the oracle.

Strategies are made once: making them is what takes the time.
"""

import string
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

from hypothesis import strategies as st

from omnigraph.model.types import INTEGER_BOUNDS, PropType, ScalarType
from omnigraph.query import ir
from omnigraph.query.check.expressions import arithmetic_type
from omnigraph.query.functions import UNITS
from tests.plan.rows import single

S = ScalarType
INTEGERS, FLOATS = (S.I32, S.I64, S.U32, S.U64), (S.F32, S.F64)
COLUMNS = {
    "text": S.STRING, "word": S.STRING, "flag": S.BOOL, "i32": S.I32, "i64": S.I64, "u32": S.U32, "u64": S.U64,
    "f32": S.F32, "f64": S.F64, "day": S.DATE, "moment": S.DATE_TIME,
}  # fmt: skip
LISTS = {"texts": S.STRING, "whole": S.I64, "small": S.I32, "floats": S.F64, "days": S.DATE}

TEXTS = st.one_of(
    st.sampled_from(["", "a", "%", "_", "ab", "it's", "\\", "12", "-3", "1.5", "1e3", "2024-02-29", "é", "😀", " a\t",
                     "2024-02-29T10:11:12.5+02:00"]),
    st.text(string.ascii_letters + string.digits + " ,.-%_'\"\\éàΩω😀\u00a0\n", max_size=6),
)  # fmt: skip
DAYS = st.one_of(
    st.sampled_from([date(1970, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(2024, 1, 31)]),
    st.dates(date(1800, 1, 1), date(2200, 12, 31)),
)
MOMENTS = st.integers(-5_000_000_000_000, 7_000_000_000_000).map(
    lambda ms: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
)


def integers(scalar: ScalarType) -> st.SearchStrategy[int]:
    least, most = INTEGER_BOUNDS[scalar]
    edges = st.sampled_from([n for n in (least, most, 0, 1, -1, 2, 3, 10, 2**53, 2**53 + 1) if least <= n <= most])
    return st.one_of(edges, st.integers(max(least, -9), 9))


FLOAT_EDGES = [0.0, -0.0, 1.0, -1.5, 0.1, 2.5, 1e20, -1e-7, float("nan"), float("inf"), float("-inf"), 2.0**53]
VALUES: dict[ScalarType, st.SearchStrategy[Any]] = {
    S.STRING: TEXTS,
    S.BOOL: st.booleans(),
    **{scalar: integers(scalar) for scalar in INTEGERS},
    S.F64: st.one_of(st.sampled_from(FLOAT_EDGES), st.floats(-100, 100)),
    S.F32: st.one_of(st.sampled_from(FLOAT_EDGES).map(single), st.floats(-100, 100, width=32)),
    S.DATE: DAYS,
    S.DATE_TIME: MOMENTS,
}


def row() -> st.SearchStrategy[dict[str, Any]]:
    columns = {name: st.one_of(st.none(), VALUES[scalar]) for name, scalar in COLUMNS.items()}
    lists = {name: st.one_of(st.none(), st.lists(VALUES[scalar], max_size=3)) for name, scalar in LISTS.items()}
    return st.fixed_dictionaries(columns | lists)


PARAMETERS = {f"p_{scalar.value.lower()}": scalar for scalar in VALUES}


def parameters() -> st.SearchStrategy[dict[str, Any]]:
    finite = {name: VALUES[scalar].filter(lambda v: v == v) for name, scalar in PARAMETERS.items()}
    finite["p_u64"] = integers(S.U64).filter(lambda n: n < 2**63)
    return st.fixed_dictionaries({name: st.one_of(st.none(), each) for name, each in finite.items()})


def maybe(scalar: ScalarType) -> PropType:
    return PropType(scalar, nullable=True)


@cache
def leaf(scalar: ScalarType) -> st.SearchStrategy[ir.Expression]:
    columns = [ir.Property(None, name, maybe(kind)) for name, kind in COLUMNS.items() if kind is scalar]
    given_ = [ir.Parameter(name, maybe(kind)) for name, kind in PARAMETERS.items() if kind is scalar]
    options: list[st.SearchStrategy[ir.Expression]] = [st.sampled_from(columns), st.sampled_from(given_)]
    if scalar not in (S.I32, S.U32, S.U64, S.F32):
        finite = VALUES[scalar].filter(lambda v: v == v and v not in (float("inf"), float("-inf")))
        options.append(finite.map(lambda value: ir.Literal(value, PropType(scalar))))
    if scalar is S.DATE_TIME:
        options.append(st.just(ir.Now()))
    return st.one_of(options)


@cache
def of(scalar: ScalarType, depth: int) -> st.SearchStrategy[ir.Expression]:
    """Expressions of a scalar type."""
    if depth == 0 or scalar in (S.I32, S.U32, S.U64, S.F32):
        return leaf(scalar)
    return st.one_of(leaf(scalar), GROWN[scalar](depth - 1))


@cache
def number(depth: int) -> st.SearchStrategy[ir.Expression]:
    return st.sampled_from((*INTEGERS, *FLOATS)).flatmap(lambda scalar: of(scalar, depth))


@cache
def integer(depth: int) -> st.SearchStrategy[ir.Expression]:
    return st.sampled_from(INTEGERS).flatmap(lambda scalar: of(scalar, depth))


@cache
def time(depth: int) -> st.SearchStrategy[ir.Expression]:
    return st.sampled_from((S.DATE, S.DATE_TIME)).flatmap(lambda scalar: of(scalar, depth))


@cache
def anything(depth: int) -> st.SearchStrategy[ir.Expression]:
    return st.sampled_from(tuple(VALUES)).flatmap(lambda scalar: of(scalar, depth))


def call(
    name: str, scalar: ScalarType, *arguments: st.SearchStrategy[ir.Expression]
) -> st.SearchStrategy[ir.Expression]:
    return st.tuples(*arguments).map(lambda found: ir.Call(name, found, maybe(scalar)))


@cache
def unit() -> st.SearchStrategy[ir.Expression]:
    return st.sampled_from(UNITS).map(lambda name: ir.Literal(name, ir.STRING))


@cache
def small(most: int = 40) -> st.SearchStrategy[ir.Expression]:
    return st.integers(-most, most).map(lambda n: ir.Literal(n, ir.I64))


@cache
def alike(depth: int) -> st.SearchStrategy[tuple[ir.Expression, ir.Expression]]:
    """Two values that compare."""
    others = tuple(scalar for scalar in VALUES if not scalar.is_numeric)
    same = st.sampled_from(others).flatmap(lambda scalar: st.tuples(of(scalar, depth), of(scalar, depth)))
    return st.one_of(same, st.tuples(number(depth), number(depth)))


@cache
def compared(depth: int) -> st.SearchStrategy[ir.Expression]:
    operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
    plain = st.tuples(operators, alike(depth)).map(lambda f: ir.Compare(f[0], *f[1], ir.BOOL.optional))
    text_operators = st.sampled_from(["contains", "starts_with", "ends_with"])
    texts = st.tuples(text_operators, of(S.STRING, depth), of(S.STRING, depth)).map(
        lambda f: ir.Compare(*f, ir.BOOL.optional)
    )
    return st.one_of(plain, texts)


@cache
def member(depth: int) -> st.SearchStrategy[ir.Expression]:
    def lists(scalar: ScalarType) -> st.SearchStrategy[ir.Expression]:
        like = (*INTEGERS, *FLOATS) if scalar.is_numeric else (scalar,)
        stored = [ir.Property(None, n, PropType(k, True, is_list=True)) for n, k in LISTS.items() if k in like]
        made = st.lists(of(scalar, 0), min_size=1, max_size=3).map(
            lambda items: ir.ListOf(tuple(items), PropType(scalar, True, is_list=True))
        )
        empty = st.just(ir.Literal((), PropType(S.STRING, is_list=True)))
        options = [made, empty, *([st.sampled_from(stored)] if stored else [])]
        return st.one_of(options)

    def build(scalar: ScalarType) -> st.SearchStrategy[ir.Expression]:
        item = number(depth) if scalar.is_numeric else of(scalar, depth)
        return st.tuples(item, lists(scalar), st.booleans()).map(lambda f: ir.Member(*f, ir.BOOL.optional))

    return st.sampled_from(tuple(VALUES)).flatmap(build)


@cache
def boolean(depth: int) -> st.SearchStrategy[ir.Expression]:
    bools = of(S.BOOL, depth)
    logic = st.tuples(st.sampled_from(["and", "or"]), st.lists(bools, min_size=2, max_size=3)).map(
        lambda f: ir.Logic(f[0], tuple(f[1]), ir.BOOL.optional)
    )
    nulls = st.tuples(anything(depth), st.booleans()).map(lambda f: ir.IsNull(*f))
    return st.one_of(
        compared(depth), member(depth), logic, nulls, bools.map(lambda operand: ir.Not(operand, ir.BOOL.optional))
    )


@cache
def arithmetic(depth: int, whole: bool) -> st.SearchStrategy[ir.Expression]:
    operand = integer(depth) if whole else number(depth)
    first = integer(depth) if whole else of(S.F64, depth)
    chains = st.sampled_from(["+-", "*%" if whole else "*/%"])

    def build(operators: str) -> st.SearchStrategy[ir.Expression]:
        signs = st.lists(st.sampled_from(operators), min_size=1, max_size=2)
        return signs.flatmap(
            lambda found: st.tuples(first, *[operand] * len(found)).map(
                lambda operands: ir.Arithmetic(
                    operands, tuple(found), arithmetic_type(tuple(o.type for o in operands), tuple(found)).optional
                )
            )
        )

    return chains.flatmap(build)


@cache
def text(depth: int) -> st.SearchStrategy[ir.Expression]:
    t = of(S.STRING, depth)
    return st.one_of(
        call("lower", S.STRING, t),
        call("upper", S.STRING, t),
        call("trim", S.STRING, t),
        call("substring", S.STRING, t, integer(depth)),
        call("substring", S.STRING, t, small(4), small(4)),
        call("replace", S.STRING, t, t, t),
        call("concat", S.STRING, anything(depth), anything(depth)),
        call("coalesce", S.STRING, t, t),
        call("to_string", S.STRING, anything(depth)),
    )


@cache
def whole(depth: int) -> st.SearchStrategy[ir.Expression]:
    t = of(S.STRING, depth)
    return st.one_of(
        arithmetic(depth, whole=True),
        integer(depth).map(lambda o: ir.Negate(o, ir.I64.optional)),
        call("length", S.I64, t),
        st.tuples(t, t).map(
            lambda f: ir.Call("length", (ir.Call("split", f, PropType(S.STRING, True, is_list=True)),), maybe(S.I64))
        ),
        call("abs", S.I64, of(S.I64, depth)),
        call("to_int", S.I64, anything(depth)),
        call("coalesce", S.I64, integer(depth), integer(depth)),
        *(call(name, S.I64, time(depth)) for name in ("year", "month", "day")),
        *(call(name, S.I64, of(S.DATE_TIME, depth)) for name in ("hour", "minute", "second")),
        call("date_diff", S.I64, unit(), time(depth), time(depth)),
    )


@cache
def real(depth: int) -> st.SearchStrategy[ir.Expression]:
    n = number(depth)
    return st.one_of(
        arithmetic(depth, whole=False),
        of(S.F64, depth).map(lambda o: ir.Negate(o, ir.F64.optional)),
        call("abs", S.F64, of(S.F64, depth)),
        call("round", S.F64, n),
        call("round", S.F64, n, small(5)),
        *(call(name, S.F64, n) for name in ("floor", "ceil", "sqrt")),
        call("power", S.F64, n, st.integers(-3, 3).map(lambda k: ir.Literal(k, ir.I64))),
        call("coalesce", S.F64, of(S.F64, depth), n),
        call("to_float", S.F64, anything(depth)),
    )


@cache
def day(depth: int) -> st.SearchStrategy[ir.Expression]:
    return st.one_of(
        call("date", S.DATE, st.one_of(of(S.STRING, depth), of(S.DATE_TIME, depth))),
        call("date_trunc", S.DATE, unit(), of(S.DATE, depth)),
        call("date_add", S.DATE, unit(), small(), of(S.DATE, depth)),
    )


@cache
def moment(depth: int) -> st.SearchStrategy[ir.Expression]:
    return st.one_of(
        call("datetime", S.DATE_TIME, st.one_of(of(S.STRING, depth), of(S.DATE, depth))),
        call("date_trunc", S.DATE_TIME, unit(), of(S.DATE_TIME, depth)),
        call("date_add", S.DATE_TIME, unit(), small(), of(S.DATE_TIME, depth)),
    )


GROWN = {S.STRING: text, S.BOOL: boolean, S.I64: whole, S.F64: real, S.DATE: day, S.DATE_TIME: moment}


@cache
def grown(depth: int) -> st.SearchStrategy[ir.Expression]:
    """Expressions that compute something."""
    return st.sampled_from(tuple(GROWN)).flatmap(lambda scalar: GROWN[scalar](depth - 1))
