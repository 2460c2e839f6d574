"""Days and times as texts, read the same way in literals, in parameters and in data."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

DATE_FORM = "YYYY-MM-DD"
DATE_TIME_FORM = "YYYY-MM-DDTHH:MM:SSZ"

# `fromisoformat` knows more forms (weeks, no hyphens) than the language promises.
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DATE_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?", re.ASCII
)


def read_date(text: str) -> date:
    """Read a day; a time of day is refused. Raises ValueError."""
    if not _DATE.fullmatch(text):
        raise ValueError(text)
    return date.fromisoformat(text)


def read_date_time(text: str) -> datetime:
    """Read a time as UTC, in the milliseconds that are stored. Raises ValueError."""
    if not _DATE_TIME.fullmatch(text):
        raise ValueError(text)
    moment = datetime.fromisoformat(text)
    try:
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(text) from None
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
