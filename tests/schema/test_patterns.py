"""Patterns of `@check` mean what Rust's `regex` means by them."""

import pyarrow as pa
import pytest

from omnigraph.schema.patterns import BadPattern, check_pattern, is_match, matches


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        ("", "", True),
        (r"^\d+$", "12", True),
        (r"^\d+$", "\u0663", True),
        (r"^\D$", "\u0663", False),
        (r"^\w+$", "\u00e9t\u00e9_1", True),
        (r"^\W$", "\u00e9", False),
        (r"^[\w-]+$", "\u00e9-", True),
        (r"^\s$", "\u00a0", True),
        (r"^\S$", "\u00a0", False),
        (r"^(?<year>\d{4})-(?P<month>\d\d)$", "2020-01", True),
        (r"^\u{e9}\x{e9}\u00e9\U000000e9$", "\u00e9\u00e9\u00e9\u00e9", True),
        (r"^\p{Greek}+$", "\u03b1\u03b2", True),
        (r"^[[:alpha:]]+$", "ab", True),
        (r"^[]a]+$", "]a", True),
        (r"^[^]a]+$", "bc", True),
        (r"^\[\(\?=$", "[(?=", True),
        (r"(?i)^ABC$", "abc", True),
        (r"^a\z", "a", True),
        (r"^.$", "\U0001f600", True),
    ],
)
def test_meaning(pattern: str, value: str, expected: bool) -> None:
    assert is_match(value, pattern) is expected


def test_null_stays_null() -> None:
    assert matches(pa.array(["a", None, "b"]), "a").to_pylist() == [True, None, False]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=a)", "look-around"),
        ("(?!a)", "look-around"),
        ("(?<=a)", "look-around"),
        ("(?<!a)", "look-around"),
        (r"(a)\1", "back-references"),
        (r"(?<n>a)\k<n>", "back-references"),
        ("(?>a)", "atomic groups"),
        ("(", "not a regular expression"),
        ("[a", "not a regular expression"),
        ("a{2000}", "not a regular expression"),
        (r"a\Z", r"\\Z is not supported"),
        ("[a&&b]", "set operations"),
        ("[a[b]]", "a class inside a class"),
        (r"[\W]", r"inside \[…\] is not supported"),
    ],
)
def test_refused(pattern: str, reason: str) -> None:
    with pytest.raises(BadPattern, match=reason):
        check_pattern(pattern)
