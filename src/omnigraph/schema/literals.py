"""Numbers and strings as they are written, both ways."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import Span

if TYPE_CHECKING:
    from omnigraph.model.diagnostics import Findings

INTEGER_MIN, INTEGER_MAX = -(2**63), 2**64 - 1

ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
_WRITTEN = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SPECIAL = re.compile(r'["\\\n\r\t]')


def read_string(token: str, start: int, findings: Findings) -> str:
    """Give the text of a quoted string, reporting escapes that do not exist at their exact place."""

    def replace(match: re.Match[str]) -> str:
        escaped = match.group(1)
        if escaped not in ESCAPES:
            at = start + 1 + match.start()
            findings.add(
                f"unsupported escape '\\{escaped}'",
                Span(at, at + 2),
                hint=r"a string knows \" \\ \n \r \t; write a backslash as \\",
            )
        return ESCAPES.get(escaped, escaped)

    return ESCAPE.sub(replace, token[1:-1])


def write_string(text: str) -> str:
    """Quote a text, the inverse of `read_string`."""
    return '"' + _SPECIAL.sub(lambda m: _WRITTEN[m.group()], text) + '"'


def read_number(text: str, span: Span, findings: Findings) -> int | float:
    """Give the value of a number, reporting one that no property could hold."""
    if "." in text:
        value = float(text)
        if math.isfinite(value):
            return value
    # The length test comes first: Python refuses to convert thousands of digits.
    elif len(text) <= 21 or len(text.lstrip("-0")) <= 20:
        whole = int(text) if len(text) <= 21 else int("-" * text.startswith("-") + text.lstrip("-0"))
        if INTEGER_MIN <= whole <= INTEGER_MAX:
            return whole
    findings.add("number is too large", span, hint=f"whole numbers go from {INTEGER_MIN} to {INTEGER_MAX}")
    return 0


def write_number(value: float) -> str:
    """Write a number without an exponent, the inverse of `read_number`."""
    if isinstance(value, int):
        return str(value)
    text = format_float(value)
    return text if "." in text else text + ".0"


def format_float(value: float, shortest: str | None = None) -> str:
    """Write the shortest decimal that reads back as the same number: no exponent, no `.0` at the end."""
    text = repr(value) if shortest is None else shortest
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    digits, _, exponent = text.partition("e")
    whole, _, fraction = digits.partition(".")
    point = len(whole) + int(exponent or 0)
    significant = whole + fraction
    if point <= 0:
        whole, fraction = "0", "0" * -point + significant
    else:
        padded = significant.ljust(point, "0")
        whole, fraction = padded[:point], padded[point:]
    fraction = fraction.rstrip("0")
    return sign + (whole.lstrip("0") or "0") + ("." + fraction if fraction else "")
