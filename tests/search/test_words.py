"""Words are what Lance's full-text index makes of them, so that an index and a scan agree."""

from __future__ import annotations

import random
import re
import unicodedata
from pathlib import Path
from pydoc_data import topics

import lance
import pyarrow as pa
import pytest

from omnigraph.search.distance import within
from omnigraph.search.stem import stem
from omnigraph.search.words import normalise, raw_words, words_of, words_with_ends

_ENDINGS = """
s es ed ing ingly edly ly ness fulness ational ization iveness ousness biliti bility eed eedly ied
ies y ys ement ment ion ent ance ible e ll lessly ogi ogist ative alize icate icity ical ful er or
ism iti
"""
ENDINGS = _ENDINGS.split()
_BASES = """
hop tr commun gener past univers later emerg organ inter exce succ dy sens oper cry happ add inn
even
"""
BASES = _BASES.split()


def indexed(path: Path, texts: list[str]) -> lance.LanceDataset:
    table = pa.table({"id": pa.array(range(len(texts))), "t": texts})
    dataset = lance.write_dataset(table, path, enable_stable_row_ids=True)
    index = dataset.create_index_uncommitted("t", "INVERTED", name="t", fragment_ids=[0], replace=True)
    index = dataset.merge_existing_index_segments([index])
    operation = lance.LanceOperation.CreateIndex(new_indices=[index], removed_indices=[])
    return lance.LanceDataset.commit(dataset, operation, read_version=dataset.version, detached=True)


def found(dataset: lance.LanceDataset, query: str) -> list[int]:
    rows = dataset.scanner(columns=["id", "_score"], full_text_query=query).to_table()
    return sorted(rows.column("id").to_pylist())


def test_words_that_are_one_for_lance_are_one_for_us(tmp_path: Path) -> None:
    draw = random.Random(1)
    known = sorted({word.lower() for text in topics.topics.values() for word in re.findall("[A-Za-z]+", text)})
    made = [base + ending for base in BASES for ending in ENDINGS]
    words = sorted({*draw.sample(known, 1500), *made, "y" * 39, "y" * 40, "é" * 19, "é" * 20})
    dataset = indexed(tmp_path / "words", words)
    ours: dict[str | None, list[int]] = {None: []}
    for number, word in enumerate(words):
        if normalise(word) is not None:
            ours.setdefault(normalise(word), []).append(number)
    wrong = [word for word in words if found(dataset, word) != ours[normalise(word)]]
    assert wrong == []


def test_letters_are_lances_letters(tmp_path: Path) -> None:
    """Between letters any character either joins or divides."""
    draw = random.Random(2)
    known = [chr(code) for code in range(128, 0x20000) if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")]
    chosen = [*(chr(code) for code in range(128, 0x600)), *draw.sample(known, 8000)]
    dataset = indexed(tmp_path / "letters", [f"qq{letter}zz" for letter in chosen])
    divided = [number for number, letter in enumerate(chosen) if raw_words(f"qq{letter}zz")[-1] == "zz"]
    assert found(dataset, "zz") == divided


def test_accents_are_folded_as_lance_folds_them(tmp_path: Path) -> None:
    letters = [chr(code) for code in range(0xC0, 0x250) if chr(code).isalpha()]
    dataset = indexed(tmp_path / "accents", [f"7{letter}7" for letter in letters])
    plain = sorted({word for letter in letters if (word := normalise(f"7{letter}7")) and word.isascii()})
    assert len(plain) > 25
    for word in plain:
        assert found(dataset, word) == [at for at, letter in enumerate(letters) if normalise(f"7{letter}7") == word]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("running", "run"),
        ("hoping", "hope"),
        ("hopping", "hop"),
        ("generously", "generous"),
        ("dying", "die"),
        ("skies", "sky"),
        ("news", "news"),
        ("relational", "relat"),
        ("add", "add"),
        ("succeed", "succeed"),
        ("is", "is"),
    ],
)
def test_stems(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_positions_count_words_that_are_left_out() -> None:
    assert [(word.text, word.position) for word in words_of("The state of the Art")] == [("state", 1), ("art", 4)]


def test_texts_can_be_cut_together() -> None:
    texts = ["a b", "", "c\x1ed", "é", "x"]
    cut: list[list[str]] = [[]]
    for word in words_with_ends(texts):
        cut.append([]) if word == "\x1e" else cut[-1].append(word)
    assert cut == [raw_words(text) for text in texts]
    assert words_with_ends(["a b", "", "c"]) == ["a", "b", "\x1e", "\x1e", "c"]


def test_edits() -> None:
    assert within("kitten", "sitting", 3)
    assert not within("kitten", "sitting", 2)
    assert within("", "ab", 2)
    assert not within("ab", "ba", 1)
    assert within("same", "same", 0)
