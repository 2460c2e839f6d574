"""Generated schemas of a few types, and values that are likely to meet: small pools with the extremes of every type."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

from hypothesis import strategies as st

from tests.stateful.declared import Prop, Schema, Table
from tests.stateful.model import as_f32

POOLS: dict[str, list] = {
    "String": ["a", "b", "c", "d", "é", "", 'x "y"', "a,b"],
    "Bool": [False, True],
    "I32": [0, 1, 2, 7, -1, 2**31 - 1, -(2**31)],
    "I64": [0, 1, 2, 7, -1, 2**63 - 1, -(2**63)],
    "U32": [0, 1, 2, 7, 2**32 - 1],
    "U64": [0, 1, 2, 7, 2**63 - 1],
    "F32": [0.0, 1.0, as_f32(0.1), -0.0, -2.5, as_f32(3.0e38)],
    "F64": [0.0, 1.0, 0.1, -0.0, 1e21, 5e-324],
    "Date": [date(1970, 1, 1), date(2020, 2, 29), date(1969, 12, 31), date(9999, 12, 31), date(1, 1, 1)],
    "DateTime": [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2020, 2, 29, 12, 30, 1, 999_000, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 1000, tzinfo=UTC),
        datetime(2100, 1, 1, tzinfo=UTC),
    ],
}
NUMBERS = ("I32", "I64", "U32", "U64", "F32", "F64")
KEY_SCALARS = [*POOLS, "String", "String", "I64"]
LIMITS = [(0, 2), (None, 2), (1, None), (-1, 7)]
DEFAULTS = {
    "String": ('"a"', "a"),
    "Bool": ("true", True),
    **dict.fromkeys(NUMBERS, ("1", 1)),
    "F32": ("1.0", 1.0),
    "F64": ("1.0", 1.0),
    "Date": ('"2020-02-29"', date(2020, 2, 29)),
    "DateTime": ('"2100-01-01T00:00:00Z"', datetime(2100, 1, 1, tzinfo=UTC)),
}


def one_in(n: int) -> st.SearchStrategy[bool]:
    return st.integers(1, n).map(lambda found: found == n)


@st.composite
def props(draw: st.DrawFn, name: str, ranges: bool) -> Prop:
    nullable = draw(st.booleans())
    if draw(one_in(5)):
        values = draw(st.sampled_from([("a", "b"), ("a", "b", "c")]))
        prop = Prop(name, "String", nullable, values)
    else:
        prop = Prop(name, draw(st.sampled_from(list(POOLS))), nullable)
    if ranges and prop.scalar in NUMBERS and draw(one_in(3)):
        limits = draw(st.sampled_from(LIMITS))
        prop = replace(prop, limits=limits)
    if draw(one_in(4)):
        text, value = ("a", "a") if prop.enum else DEFAULTS[prop.scalar]
        prop = replace(prop, default=value, default_text=text)
    return prop


@st.composite
def uniques(draw: st.DrawFn, declared: list[Prop], ends: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Now and then one; not of Bool alone, which would be full after two rows."""
    if not declared or not draw(one_in(3)):
        return ()
    first = draw(st.sampled_from(declared))
    others = [name for name in (*(prop.name for prop in declared), *ends) if name != first.name]
    if first.scalar == "Bool" or first.enum or draw(st.booleans()):
        return ((first.name, draw(st.sampled_from(others))),) if others else ()
    return ((first.name,),)


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Table:
    size = draw(st.sampled_from([0, 1, 1, 1, 2]))
    members = [Prop(key, draw(st.sampled_from(KEY_SCALARS))) for key in ("k", "j")[:size]]
    most = 3 if size else 4
    names = "pqrs"[: draw(st.integers(0 if size else 1, most))]
    declared = [draw(props(each, ranges=True)) for each in names]
    key = tuple(prop.name for prop in members)
    return Table(name, (*members, *declared), key, draw(uniques(declared, ())))


@st.composite
def edges(draw: st.DrawFn, name: str, ends: list[str]) -> Table:
    declared = [draw(props(each, ranges=False)) for each in "pq"[: draw(st.integers(0, 2))]]
    source, target = draw(st.sampled_from(ends)), draw(st.sampled_from(ends))
    card = draw(st.sampled_from([(0, None), (0, None), (0, None), (0, 1), (0, 2), (1, None), (1, 2), (2, 3)]))
    return Table(name, tuple(declared), (), draw(uniques(declared, ("src", "dst"))), source, target, card)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = ["A", "B", "C"][: draw(st.integers(2, 3))]
    made = [draw(nodes(name)) for name in names]
    made += [draw(edges(name, names)) for name in ("E", "F", "G")[: draw(st.integers(1, 3))]]
    return Schema(tuple(made))


# -- values ----------------------------------------------------------------------------------------------


@st.composite
def values(draw: st.DrawFn, prop: Prop) -> object:
    """A value of a property: mostly one that is allowed."""
    if prop.nullable and draw(one_in(4)):
        return None
    if draw(one_in(25)):
        return None if draw(st.booleans()) else draw(st.sampled_from(POOLS[prop.scalar]))
    if prop.enum:
        return draw(st.sampled_from(prop.enum))
    allowed = POOLS[prop.scalar]
    if prop.limits:
        low, high = prop.limits
        allowed = [v for v in allowed if (low is None or v >= low) and (high is None or v <= high)]
    return draw(st.sampled_from(allowed))
