"""Generated writes: statements with their text and parameters, and records of a load, clean and dirty."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import partial

from hypothesis import strategies as st

from tests.stateful.declared import Prop, Schema, Table
from tests.stateful.model import (
    EPOCH,
    EPOCH_DAY,
    Compare,
    Copy,
    Delete,
    Done,
    Insert,
    IsNull,
    Logic,
    Not,
    Outcome,
    State,
    Update,
    is_fresh,
    load,
    mutate,
)
from tests.stateful.schemas import POOLS, one_in, values

NAMES = {"id": "@id", "src": "from", "dst": "to"}
ORDERED = ("=", "=", "!=", "<", "<=", ">", ">=")


# -- statements ------------------------------------------------------------------------------------------


def ids_of(state: State, key: str) -> st.SearchStrategy[str]:
    """Mostly an id that is there."""
    known = sorted(state[key])
    if not known:
        return st.just("nobody")
    return one_in(12).flatmap(lambda missing: st.just("nobody") if missing else st.sampled_from(known))


@st.composite
def mutations(draw: st.DrawFn, schema: Schema, state: State) -> list[Insert | Update | Delete]:
    """Inserts and updates, or deletes; never both."""
    size = draw(st.integers(1, 3))
    each = deletes(schema, state) if draw(one_in(4)) else st.one_of(inserts(schema, state), updates(schema, state))
    made = [draw(each) for _ in range(size)]
    return made if draw(one_in(3)) else _accepted(made, partial(mutate, schema, state)) or made


@st.composite
def inserts(draw: st.DrawFn, schema: Schema, state: State) -> Insert:
    table = draw(st.sampled_from(schema.tables))
    given = {prop.name: draw(values(prop)) for prop in table.props if _is_needed(prop) or draw(st.booleans())}
    if not given and not table.is_edge:
        given = {table.props[0].name: draw(values(table.props[0]))}
    ends = [draw(ids_of(state, key)) for _, key in table.ends] or [None, None]
    return Insert(table, given, *ends)


def _is_needed(prop: Prop) -> bool:
    return not prop.nullable and prop.default_text is None


@st.composite
def updates(draw: st.DrawFn, schema: Schema, state: State) -> Update:
    table = draw(st.sampled_from([table for table in schema.tables if _changeable(table)] or [None]))
    if table is None:
        return draw(inserts(schema, state))
    chosen = draw(st.lists(st.sampled_from(_changeable(table)), min_size=1, max_size=2, unique=True))
    return Update(table, {prop.name: draw(new_values(table, prop)) for prop in chosen}, draw(conditions(table, state)))


def _changeable(table: Table) -> list[Prop]:
    return [prop for prop in table.props if prop.name not in table.key]


@st.composite
def new_values(draw: st.DrawFn, table: Table, prop: Prop) -> object:
    alike = [other.name for other in table.props if other.scalar == prop.scalar and other.name != prop.name]
    if alike and draw(one_in(4)):
        return Copy(draw(st.sampled_from(alike)))
    return draw(values(prop))


@st.composite
def deletes(draw: st.DrawFn, schema: Schema, state: State) -> Delete:
    table = draw(st.sampled_from(schema.tables))
    return Delete(table, draw(conditions(table, state)))


def conditions(table: Table, state: State) -> st.SearchStrategy[object]:
    """By the key, by a property or an end, or several of these."""
    leaf = leaves(table, state)
    pairs = st.builds(Logic, st.sampled_from(["and", "or"]), st.tuples(leaf, leaf))
    return st.one_of(leaf, leaf, leaf, pairs, st.builds(Not, st.one_of(leaf, pairs)))


@st.composite
def leaves(draw: st.DrawFn, table: Table, state: State) -> object:
    rows = [state[table.table_key][entity_id] for entity_id in sorted(state[table.table_key])]
    column = draw(st.sampled_from(["id", *(c for c, _ in table.ends), *table.key, *(p.name for p in table.props)]))
    if column not in NAMES and draw(one_in(6)):
        return IsNull(column, draw(st.booleans()))
    scalar = "String" if column in NAMES else table.prop(column).scalar
    operator = draw(st.sampled_from(("=", "!=") if scalar == "Bool" or column in NAMES else ORDERED))
    known = [row[column] for row in rows if _can_be_given(row[column])]
    if known and draw(st.booleans()):
        return Compare(column, operator, draw(st.sampled_from(known)))
    given = st.sampled_from(POOLS[scalar]) if column in NAMES else values(table.prop(column))
    return Compare(column, operator, draw(given))


def _can_be_given(value: object) -> bool:
    """Parameters are finite, and U64 ones no more than I64 can hold."""
    if isinstance(value, float):
        return math.isfinite(value)
    return not (isinstance(value, int) and value > 2**63 - 1)


def _accepted(parts: list, attempt: Callable[[list], Outcome]) -> list:
    """Those parts of a write that are not refused together with the ones before."""
    kept: list = []
    for part in parts:
        if isinstance(attempt([*kept, part]), Done):
            kept.append(part)
    return kept


# -- text ------------------------------------------------------------------------------------------------


@dataclass
class Text:
    """Writes a query, and collects its parameters. Some values become literals."""

    declared: list[str] = field(default_factory=list)
    params: dict[str, object] = field(default_factory=dict)

    def query(self, statements: list[Insert | Update | Delete]) -> str:
        body = "\n  ".join(self._statement(statement) for statement in statements)
        return f"query q({', '.join(self.declared)}) {{\n  {body}\n}}\n"

    def _statement(self, statement: Insert | Update | Delete) -> str:
        name = statement.table.name
        if isinstance(statement, Delete):
            return f"delete {name} where {self._condition(statement.where, statement.table)}"
        pairs = [f"{key}: {self._assigned(value, statement.table, key)}" for key, value in statement.values.items()]
        if isinstance(statement, Update):
            where = self._condition(statement.where, statement.table)
            return f"update {name} set {{ {', '.join(pairs)} }} where {where}"
        if statement.source is not None:
            ends = (("from", statement.source), ("to", statement.target))
            pairs += [f"{end}: {self._param(value, 'String')}" for end, value in ends]
        return f"insert {name} {{ {', '.join(pairs)} }}"

    def _assigned(self, value: object, table: Table, column: str) -> str:
        return value.column if isinstance(value, Copy) else self._value(value, table.prop(column))

    def _condition(self, condition: object, table: Table) -> str:
        match condition:
            case Compare(column, operator, value):
                prop = Prop(column, "String") if column in NAMES else table.prop(column)
                return f"{NAMES.get(column, column)} {operator} {self._value(value, prop)}"
            case IsNull(column, negated):
                return f"{NAMES.get(column, column)} is {'not ' if negated else ''}null"
            case Not(part):
                return f"not ({self._condition(part, table)})"
            case Logic(operator, parts):
                return f" {operator} ".join(f"({self._condition(part, table)})" for part in parts)
        raise AssertionError(condition)

    def _value(self, value: object, prop: Prop) -> str:
        """Every other value that has a literal is written as one."""
        literal = _literal(value, prop)
        return literal if literal is not None and len(self.params) % 2 else self._param(value, prop.scalar)

    def _param(self, value: object, scalar: str) -> str:
        name = f"p{len(self.params)}"
        self.params[name] = to_json(value)
        self.declared.append(f"${name}: {scalar}{'?' if value is None else ''}")
        return f"${name}"


def _literal(value: object, prop: Prop) -> str | None:
    if prop.enum and value not in prop.enum:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return f'datetime("{to_json(value)}")'
    if isinstance(value, date):
        return f'date("{value.isoformat()}")'
    if isinstance(value, int):
        return str(value) if 0 <= value <= 7 else None
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return None


def to_json(value: object, *, counts: bool = False) -> object:
    """A value as JSON has it; with `counts` days and times as numbers."""
    if isinstance(value, datetime):
        if counts:
            return (value - EPOCH) // timedelta(milliseconds=1)
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return (value - EPOCH_DAY).days if counts else value.isoformat()
    return value


# -- records ---------------------------------------------------------------------------------------------

WRONG = {"String": 1, "Bool": "true", "F32": "x", "F64": "x", "Date": "2020-13-01", "DateTime": "noon"}
LOADED = {"F64": ["NaN", "Infinity"], "U64": [2**64 - 1]}
"""What only a load can bring."""


@st.composite
def loads(draw: st.DrawFn, schema: Schema, state: State, mode: str) -> list[dict]:
    """Records of any types in any order: mostly clean, else as they come, or with something wrong."""
    size = draw(st.integers(0, 6))
    ends = {table.table_key: sorted(state[table.table_key]) for table in schema.nodes}
    made = [draw(records(draw(st.sampled_from(schema.tables)), ends)) for _ in range(size)]
    how = draw(st.sampled_from(["clean", "clean", "clean", "any", "dirty"]))
    if how == "clean":
        return _accepted(made, partial(load, schema, state, mode=mode))
    if how == "dirty":
        return [draw(dirty(record, schema)) if draw(st.booleans()) else record for record in made]
    return made


@st.composite
def seeds(draw: st.DrawFn, schema: Schema) -> list[dict]:
    """A few rows of each type to begin with."""
    nothing: State = {table.table_key: {} for table in schema.tables}
    made: list[dict] = []
    known = nothing
    for table in schema.tables:
        for _ in range(draw(st.integers(1, 4))):
            ends = {
                node.table_key: sorted(e for e in known[node.table_key] if not is_fresh(e)) for node in schema.nodes
            }
            made.append(draw(records(table, ends)))
        made = _accepted(made, partial(load, schema, nothing, mode="append"))
        known = load(schema, nothing, made, "append").state
    return made


@st.composite
def records(draw: st.DrawFn, table: Table, ends: dict[str, list[str]]) -> dict:
    data = {prop.name: draw(json_values(prop)) for prop in table.props if _is_needed(prop) or draw(one_in(2))}
    if not table.key and draw(st.booleans()):
        data["id"] = draw(st.sampled_from([f"{table.name}{n}" for n in range(5)]))
        ends.get(table.table_key, []).append(data["id"])
    if not table.is_edge:
        return {"type": table.name, "data": data}
    source, target = (draw(st.sampled_from([*ends[key], *_kept(ends[key])])) for _, key in table.ends)
    return {"edge": table.name, "from": source, "to": target, "data": data}


def _kept(known: list[str]) -> list[str]:
    """Where there is no node yet, an end that is missing."""
    return [] if known else ["nobody"]


@st.composite
def json_values(draw: st.DrawFn, prop: Prop) -> object:
    if prop.scalar in LOADED and not prop.limits and draw(one_in(8)):
        return draw(st.sampled_from(LOADED[prop.scalar]))
    return to_json(draw(values(prop)), counts=draw(st.booleans()))


@st.composite
def dirty(draw: st.DrawFn, record: dict, schema: Schema) -> dict:
    """A record with one thing wrong."""
    table = next(t for t in schema.tables if t.name == (record.get("type") or record.get("edge")))
    kind = draw(st.sampled_from(["type", "absent", "unknown", "table", "id", "id type", "end"]))
    data = dict(record["data"])
    prop = draw(st.sampled_from(table.props)) if table.props else None
    if kind == "type" and prop:
        data[prop.name] = WRONG.get(prop.scalar, 2**70)
    elif kind == "absent" and prop:
        data.pop(prop.name, None)
    elif kind == "unknown":
        data["zz"] = 1
    elif kind == "table":
        return {**record, next(iter(record)): "Nothing"}
    elif kind == "id" and table.key:
        data["id"] = "not what follows"
    elif kind == "id type":
        data["id"] = 7
    elif kind == "end" and table.is_edge:
        return {**record, "to": "nobody"}
    return {**record, "data": data}
