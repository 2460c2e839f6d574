"""A column of texts, cut into words once: which rows match, and how well (BM25)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from omnigraph.search.distance import within
from omnigraph.search.words import END, Word, normalise, raw_words, spelling, words_with_ends

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Small = np.ndarray[tuple[int], np.dtype[np.int32]]
Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

SATURATION = 1.2
LENGTH_WEIGHT = 0.75
_LETTER_BITS = 64
_VOCABULARY_BYTES = 200
_TEXTS_AT_ONCE = 4096


@dataclass(frozen=True)
class Texts:
    """Rows of words. A word is a number in a vocabulary of words as they were written."""

    vocabulary: dict[str, int]
    words: Small
    """The words of all rows, one row after the other."""
    rows: Small
    """For each word the row it stands in."""
    lengths: Numbers
    """For each row how many words can be searched for; -1 where there is no text."""

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.lengths)

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return 2 * self.words.nbytes + self.rows.nbytes + self.lengths.nbytes + _VOCABULARY_BYTES * len(self.vocabulary)

    # -- what matches ----------------------------------------------------------------------------------

    def any_of(self, words: Iterable[Word]) -> Mask:
        """Which rows have one of these words."""
        return self._rows_with({code for word in words for code in self._by_normal.get(word.text, ())})

    def phrase(self, words: Sequence[Word]) -> Mask:
        """Which rows have these words at the same distances from each other."""
        found = np.zeros(self.count, np.bool_)
        starts: Numbers | None = None
        for word in words:
            at = self._places(self._by_normal.get(word.text, ())) - (word.position - words[0].position)
            starts = at if starts is None else np.intersect1d(starts, at, assume_unique=True)
        if starts is None or not len(starts):
            return found
        ends = starts + (words[-1].position - words[0].position)
        inside = starts[(starts >= 0) & (self.rows[starts] == self.rows[ends])]
        found[self.rows[inside]] = True
        return found

    def similar(self, query: str, edits: int | None) -> Mask:
        """Which rows have a word that differs from one of these in a few letters, as it is spelt or without endings."""
        codes: set[int] = set()
        for raw in raw_words(query):
            normal, spelt = normalise(raw), spelling(raw)
            if normal is not None and spelt is not None:
                allowed = usual_edits(spelt) if edits is None else edits
                codes.update(self._by_normal.get(normal, ()), self._like(spelt, allowed), self._like(normal, allowed))
        return self._rows_with(codes)

    def counts(self, word: str) -> tuple[Small, Numbers]:
        """The rows that have a word, and how often."""
        rows = self.rows[self._places(self._by_normal.get(word, ()))]
        starts = np.flatnonzero(np.diff(rows, prepend=-1))  # rows come in their order
        return rows[starts], np.diff(starts, append=len(rows))

    @cached_property
    def size(self) -> tuple[int, int]:
        """How many rows have a text, and how many words these have."""
        present = self.lengths[self.lengths >= 0]
        return len(present), int(present.sum())

    # -- ways to find words ----------------------------------------------------------------------------

    @cached_property
    def _by_normal(self) -> dict[str, list[int]]:
        """The words of the vocabulary by what they are found by."""
        found: dict[str, list[int]] = {}
        for raw, code in self.vocabulary.items():
            normal = normalise(raw)
            if normal is not None:
                found.setdefault(normal, []).append(code)
        return found

    @cached_property
    def _order(self) -> tuple[Small, Numbers]:
        """The places of all words, by word, and where each word's begin."""
        order = np.argsort(self.words, kind="stable").astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.words, minlength=len(self.vocabulary)))])
        return order, starts

    @cached_property
    def _spellings(self) -> tuple[list[str | None], Small, np.ndarray[tuple[int], np.dtype[np.uint64]]]:
        """How words are spelt, then their stems; how long they are (-1: left out), and which letters they have."""
        forms = [*map(spelling, self.vocabulary), *map(normalise, self.vocabulary)]
        sizes = np.fromiter((-1 if each is None else len(each) for each in forms), np.int32, len(forms))
        letters = np.fromiter((_letters(each or "") for each in forms), np.uint64, len(forms))
        return forms, sizes, letters

    def _places(self, codes: Sequence[int]) -> Numbers:
        order, starts = self._order
        found = [order[starts[code] : starts[code + 1]] for code in codes]
        return np.sort(np.concatenate(found)).astype(np.int64) if found else np.empty(0, np.int64)

    def _rows_with(self, codes: Iterable[int]) -> Mask:
        found = np.zeros(self.count, np.bool_)
        found[self.rows[self._places(list(codes))]] = True
        return found

    def _like(self, goal: str, edits: int) -> list[int]:
        """Words of which the spelling or the stem is within so many edits. Each brings at most one letter."""
        forms, sizes, letters = self._spellings
        mine = np.uint64(_letters(goal))
        near = (sizes >= 0) & (np.abs(sizes - len(goal)) <= edits)
        near &= (np.bitwise_count(letters & ~mine) <= edits) & (np.bitwise_count(mine & ~letters) <= edits)
        found = [at for at in np.flatnonzero(near).tolist() if within(forms[at] or "", goal, edits)]
        return [at % len(self.vocabulary) for at in found]


def usual_edits(word: str) -> int:
    """How many letters may differ when nobody says: two, fewer in a short word."""
    return 0 if len(word) <= 2 else 1 if len(word) <= 5 else 2


def _letters(word: str) -> int:
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) % _LETTER_BITS)
    return bits


def read_texts(values: Sequence[str | None], before: Texts | None = None, kept: int = 0) -> Texts:
    """Cut texts into words; they follow the first rows, as many as are kept, of texts that were cut before."""
    vocabulary = {} if before is None else dict(before.vocabulary)
    codes, rows = _cut(values, vocabulary)
    counted = np.fromiter((normalise(word) is not None for word in vocabulary), np.bool_, len(vocabulary))
    lengths = np.bincount(rows[counted[codes]], minlength=len(values)).astype(np.int64)
    lengths[[row for row, text in enumerate(values) if text is None]] = -1
    if before is None:
        return Texts(vocabulary, codes, rows, lengths)
    end = np.searchsorted(before.rows, kept)
    return Texts(
        vocabulary,
        np.concatenate([before.words[:end], codes]),
        np.concatenate([before.rows[:end], rows + np.int32(kept)]),
        np.concatenate([before.lengths[:kept], lengths]),
    )


def _cut(values: Sequence[str | None], vocabulary: dict[str, int]) -> tuple[Small, Small]:
    """The words of texts by their numbers, and for each the row it stands in. New words get into the vocabulary."""
    words: list[np.ndarray[Any, Any]] = []
    rows: list[np.ndarray[Any, Any]] = []
    for start in range(0, len(values), _TEXTS_AT_ONCE):
        found = words_with_ends([text or "" for text in values[start : start + _TEXTS_AT_ONCE]])
        for word in set(found).difference(vocabulary, (END,)):
            vocabulary[word] = len(vocabulary)
        vocabulary[END] = -1
        codes = np.fromiter(map(vocabulary.__getitem__, found), np.int32, len(found))
        del vocabulary[END]
        is_word = codes >= 0
        words.append(codes[is_word])
        rows.append((np.cumsum(~is_word) + start)[is_word].astype(np.int32))
    if not words:
        return np.empty(0, np.int32), np.empty(0, np.int32)
    return np.concatenate(words), np.concatenate(rows)


# -- scores --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 knows of all texts: how many there are, how many words they have, how many have each word.

    Always over every row of the table that has a text, whatever a query filters and whatever an index covers.
    """

    texts: int
    words: int
    having: dict[str, int]

    def __add__(self, other: Statistics) -> Statistics:
        """Statistics over the texts of both."""
        having = {word: self.having.get(word, 0) + other.having.get(word, 0) for word in {*self.having, *other.having}}
        return Statistics(self.texts + other.texts, self.words + other.words, having)


Counts = dict[str, tuple[Small, Numbers]]
"""For each word the rows that have it, and how often."""


def counts_of(texts: Texts, words: Iterable[Word]) -> Counts:
    """Look the words of a question up."""
    return {word: texts.counts(word) for word in {each.text for each in words}}


def statistics(texts: Texts, counts: Counts) -> Statistics:
    """What BM25 needs to know of all texts about these words."""
    return Statistics(*texts.size, {word: len(rows) for word, (rows, _) in counts.items()})


def scores(texts: Texts, words: Sequence[Word], counts: Counts, known: Statistics) -> Floats:
    """BM25 of every row; nan where no word is found.

    A word that a question repeats counts as often. Words are added in the order of the alphabet: sums depend on it.
    """
    total = np.full(texts.count, np.nan)
    mean = known.words / known.texts if known.words else 1.0
    for word in sorted(each.text for each in words):
        rows, times = counts[word]
        norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * texts.lengths[rows] / mean)
        having = known.having[word]
        rarity = np.log1p((known.texts - having + 0.5) / (having + 0.5))
        total[rows] = np.nan_to_num(total[rows]) + rarity * times * (SATURATION + 1) / (times + norm)
    return total
