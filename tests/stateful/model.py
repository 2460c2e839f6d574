"""What writes mean, on plain dicts. Written from the specification; shares no code with `omnigraph.write`."""

from __future__ import annotations

import json
import math
import struct
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import count

from tests.stateful.declared import INTEGERS, Prop, Schema, Table

Row = dict[str, object]
State = dict[str, dict[str, Row]]
"""Table key → id → row."""

EPOCH_DAY = date(1970, 1, 1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

_fresh = count()


def fresh_id() -> str:
    """A name for an id that the product makes up; the real one is adopted after the write."""
    return f"fresh?{next(_fresh):08}"


def is_fresh(entity_id: str) -> bool:
    return entity_id.startswith("fresh?")


# -- outcomes --------------------------------------------------------------------------------------------


@dataclass
class Done:
    """The state afterwards, what was counted, and whether there is a commit."""

    state: State
    nodes: int = 0
    edges: int = 0
    commits: bool = True


@dataclass(frozen=True)
class Refused:
    """The kinds of rules that are broken."""

    kinds: frozenset[str]


@dataclass(frozen=True)
class Taken:
    """A strict insert meets an id."""


Outcome = Done | Refused | Taken


@dataclass
class Change:
    """A write in the making: the state it leaves, the ids it wrote, and what is wrong with it so far."""

    state: State
    written: dict[str, set[str]] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)

    def write(self, table: Table, row: Row) -> None:
        self.state[table.table_key][row["id"]] = row
        self.written.setdefault(table.table_key, set()).add(row["id"])

    def remove(self, table: Table, entity_id: str) -> None:
        del self.state[table.table_key][entity_id]
        self.written.setdefault(table.table_key, set())


def copied(state: State) -> State:
    return {key: {entity_id: dict(row) for entity_id, row in rows.items()} for key, rows in state.items()}


# -- values ----------------------------------------------------------------------------------------------


class Unfit(ValueError):
    """Not a value of the type."""


def as_f32(number: float) -> float:
    return struct.unpack("<f", struct.pack("<f", number))[0]


def read_json(value: object, prop: Prop) -> object:
    """What is stored for a JSON value."""
    if value is None:
        return None
    if prop.scalar in INTEGERS:
        low, high = INTEGERS[prop.scalar]
        if type(value) is not int or not low <= value <= high:
            raise Unfit
        return value
    return _READS[prop.scalar](value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Unfit
    return value


def _bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise Unfit
    return value


def _f64(value: object) -> float:
    if isinstance(value, str) and value in NON_FINITE:
        return NON_FINITE[value]
    if type(value) not in (int, float):
        raise Unfit
    return float(value)


def _f32(value: object) -> float:
    number = _f64(value)
    if not math.isfinite(number) or abs(number) > 3.5e38:
        raise Unfit
    return as_f32(number)


def _date(value: object) -> date:
    if type(value) is int:
        return EPOCH_DAY + timedelta(days=value)
    try:
        return date.fromisoformat(_text(value))
    except ValueError:
        raise Unfit from None


def _date_time(value: object) -> datetime:
    if type(value) is int:
        return EPOCH + timedelta(milliseconds=value)
    try:
        return datetime.fromisoformat(_text(value))
    except ValueError:
        raise Unfit from None


_READS = {"String": _text, "Bool": _bool, "F32": _f32, "F64": _f64, "Date": _date, "DateTime": _date_time}


def key_text(value: object, prop: Prop) -> str:
    """A key member as ids spell it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return str((value - EPOCH) // timedelta(milliseconds=1))
    if isinstance(value, date):
        return str((value - EPOCH_DAY).days)
    if isinstance(value, float):
        return _float_text(value, prop)
    return str(value)


def _float_text(value: float, prop: Prop) -> str:
    if value == 0:
        return "0"
    if prop.scalar == "F32":
        digits = next(n for n in range(1, 18) if as_f32(float(f"{value:.{n}g}")) == value)
        value = float(f"{value:.{digits}g}")
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def derive_id(table: Table, row: Row) -> str:
    texts = [key_text(row[name], table.prop(name)) for name in sorted(table.key)]
    return texts[0] if len(texts) == 1 else json.dumps(texts, separators=(",", ":"), ensure_ascii=False)


def exact(value: object) -> object:
    """A value such that equal means the same bits."""
    return ("float", repr(value)) if isinstance(value, float) else value


def exact_row(row: Row) -> tuple:
    return tuple(sorted((name, exact(value)) for name, value in row.items() if value is not None))


# -- conditions ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compare:
    column: str
    operator: str
    value: object


@dataclass(frozen=True)
class IsNull:
    column: str
    negated: bool


@dataclass(frozen=True)
class Logic:
    operator: str
    parts: tuple[object, ...]


@dataclass(frozen=True)
class Not:
    part: object


def holds(condition: object, row: Row) -> bool | None:
    """Three-valued."""
    match condition:
        case Compare(column, operator, value):
            return _compared(row[column], operator, value)
        case IsNull(column, negated):
            return (row[column] is None) is not negated
        case Not(part):
            found = holds(part, row)
            return None if found is None else not found
        case Logic(operator, parts):
            found = [holds(part, row) for part in parts]
            decisive = operator == "or"
            if decisive in found:
                return decisive
            return None if None in found else not decisive
    raise AssertionError(condition)


def _compared(left: object, operator: str, right: object) -> bool | None:
    if left is None or right is None:
        return None
    one, other = _ordered(left), _ordered(right)
    return {
        "=": one == other,
        "!=": one != other,
        "<": one < other,
        "<=": one <= other,
        ">": one > other,
        ">=": one >= other,
    }[operator]


def _ordered(value: object) -> tuple[bool, object]:
    """NaN is itself and above every number; text goes by its bytes."""
    if isinstance(value, float) and math.isnan(value):
        return (True, 0)
    return (False, value.encode() if isinstance(value, str) else value)


# -- mutations -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Copy:
    """The value another property of the row has."""

    column: str


@dataclass(frozen=True)
class Insert:
    table: Table
    values: dict[str, object]
    source: str | None = None
    target: str | None = None


@dataclass(frozen=True)
class Update:
    table: Table
    values: dict[str, object]
    where: object


@dataclass(frozen=True)
class Delete:
    table: Table
    where: object


def mutate(schema: Schema, before: State, statements: list[Insert | Update | Delete]) -> Outcome:
    change = Change(copied(before))
    counted = Counter()
    effective = False
    for statement in statements:
        run = {Insert: _insert, Update: _update, Delete: _delete}[type(statement)]
        effective |= run(schema, change, statement, counted)
    for table in schema.tables:
        for entity_id in change.written.get(table.table_key, ()):
            change.kinds |= row_faults(table, change.state[table.table_key][entity_id])
    change.kinds |= graph_faults(schema, before, change)
    if change.kinds:
        return Refused(frozenset(change.kinds))
    return Done(change.state, counted["node"], counted["edge"], effective)


def _insert(schema: Schema, change: Change, statement: Insert, counted: Counter) -> bool:
    table = statement.table
    row: Row = {prop.name: statement.values.get(prop.name, prop.default) for prop in table.props}
    if table.is_edge:
        row |= {"src": statement.source, "dst": statement.target}
    keyless = not table.key or any(row[name] is None for name in table.key)
    row["id"] = fresh_id() if keyless else derive_id(table, row)
    change.write(table, row)
    counted[table.kind] += 1
    return True


def _update(schema: Schema, change: Change, statement: Update, counted: Counter) -> bool:
    table = statement.table
    effective = False
    for row in _matched(change, table, statement.where):
        counted[table.kind] += 1
        given = statement.values.items()
        new = row | {name: row[value.column] if isinstance(value, Copy) else value for name, value in given}
        if exact_row(new) != exact_row(row):
            change.write(table, new)
            effective = True
    return effective


def _delete(schema: Schema, change: Change, statement: Delete, counted: Counter) -> bool:
    table = statement.table
    gone = {row["id"] for row in _matched(change, table, statement.where)}
    counted[table.kind] += len(gone)
    for entity_id in gone:
        change.remove(table, entity_id)
    if not table.is_edge:
        for edge in schema.touching(table.name):
            counted["edge"] += _cascade(change, table, edge, gone)
    return bool(gone)


def _cascade(change: Change, node: Table, edge: Table, gone: set[str]) -> int:
    rows = change.state[edge.table_key].values()
    columns = [column for column, key in edge.ends if key == node.table_key]
    doomed = [row["id"] for row in rows if any(row[column] in gone for column in columns)]
    for entity_id in doomed:
        change.remove(edge, entity_id)
    return len(doomed)


def _matched(change: Change, table: Table, where: object) -> list[Row]:
    return [row for row in change.state[table.table_key].values() if holds(where, row) is True]


# -- loads -----------------------------------------------------------------------------------------------


def load(schema: Schema, before: State, records: list[dict], mode: str) -> Outcome:
    change = Change(copied(before))
    rows: dict[str, list[tuple[Row, bool]]] = {}
    for record in records:
        table = next((t for t in schema.tables if t.name == record.get(t.kind.replace("node", "type"))), None)
        if table is None:
            change.kinds.add("unknown_type")
        else:
            rows.setdefault(table.table_key, []).append(_typed(table, record, change.kinds))
    taken = False
    for table in schema.tables:
        if table.table_key in rows:
            taken |= _put(change, before, table, rows[table.table_key], mode)
    change.kinds |= graph_faults(schema, before, change)
    if change.kinds:
        return Refused(frozenset(change.kinds))
    if taken:
        return Taken()
    counts = Counter(key.partition(":")[0] for key, found in rows.items() for _ in _ids(found))
    return Done(change.state, counts["node"], counts["edge"])


def _ids(rows: list[tuple[Row, bool]]) -> set[str]:
    """Entities, not records: of several records of one id the last one is loaded."""
    return {row["id"] for row, _ in rows}


def _typed(table: Table, record: dict, kinds: set[str]) -> tuple[Row, bool]:
    """The row of a record, and whether its id was given or follows from the key."""
    data = record.get("data", {})
    row: Row = {}
    bad: set[str] = set()
    for prop in table.props:
        try:
            row[prop.name] = read_json(data[prop.name], prop) if prop.name in data else prop.default
        except Unfit:
            row[prop.name] = None
            bad.add(prop.name)
    if bad:
        kinds.add("type")
    if data.keys() - {prop.name for prop in table.props} - {"id"}:
        kinds.add("unknown_property")
    kinds |= row_faults(table, row, bad)
    if table.is_edge:
        row |= {"src": record["from"], "dst": record["to"]}
    return _with_id(table, row, data, kinds)


def _with_id(table: Table, row: Row, data: dict, kinds: set[str]) -> tuple[Row, bool]:
    supplied = data.get("id")
    if "id" in data and not isinstance(supplied, str):
        kinds.add("type")
        supplied = None
    if table.key and all(_is_key_value(row[name], kinds) for name in table.key):
        row["id"] = derive_id(table, row)
        if supplied is not None and supplied != row["id"]:
            kinds.add("key")
        return row, True
    row["id"] = fresh_id() if supplied is None else supplied
    return row, supplied is not None


def _is_key_value(value: object, kinds: set[str]) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        kinds.add("key")
        return False
    return value is not None


def _put(change: Change, before: State, table: Table, rows: list[tuple[Row, bool]], mode: str) -> bool:
    """Put the rows of a table in; tells whether a strict insert met one of them."""
    key = table.table_key
    ids = [row["id"] for row, _ in rows]
    if len(set(ids)) < len(ids) and (mode == "append" or table.key):
        change.kinds.add("key")
    if mode == "overwrite":
        change.state[key] = {}
    for row, _ in rows:
        change.write(table, row)
    return mode == "append" and any(entity_id in before[key] for entity_id in ids)


# -- rules -----------------------------------------------------------------------------------------------


def row_faults(table: Table, row: Row, known: set[str] = frozenset()) -> set[str]:
    """Rules of single rows. `known` are cells that are reported as something else."""
    kinds = set()
    for prop in table.props:
        value = row[prop.name]
        if value is None:
            if not prop.nullable and prop.name not in known:
                kinds.add("required")
        elif prop.enum is not None and value not in prop.enum:
            kinds.add("enum")
        elif prop.limits is not None and not _within(value, prop.limits):
            kinds.add("range")
    return kinds


def _within(value: float, limits: tuple[int | None, int | None]) -> bool:
    low, high = limits
    return value == value and (low is None or low <= value) and (high is None or value <= high)


def graph_faults(schema: Schema, before: State, change: Change) -> set[str]:
    """Rules of several rows, for what a write touches."""
    kinds = set()
    for table in schema.tables:
        if table.is_edge:
            kinds |= _end_faults(table, change)
            if table.table_key in change.written and _counts_break(table, before, change):
                kinds.add("cardinality")
        if table.table_key in change.written and any(_repeats(change, table, names) for names in table.uniques):
            kinds.add("unique")
    return kinds


def _end_faults(edge: Table, change: Change) -> set[str]:
    written = change.written.get(edge.table_key, set())
    kinds = set()
    for entity_id, row in change.state[edge.table_key].items():
        if any(row[column] not in change.state[key] for column, key in edge.ends):
            kinds.add("endpoint" if entity_id in written else "reference")
    return kinds


def _counts_break(edge: Table, before: State, change: Change) -> bool:
    low, high = edge.card
    key = edge.table_key
    after, written = change.state[key], change.written[key]
    touched = {after[entity_id]["src"] for entity_id in written}
    touched |= {row["src"] for entity_id, row in before[key].items() if entity_id in written or entity_id not in after}
    counts = Counter(row["src"] for row in after.values())
    nodes = change.state[f"node:{edge.source}"]
    for source in touched:
        found = counts[source]
        if found == 0 and source not in nodes:
            continue
        if found < low or (high is not None and found > high):
            return True
    return False


def _repeats(change: Change, table: Table, names: tuple[str, ...]) -> bool:
    seen = set()
    for row in change.state[table.table_key].values():
        value = tuple(_ordered(row[name]) for name in names)
        if any(row[name] is None for name in names):
            continue
        if value in seen:
            return True
        seen.add(value)
    return False


# -- ids the product made --------------------------------------------------------------------------------


def adopt(expected: dict[str, Row], actual: dict[str, Row]) -> dict[str, Row]:
    """Give rows with fresh ids the ids that the product made, matched by content."""
    known = {entity_id: row for entity_id, row in expected.items() if not is_fresh(entity_id)}
    new = sorted((row for entity_id, row in actual.items() if entity_id not in known), key=_content)
    fresh = sorted((row for entity_id, row in expected.items() if is_fresh(entity_id)), key=_content)
    for mine, theirs in zip(fresh, new, strict=False):
        known[theirs["id"]] = mine | {"id": theirs["id"]}
    return known


def _content(row: Row) -> str:
    return repr(exact_row(row | {"id": None}))
