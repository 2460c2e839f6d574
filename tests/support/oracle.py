"""A plain evaluator of scalar expressions, written from the documentation and not from the engine.

It is slow and obvious on purpose: what the engine computes is compared with it.
"""

import math
import re
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from omnigraph.model.times import read_date, read_date_time
from omnigraph.model.types import INTEGER_BOUNDS, PropType, ScalarType
from omnigraph.query import ir
from omnigraph.schema.literals import format_float

Row = Mapping[str, Any]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EPOCH_DAY = date(1970, 1, 1)
UNIT_MS = {"hour": 3_600_000, "minute": 60_000, "second": 1_000, "day": 86_400_000, "week": 7 * 86_400_000}
UNIT_MONTHS = {"month": 1, "quarter": 3, "year": 12}
SPACE = "".join(
    map(chr, [*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000])
)


class Overflow(Exception):
    """A value that its type cannot hold: the whole query fails."""


class Oracle:
    """Evaluates expressions over the row of a mutation."""

    def __init__(self, row: Row, params: Mapping[str, Any], now: datetime) -> None:
        self.row, self.params, self.now = row, params, now

    def value(self, node: ir.Expression) -> Any:
        return getattr(self, "_" + type(node).__name__.lower())(node)

    # -- values

    def _literal(self, node: ir.Literal) -> Any:
        if isinstance(node.type, PropType) and node.type.scalar.is_float and node.value is not None:
            return [float(v) for v in node.value] if isinstance(node.value, tuple) else float(node.value)
        return list(node.value) if isinstance(node.value, tuple) else node.value

    def _parameter(self, node: ir.Parameter) -> Any:
        value = self.params[node.name]
        return list(value) if isinstance(value, tuple) else value

    def _now(self, node: ir.Now) -> Any:
        return self.now.replace(microsecond=self.now.microsecond // 1000 * 1000)

    def _property(self, node: ir.Property) -> Any:
        return self.row[node.name]

    def _identity(self, node: ir.Identity) -> Any:
        return self.row[node.field.value]

    def _listof(self, node: ir.ListOf) -> Any:
        return [stored(self.value(item), node.type.scalar) for item in node.items]

    # -- operators

    def _compare(self, node: ir.Compare) -> bool | None:
        left, right = self.value(node.left), self.value(node.right)
        return None if left is None or right is None else COMPARE[node.operator](left, right)

    def _member(self, node: ir.Member) -> bool | None:
        item = self.value(node.item)
        items = (
            [self.value(each) for each in node.items.items]
            if isinstance(node.items, ir.ListOf)
            else self.value(node.items)
        )
        if item is None or items is None:
            return None
        if any(each is not None and order(item, each) == 0 for each in items):
            return not node.negated
        return None if None in items else node.negated

    def _isnull(self, node: ir.IsNull) -> bool:
        return (self.value(node.operand) is None) != node.negated

    def _logic(self, node: ir.Logic) -> bool | None:
        found = [self.value(operand) for operand in node.operands]
        decisive = node.operator == "or"
        if decisive in found:
            return decisive
        return None if None in found else not decisive

    def _not(self, node: ir.Not) -> bool | None:
        found = self.value(node.operand)
        return None if found is None else not found

    def _arithmetic(self, node: ir.Arithmetic) -> Any:
        operands = [self.value(operand) for operand in node.operands]
        return steps(operands, [is_integer(operand) for operand in node.operands], node.operators)

    def _negate(self, node: ir.Negate) -> Any:
        value = self.value(node.operand)
        if value is None:
            return None
        return whole(-value) if is_integer(node.operand) else -float(value)

    # -- functions

    def _call(self, node: ir.Call) -> Any:
        arguments = [self.value(argument) for argument in node.arguments]
        scalars = [a.type.scalar if isinstance(a.type, PropType) else None for a in node.arguments]
        if node.function == "coalesce":
            found = next((value for value in arguments if value is not None), None)
            return stored(found, node.type.scalar)
        if None in arguments:
            return None
        if node.function == "concat":
            return "".join(text_of(value, scalar) for value, scalar in zip(arguments, scalars, strict=True))
        if node.function in TYPED:
            return TYPED[node.function](arguments[0], scalars[0])
        return PLAIN[node.function](*arguments)


def is_integer(node: ir.Expression) -> bool:
    return isinstance(node.type, PropType) and node.type.scalar.is_integer


def whole(value: int, scalar: ScalarType = ScalarType.I64) -> int:
    least, most = INTEGER_BOUNDS[scalar]
    if not least <= value <= most:
        raise Overflow(value)
    return value


def stored(value: Any, scalar: ScalarType) -> Any:
    if value is None:
        return None
    if scalar.is_integer:
        return whole(value, scalar)
    return float(value) if scalar.is_float else value


# -- comparisons ---------------------------------------------------------------------------------------


def order(left: Any, right: Any) -> int:
    """-1, 0 or 1. NaN is the largest number; text goes by its bytes; an integer meets a float as a float."""
    if isinstance(left, str):
        left, right = left.encode(), right.encode()
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) - math.isnan(right)
    return (left > right) - (left < right)


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: order(a, b) == 0,
    "!=": lambda a, b: order(a, b) != 0,
    "<": lambda a, b: order(a, b) < 0,
    "<=": lambda a, b: order(a, b) <= 0,
    ">": lambda a, b: order(a, b) > 0,
    ">=": lambda a, b: order(a, b) >= 0,
    "contains": lambda a, b: b in a,
    "starts_with": lambda a, b: a.startswith(b),
    "ends_with": lambda a, b: a.endswith(b),
}


# -- arithmetic ----------------------------------------------------------------------------------------


def steps(operands: list[Any], integer: list[bool], operators: tuple[str, ...]) -> Any:
    """From left to right. An operand that does not fit in I64 is an error beside a null too."""
    result, result_whole = operands[0], integer[0]
    for operator, operand, operand_whole in zip(operators, operands[1:], integer[1:], strict=True):
        result_whole = result_whole and operand_whole and operator != "/"
        scalar = ScalarType.I64 if result_whole else ScalarType.F64
        left, right = stored(result, scalar), stored(operand, scalar)
        step = step_whole if result_whole else step_float
        result = None if left is None or right is None else step(operator, left, right)
    return result


def step_whole(operator: str, a: int, b: int) -> int | None:
    if operator == "%":
        return None if b == 0 else rest(a, b)
    return whole({"+": a + b, "-": a - b, "*": a * b}[operator])


def rest(a: int, b: int) -> int:
    """The remainder has the sign of what is divided."""
    found = abs(a) % abs(b)
    return -found if a < 0 else found


def step_float(operator: str, a: float, b: float) -> float | None:
    if operator in "/%" and b == 0:
        return None
    if operator == "%":
        return math.nan if math.isnan(a) or math.isnan(b) or math.isinf(a) else math.fmod(a, b)
    try:
        return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[operator]()
    except OverflowError:
        return math.inf


def round_half_up(value: float) -> float:
    if not math.isfinite(value):
        return value
    with localcontext() as context:
        context.prec = 400
        return float(Decimal(value).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def rounded(value: float, places: int = 0) -> float:
    value = float(value)
    if places == 0:
        return round_half_up(value)
    factor = 10.0 ** abs(places) if abs(places) <= 308 else math.inf
    if places > 0:
        moved = value * factor
        return round_half_up(moved) / factor if abs(moved) < 2**52 else value
    return 0.0 if places < -308 else round_half_up(value / factor) * factor


def absolute(value: Any, scalar: ScalarType | None) -> Any:
    return stored(abs(value), scalar or ScalarType.F64)


def power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
    except ValueError:
        if base == 0:
            return math.copysign(math.inf, base) if exponent % 2 == 1 else math.inf
        return math.nan


def floored(value: float) -> float:
    return float(math.floor(value)) if math.isfinite(value) else float(value)


def ceiled(value: float) -> float:
    return float(math.ceil(value)) if math.isfinite(value) else float(value)


def root(value: float) -> float | None:
    return None if value < 0 else math.sqrt(value)


# -- text ----------------------------------------------------------------------------------------------


def substring(text: str, start: int, length: int | None = None) -> str:
    end = len(text) if length is None else start + max(length, 0) - 1
    return "".join(character for position, character in enumerate(text, 1) if start <= position <= end)


def text_of(value: Any, scalar: ScalarType | None) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return "0" if value == 0 else format_float(value, shortest_single(value) if scalar is ScalarType.F32 else None)
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, date) else str(value)


def shortest_single(value: float) -> str:
    for digits in range(1, 10):
        text = f"{value:.{digits - 1}e}"
        if struct.pack("<f", float(text)) == struct.pack("<f", value):
            return text
    raise AssertionError(value)


# -- times ---------------------------------------------------------------------------------------------


def millis(time: date) -> int:
    if isinstance(time, datetime):
        return (time - EPOCH) // timedelta(milliseconds=1)
    return (time - EPOCH_DAY).days * UNIT_MS["day"]


def like(time: date, ms: int) -> date:
    """A time of the same kind; a Date is the day the time lies in."""
    moment = EPOCH + timedelta(milliseconds=ms)
    return moment if isinstance(time, datetime) else moment.date()


def ordinal(unit: str, time: date) -> int:
    if unit in UNIT_MONTHS:
        return (time.year * 12 + time.month - 1) // UNIT_MONTHS[unit]
    shift = 4 * UNIT_MS["day"] if unit == "week" else 0
    return (millis(time) - shift) // UNIT_MS[unit]


def truncated(unit: str, time: date) -> date:
    if unit in UNIT_MONTHS:
        months = ordinal(unit, time) * UNIT_MONTHS[unit]
        return like(time, millis(date(months // 12, months % 12 + 1, 1)))
    shift = 4 * UNIT_MS["day"] if unit == "week" else 0
    return like(time, ordinal(unit, time) * UNIT_MS[unit] + shift)


def added(unit: str, count: int, time: date) -> date:
    if unit not in UNIT_MONTHS:
        return like(time, millis(time) + count * UNIT_MS[unit])
    months = time.year * 12 + time.month - 1 + count * UNIT_MONTHS[unit]
    first = date(months // 12, months % 12 + 1, 1)
    last = 31
    while True:
        try:
            return time.replace(first.year, first.month, min(time.day, last))
        except ValueError:
            last -= 1


def to_date(value: Any, scalar: ScalarType | None) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    try:
        return read_date(value)
    except ValueError:
        return None


def to_date_time(value: Any, scalar: ScalarType | None) -> datetime | None:
    if isinstance(value, date):
        return EPOCH + timedelta(milliseconds=millis(value))
    try:
        return read_date_time(value)
    except ValueError:
        return None


# -- numbers from values -------------------------------------------------------------------------------


def to_int(value: Any, scalar: ScalarType | None) -> int | None:
    if isinstance(value, str):
        if not re.fullmatch(r"[+-]?[0-9]+", value):
            return None
        value = int(value)
    elif isinstance(value, date):
        value = (value - EPOCH_DAY).days if not isinstance(value, datetime) else millis(value)
    elif isinstance(value, float):
        if not value.is_integer():
            return None
        value = int(value)
    least, most = INTEGER_BOUNDS[ScalarType.I64]
    return int(value) if least <= value <= most else None


def to_float(value: Any, scalar: ScalarType | None) -> float | None:
    if isinstance(value, str):
        if not re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", value):
            return None
        return float(value) if math.isfinite(float(value)) else None
    return float(to_int(value, scalar)) if isinstance(value, date) else float(value)


TYPED: dict[str, Callable[[Any, ScalarType | None], Any]] = {
    "abs": absolute,
    "to_string": text_of,
    "to_int": to_int,
    "to_float": to_float,
    "date": to_date,
    "datetime": to_date_time,
}
PLAIN: dict[str, Callable[..., Any]] = {
    "lower": lambda text: "".join(c.lower() if len(c.lower()) == 1 else c for c in text),
    "upper": lambda text: "".join(c.upper() if len(c.upper()) == 1 else c for c in text),
    "trim": lambda text: text.strip(SPACE),
    "length": len,
    "substring": substring,
    "replace": lambda text, old, new: text.replace(old, new) if old else text,
    "split": lambda text, separator: text.split(separator) if separator else [text],
    "round": rounded,
    "floor": floored,
    "ceil": ceiled,
    "sqrt": root,
    "power": power,
    "year": lambda time: time.year,
    "month": lambda time: time.month,
    "day": lambda time: time.day,
    "hour": lambda time: time.hour,
    "minute": lambda time: time.minute,
    "second": lambda time: time.second,
    "date_trunc": truncated,
    "date_diff": lambda unit, first, second: ordinal(unit, second) - ordinal(unit, first),
    "date_add": added,
}
