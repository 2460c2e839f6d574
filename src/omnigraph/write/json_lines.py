"""Strict NDJSON: lines in, one JSON value for each line out, every line that is wrong reported."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
import orjson

from omnigraph.model.violations import ViolationKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.write.report import Report

BOM = b"\xef\xbb\xbf"
NESTED = "the record is nested too deeply"
NO_NUMBER = 'is no JSON; write it as a string, like "NaN", for a property of type F64'

_BLANK = b" \t\r\n"
_NAN = re.compile(r"-?(?:NaN|Infinity)")
_SPACES = (b" ", b"\t", b"\r")
_WIDE_STARTS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00", b"\x00{", b"{\x00", b" \x00", b"\x00 ", b"\n\x00", b"\x00\n")


def read_lines(lines: Sequence[bytes], first_line: int, report: Report) -> tuple[list[Any], np.ndarray]:
    """Parse lines; give the values and the numbers of their lines. Lines that are wrong are left out."""
    kept, numbers = _not_blank(lines, first_line)
    if not kept:
        return [], numbers
    together = read_together(kept)
    if together is not None:
        keys = sum(map(_keys, together.values))
        if not _suspicious(together.text, keys, line_breaks=2 * len(kept) - 2):
            return together.values, numbers
    kept, values, numbers = _each(kept, numbers, report)
    return _without_repeated_keys(kept, values, numbers, report)


def encoding_fault(start: bytes) -> str | None:
    """Tell what is wrong with the encoding of an input, from its first bytes."""
    if start.startswith(_WIDE_STARTS):
        return "this is not UTF-8; it looks like UTF-16 or UTF-32: convert it to UTF-8 first"
    return None


def _not_blank(lines: Sequence[bytes], first_line: int) -> tuple[Sequence[bytes], np.ndarray]:
    numbers = np.arange(first_line, first_line + len(lines), dtype=np.int64)
    if all(lines) and not any(map(bytes.isspace, lines)):
        return lines, numbers
    flags = [bool(line.strip(_BLANK)) for line in lines]
    return [line for line, flag in zip(lines, flags, strict=True) if flag], numbers[np.array(flags, np.bool_)]


# -- parsing -------------------------------------------------------------------------------------------


class Together(NamedTuple):
    """The values of many lines, and the one text they were parsed from."""

    values: list[Any]
    text: bytes


def read_together(lines: Sequence[bytes]) -> Together | None:
    """Parse many lines in one call; None if not every line is exactly one JSON value.

    Between the lines stands a number that is in none of them. If it comes out between all values, then no
    line was continued by the next: not in an array, where the number would be swallowed, not in an
    object, where it would be a key, not in a string, where a line break is forbidden.
    """
    mark, between = 7_310_596_140_000, len(lines) - 1
    text = _joined(lines, mark)
    while text.count(str(mark).encode()) != between:
        mark += 1
        text = _joined(lines, mark)
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    marks = found[1::2]
    if len(found) != 2 * between + 1 or marks.count(mark) != between or not set(map(type, marks)) <= {int}:
        return None
    return Together(found[::2], text)


def _joined(lines: Sequence[bytes], mark: int) -> bytes:
    return b"[" + f"\n,{mark},\n".encode().join(lines) + b"]"


def _each(lines: Sequence[bytes], numbers: np.ndarray, report: Report) -> tuple[list[bytes], list[Any], np.ndarray]:
    good: list[int] = []
    values: list[Any] = []
    for index, line in enumerate(lines):
        try:
            values.append(orjson.loads(line))
            good.append(index)
        except orjson.JSONDecodeError as error:
            report.add(ViolationKind.SYNTAX, explain(line, error), int(numbers[index]))
    return [lines[index] for index in good], values, numbers[np.array(good, np.int64)]


def explain(line: bytes, error: json.JSONDecodeError) -> str:
    """Say what is wrong with a line, and at which column."""
    try:
        text = line.decode()
    except UnicodeDecodeError as wrong:
        column = len(line[: wrong.start].decode()) + 1
        return f"byte 0x{line[wrong.start]:02x} at column {column} is not UTF-8"
    if "\x00" in text:
        return f"there is a null byte at column {text.index(chr(0)) + 1}"
    column = error.pos + 1
    no_number = _NAN.search(text, max(0, error.pos - 1), error.pos + 10)
    if no_number is not None:
        return f"{no_number.group()} at column {no_number.start() + 1} {NO_NUMBER}"
    if error.pos >= len(text.rstrip()):
        return f"the record is not complete, the line ends at column {column}; every record is one whole line"
    if "after document" in error.msg:
        return f"there is more text after the record, at column {column}; every record is on a line of its own"
    if "depth limit" in error.msg:
        return f"{NESTED}, at column {column}"
    if "infinity" in error.msg:
        return f"the number at column {column} is too large"
    return f"invalid JSON at column {column}: {error.msg}"


# -- repeated keys -------------------------------------------------------------------------------------


def _without_repeated_keys(
    lines: Sequence[bytes], values: list[Any], numbers: np.ndarray, report: Report
) -> tuple[list[Any], np.ndarray]:
    """Leave out records that have a key twice: the parser keeps the last one without a word.

    A key ends in `":`, and in JSON without a space before the colon nothing else does but text. So if there are
    as many of these as keys came out, no key was lost; if not, the line is looked at closely.
    """
    good: list[int] = []
    for index, line in enumerate(lines):
        wrong = repeated_key(line) if _suspicious(line, _keys(values[index])) else None
        if wrong is None:
            good.append(index)
        else:
            report.add(ViolationKind.SYNTAX, wrong, int(numbers[index]))
    return [values[index] for index in good], numbers[np.array(good, np.int64)]


def _suspicious(text: bytes, keys: int, line_breaks: int = 0) -> bool:
    """Tell whether a key may have been lost. Cheap tests first; `line_breaks` are known to stand before no colon."""
    if text.count(b":") == keys:
        return False
    if text.count(b'":') != keys or any(space in text and space + b":" in text for space in _SPACES):
        return True
    return text.count(b"\n") != line_breaks and b"\n:" in text


def _keys(value: Any) -> int:
    """Count the keys of a record as deep as records go, never too many; deeper ones make the line suspicious."""
    if type(value) is not dict:
        return 0
    data = value.get("data")
    return len(value) + len(data) if type(data) is dict else len(value)


def repeated_key(line: bytes) -> str | None:
    """Say which key of a valid line comes twice, in any of its objects."""
    try:
        json.loads(line, object_pairs_hook=_unlike, parse_int=_nothing)
    except _Repeated as repeated:
        return f"the key {str(repeated)!r} is there twice"
    except RecursionError:
        return NESTED
    return None


class _Repeated(Exception):
    """A key is there twice."""


def _unlike(pairs: list[tuple[str, object]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _Repeated(key)
        seen.add(key)


def _nothing(_: str) -> None:
    """Read no number: Python refuses those of thousands of digits."""


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities, which Python's parser takes for numbers."""
    raise ValueError(f"{name} {NO_NUMBER}")
