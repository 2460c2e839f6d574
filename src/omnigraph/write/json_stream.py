"""The permissive parser: JSON values one after the other, over as many lines as they like."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from omnigraph.model.violations import ViolationKind
from omnigraph.write.json_lines import BOM, NESTED, read_together, refuse_constant

if TYPE_CHECKING:
    from omnigraph.write.report import Report

_SPACE = re.compile(r"[ \t\r\n]*")
_DIGITS_MAX = 30


def read_stream(text: bytes, first_line: int, report: Report) -> tuple[list[Any], np.ndarray]:
    """Parse a whole text; give the values and the numbers of the lines they start on. Stops at what is no JSON."""
    text = text.removeprefix(BOM)
    lines = text.split(b"\n")
    numbers = [number for number, line in enumerate(lines, first_line) if line.strip()]
    if not numbers:
        return [], np.empty(0, np.int64)
    together = read_together([line for line in lines if line.strip()])
    if together is not None:
        return together.values, np.array(numbers, np.int64)
    try:
        return _values(text.decode(), first_line, report)
    except UnicodeDecodeError as wrong:
        line, column = _place(text[: wrong.start].decode(), wrong.start)
        message = f"byte 0x{text[wrong.start]:02x} at column {column} is not UTF-8"
        report.add(ViolationKind.SYNTAX, message, first_line + line)
        return [], np.empty(0, np.int64)


def _values(text: str, first_line: int, report: Report) -> tuple[list[Any], np.ndarray]:
    decoder = json.JSONDecoder(parse_constant=refuse_constant, parse_int=_integer)
    values: list[Any] = []
    numbers: list[int] = []
    line, counted, at = first_line, 0, _skip(text, 0)
    while at < len(text):
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            message, below = _explain(text, at, error)
            report.add(ViolationKind.SYNTAX, message, line + below)
            break
        values.append(value)
        numbers.append(line)
        at = _skip(text, end)
    return values, np.array(numbers, np.int64)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS_MAX else float(digits)


def _explain(text: str, start: int, error: Exception) -> tuple[str, int]:
    """Say what is wrong, and how many lines below the start of the record."""
    if isinstance(error, RecursionError):
        return NESTED, 0
    if not isinstance(error, json.JSONDecodeError):
        return str(error), 0
    end = len(text.rstrip())
    at = min(error.pos, end)
    below, column = text.count("\n", start, at), at - text.rfind("\n", 0, at)
    if at == end:
        return f"the text ends in the middle of a record, at column {column}", below
    return f"invalid JSON at column {column}: {error.msg}", below


def _place(text: str, at: int) -> tuple[int, int]:
    """Give the line, from zero, and the column, from one."""
    at = min(at, len(text))
    return text.count("\n", 0, at), at - text.rfind("\n", 0, at)
