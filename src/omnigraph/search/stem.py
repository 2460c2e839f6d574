"""The English stemmer ("Porter2"), in the version Lance's full-text index uses."""

from __future__ import annotations

import re

_VOWELS = "aeiouy"
_DOUBLES = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_LI_ENDINGS = "cdeghkmnrt"
_WHOLE = {
    "skis": "ski",
    "skies": "sky",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
    **{word: word for word in ("sky", "news", "howe", "atlas", "cosmos", "bias", "andes")},
}
_NOT_DOING = frozenset(("inning", "outing", "canning", "herring", "earring", "evening"))
_CEED = ("proc", "exc", "succ")
_STEP_2 = (
    ("ization", "ize"),
    ("ational", "ate"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("tional", "tion"),
    ("biliti", "ble"),
    ("lessli", "less"),
    ("entli", "ent"),
    ("ogist", "og"),
    ("ation", "ate"),
    ("alism", "al"),
    ("aliti", "al"),
    ("ousli", "ous"),
    ("iviti", "ive"),
    ("fulli", "ful"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("abli", "able"),
    ("izer", "ize"),
    ("ator", "ate"),
    ("alli", "al"),
    ("bli", "ble"),
    ("ogi", "og"),
    ("li", ""),
)
_STEP_3 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("alize", "al"),
    ("icate", "ic"),
    ("iciti", "ic"),
    ("ative", ""),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
)
_STEP_4 = (
    *("ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti"),
    *("ous", "ive", "ize", "ion", "al", "er", "ic"),
)
_REGION = re.compile(r"[aeiouy][^aeiouy]")
_SPECIAL_REGION = re.compile(r"^(gener|commun|arsen|past|univers|later|emerg|organ|inter)")


def stem(word: str) -> str:
    """Reduce a lower-case English word to its stem: `running` and `runs` to `run`."""
    if len(word) <= 2:
        return word
    if word in _WHOLE:
        return _WHOLE[word]
    word = _mark_consonants(word.removeprefix("'"))
    first, second = _regions(word)
    word = _plural(_apostrophe(word))
    word = _past(word, first)
    word = _final_y(word)
    word = _step_2(word, first)
    word = _step_3(word, first, second)
    word = _step_4(word, second)
    word = _step_5(word, first, second)
    return word.replace("Y", "y")


def _mark_consonants(word: str) -> str:
    """A y that is a consonant is written Y: at the beginning, and after a vowel."""
    if "y" not in word:
        return word
    letters = list(word)
    for at, letter in enumerate(letters):
        if letter == "y" and (at == 0 or letters[at - 1] in _VOWELS):
            letters[at] = "Y"
    return "".join(letters)


def _regions(word: str) -> tuple[int, int]:
    """Where the regions begin in which endings may be removed."""
    special = _SPECIAL_REGION.match(word)
    if special:
        first = special.end()
    else:
        found = _REGION.search(word)
        first = found.end() if found else len(word)
    found = _REGION.search(word, first)
    return first, found.end() if found else len(word)


def _is_short_syllable(word: str) -> bool:
    if word.endswith("past"):
        return True
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    if len(word) < 2:
        return False
    before, vowel, after = word[-3:]
    return before not in _VOWELS and vowel in _VOWELS and after not in "aeiouywxY"


def _has_vowel(word: str) -> bool:
    return any(letter in _VOWELS for letter in word)


def _apostrophe(word: str) -> str:
    for ending in ("'s'", "'s", "'"):
        if word.endswith(ending):
            return word[: -len(ending)]
    return word


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith(("us", "ss")) or not word.endswith("s"):
        return word
    return word[:-1] if _has_vowel(word[:-2]) else word


def _past(word: str, first: int) -> str:
    for ending in ("eedly", "eed"):
        if word.endswith(ending):
            base = word[: -len(ending)]
            return base + "ee" if len(base) >= first and not base.endswith(_CEED) else word
    for ending in ("ingly", "edly", "ing", "ed"):
        if word.endswith(ending):
            base = word[: -len(ending)]
            if ending == "ing" and (word in _NOT_DOING or _is_y_word(base)):
                return word if word in _NOT_DOING else base[:-1] + "ie"
            return _mended(base, first) if _has_vowel(base) else word
    return word


def _is_y_word(base: str) -> bool:
    """Dying comes from die."""
    return len(base) == 2 and base[1] == "y" and base[0] not in _VOWELS


def _mended(base: str, first: int) -> str:
    """A word without `ed` or `ing`, as it is written: hoping from hope, hopping from hop."""
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if base.endswith(_DOUBLES):
        return base if len(base) == 3 and base[0] in "aeo" else base[:-1]
    if len(base) <= first and _is_short_syllable(base):
        return base + "e"
    return base


def _final_y(word: str) -> str:
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        return word[:-1] + "i"
    return word


def _step_2(word: str, first: int) -> str:
    for ending, replacement in _STEP_2:
        if word.endswith(ending):
            base = word[: -len(ending)]
            fits = len(base) >= first
            if ending == "li":
                fits = fits and base[-1:] in tuple(_LI_ENDINGS)
            elif ending == "ogi":
                fits = fits and base.endswith("l")
            return base + replacement if fits else word
    return word


def _step_3(word: str, first: int, second: int) -> str:
    for ending, replacement in _STEP_3:
        if word.endswith(ending):
            base = word[: -len(ending)]
            fits = len(base) >= (second if ending == "ative" else first)
            return base + replacement if fits else word
    return word


def _step_4(word: str, second: int) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            base = word[: -len(ending)]
            fits = len(base) >= second and (ending != "ion" or base.endswith(("s", "t")))
            return base if fits else word
    return word


def _step_5(word: str, first: int, second: int) -> str:
    base = word[:-1]
    if word.endswith("e") and (len(base) >= second or (len(base) >= first and not _is_short_syllable(base))):
        return base
    if word.endswith("ll") and len(base) >= second:
        return base
    return word
