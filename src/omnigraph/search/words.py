"""Words of a text, as Lance's full-text index makes them by default: what is equal there is equal here.

A word is a run of letters and digits of fewer than 40 bytes. It is written small, reduced to its stem, left out if it
is a stop word, and rid of accents, in this order. Words that are left out still count as positions in a phrase.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from omnigraph.search.fold import fold_accents
from omnigraph.search.letters import ASCII_WORD, word_pattern
from omnigraph.search.stem import stem

if TYPE_CHECKING:
    from collections.abc import Sequence

BYTES_END = 40
END = "\x1e"
"""What no word contains."""
_ASCII_WORD_OR_END = re.compile(f"[A-Za-z0-9]+|{END}")
_STOP_WORDS = """
a about after again against all am an and are as at be been below between both but by can did do down each few
for from further had has have he her here herself him himself his how i if in into is it itself just me more
most my myself now of off on or other our out over own re same she should so some such than that the their
them then there these they this those through to too under until up was we were what when where which while
who whom will with you your yourself
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question, and where it stands in it."""

    text: str
    position: int


def raw_words(text: str) -> list[str]:
    """Give the words of a text as they stand there, also those that are left out."""
    return ASCII_WORD.findall(text) if text.isascii() else word_pattern().findall(text)


def words_with_ends(texts: Sequence[str]) -> list[str]:
    """The words of several texts as they stand there; after each text but the last comes an END."""
    joined = END.join(texts)
    if joined.isascii() and joined.count(END) == max(0, len(texts) - 1):
        return _ASCII_WORD_OR_END.findall(joined)
    found: list[str] = []
    for text in texts:
        found += raw_words(text)
        found.append(END)
    return found[:-1]


def words_of(text: str) -> list[Word]:
    """Give the words of a text that are searched for."""
    return [Word(normal, at) for at, raw in enumerate(raw_words(text)) if (normal := normalise(raw)) is not None]


@lru_cache(maxsize=65_536)
def normalise(raw: str) -> str | None:
    """Give what a word is found by; None if it is left out."""
    if len(raw) >= BYTES_END or len(raw.encode()) >= BYTES_END:
        return None
    word = stem(lower(raw))
    return None if word in STOP_WORDS else fold_accents(word)


@lru_cache(maxsize=65_536)
def spelling(raw: str) -> str | None:
    """Give a word as it is spelt: neither stemmed nor accented; None if it is left out."""
    return None if normalise(raw) is None else fold_accents(lower(raw))


def lower(raw: str) -> str:
    """Small letters, each by itself: at the end of a word a sigma stays the same letter."""
    return raw.lower() if raw.isascii() else "".join(map(str.lower, raw))
