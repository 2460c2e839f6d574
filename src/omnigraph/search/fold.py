"""Accents and ligatures as plain letters: `café` is found by `cafe`."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_LETTERS = str.maketrans(
    {
        "æ": "ae",
        "ǽ": "ae",
        "ǣ": "ae",
        "œ": "oe",
        "ø": "o",
        "ǿ": "o",
        "ß": "ss",
        "ð": "d",
        "þ": "th",
        "đ": "d",
        "ħ": "h",
        "ı": "i",
        "ĸ": "k",
        "ł": "l",
        "ŋ": "n",
        "ŧ": "t",
        "ſ": "s",
    }
)


@lru_cache(maxsize=4_096)
def fold_accents(word: str) -> str:
    """Give the word in plain Latin letters, as far as it has such."""
    return word if word.isascii() else "".join(map(_fold, word))


@lru_cache(maxsize=4_096)
def _fold(letter: str) -> str:
    parts = unicodedata.normalize("NFKD", letter).translate(_LETTERS)
    return "".join(part for part in parts if part.isascii() and not part.isspace()) or letter
