"""Print, parse, format: what is written is what was meant, whatever the tree or the text."""

import re

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from omnigraph.model.diagnostics import LanguageError
from omnigraph.query import compile_queries, format_queries, parse_queries
from omnigraph.query.format import print_queries
from omnigraph.query.lexer import lex
from tests.query.people import CATALOG
from tests.query.trees import queries
from tests.support.effort import calls_in

# Small examples find what large ones find, and shrinking trees of this size takes minutes.
SLOW_OK = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)

pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")

UGLY = """\
// file header

// about q
query   q( $n:String,$k:[I64]? ) // head
 @description("x\\ny") @instruction("z") { // open
 match{ $p:Person{name:$n,tags:"x"} // person
   $p knows $f


   /* hops */ $p <knows> {1,} $h not{$p worksAt $c} exists { $p worksAt $c // inner
   } count{$p knows $r $r knows $s}>=3
   // last
 } return distinct{ $p.name,count(distinct $f) as c  $p.@id /* x */ } order{c desc,$p.name}limit 3 // why
 offset 5
 // end
} // after
query m() { insert Person { email: "someone@example.org", name: "Somebody with a rather long name", bio: "nothing" }
update Person set { age: (age + 1)*2, // c
 } where not (name = "x" or age > 3) and age is not null }
// tail
"""

NEAT = """\
// file header

// about q
// head
query q($n: String, $k: [I64]?)
    @description("x\\ny")
    @instruction("z")
{  // open
    match {
        $p: Person { name: $n, tags: "x" }  // person
        $p knows $f

        /* hops */
        $p <knows>{1,} $h
        not { $p worksAt $c }
        exists {
            $p worksAt $c  // inner
        }
        count {
            $p knows $r
            $r knows $s
        } >= 3
        // last
    }
    return distinct {
        $p.name,
        count(distinct $f) as c,
        $p.@id,
        /* x */
    }
    order { c desc, $p.name }
    limit 3  // why
    offset 5
    // end
}  // after

query m() {
    insert Person {
        email: "someone@example.org",
        name: "Somebody with a rather long name",
        bio: "nothing",
    }
    update Person set {
        age: (age + 1) * 2,  // c
    } where not (name = "x" or age > 3) and age is not null
}
// tail
"""


def test_layout() -> None:
    assert format_queries(UGLY) == NEAT


def test_nothing_stays_nothing() -> None:
    assert format_queries("") == ""
    assert format_queries("  // only a comment  \n") == "// only a comment\n"


def test_line_ends_of_any_system() -> None:
    assert format_queries(UGLY.replace("\n", "\r\n")) == NEAT


def test_a_text_that_does_not_parse_is_not_touched() -> None:
    with pytest.raises(LanguageError):
        format_queries("query a( {")


@SLOW_OK
@given(st.lists(queries, min_size=1, max_size=2))
def test_print_and_parse_give_the_same_tree(trees: list) -> None:
    text = print_queries(trees)
    assert parse_queries(text).queries == tuple(trees), text
    assert format_queries(text) == text


@SLOW_OK
@given(queries, st.randoms(use_true_random=False))
def test_format_keeps_meaning_and_comments_and_twice_is_once(tree: object, random) -> None:
    pieces = [str(token) for token in lex(print_queries([tree])).tokens]
    spaces = [" ", " ", "\n", "\n\n\n", " // line\n", " /* block */ ", "\n  // own\n", "\t"]
    # A comment splits `not in` no more than it splits a number.
    text = "".join(piece + random.choice(spaces) for piece in pieces)
    once = format_queries(text)
    assert parse_queries(once).queries == parse_queries(text).queries
    assert format_queries(once) == once
    assert sorted(_comments(once)) == sorted(_comments(text))


def _comments(text: str) -> list[str]:
    return [comment.text.strip() for comment in lex(text).comments]


# -- garbage -------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    re.findall(
        r"\S+",
        """query q ( ) { } [ ] , : . ? $p $q $_ Person Knows knows match return order limit offset distinct not exists
        optional count shortest is null in and or = != < > <= >= + - * / % 1 2.5 "a" true as asc desc insert update set
        where delete @id @description // /* */ " ' # $ contains nearest bm25 rrf date now""",
    )
)


def _survives(text: str) -> None:
    error = _error(text)
    if error is not None:
        assert error.diagnostics
        assert len(error.render()) < 40_000 + len(text)
        assert all(d.span is None or 0 <= d.span.start <= d.span.end <= len(text) for d in error.diagnostics)


def _error(text: str) -> LanguageError | None:
    try:
        compile_queries(text, CATALOG)
    except LanguageError as error:
        return error
    return None


@SLOW_OK
@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    _survives(data.decode("latin-1"))
    _survives("query q() { match { " + data.decode(errors="replace") + " } return { $p.name } }")


@SLOW_OK
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    _survives(text)


@SLOW_OK
@given(st.lists(PIECES, max_size=60))
def test_any_words(words: list[str]) -> None:
    _survives(" ".join(words))
    _survives("query q() { match { $p: Person " + " ".join(words) + " } return { $p.name } }")


@SLOW_OK
@given(queries, st.data())
def test_any_damage(tree: object, data: st.DataObject) -> None:
    text = print_queries([tree])
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    _survives(text[:start] + data.draw(st.text(max_size=3)) + text[end:])


START = "query q($a: I64) { match { $p: Person "
END = " } return { $p.name } }"
SIZE = 20_000
CALLS_MAX = 1000
"""Of functions, for each character: what is worse than linear makes many thousands of a long text."""
HOSTILE = {
    "open parentheses": START + "(" * SIZE,
    "open braces": "{" * SIZE,
    "open blocks": START + "not { " * (SIZE // 6),
    "nested blocks": START + "not { $p knows $q " * 30 + "}" * 30 + END,
    "nested parentheses": START + "(" * 30 + "$p.age > 1" + ")" * 30 + END,
    "open lists": START + "$p.age in " + "[" * SIZE,
    "not after not": START + "not " * (SIZE // 4) + END,
    "minus after minus": START + "$p.age > " + "-" * SIZE + END,
    "long sum": START + "$p.age > 1" + " + 1" * (SIZE // 4) + END,
    "long and": START + "$p.age > 1" + " and $p.age > 1" * (SIZE // 15) + END,
    "long comparison": START + "$p.age > 1" + " > 1" * (SIZE // 4) + END,
    "many traversals": START + "$p knows $q " * (SIZE // 12) + END,
    "many traversals backwards": START + " ".join(f"$v{n} knows $v{n + 1}" for n in range(SIZE // 24, 0, -1)) + END,
    "many unknown edges": START + "$p knws $q " * (SIZE // 11) + END,
    "many unknown types": START + "$q: Persn " * (SIZE // 10) + END,
    "many unknown variables": START + " ".join(f"$v{n}.age > 1" for n in range(SIZE // 14)) + END,
    "many bindings": START + " ".join(f"$v{n}: Person" for n in range(SIZE // 14)) + END,
    "many columns": "query q() { match { $p: Person } return { "
    + " ".join(f"1 as c{n}" for n in range(SIZE // 10))
    + " } }",
    "many groups": "query q() { match { $p: Person } return { count($p) as n "
    + " ".join(f"$p.age + {n} as c{n}" for n in range(SIZE // 40))
    + " } }",
    "many queries": "query q() { match { $p: Person } return { $p.name } } " * (SIZE // 54),
    "many broken queries": "query q( { } " * (SIZE // 13),
    "open string": '"' * (SIZE + 1),
    "open comment": "/*" * (SIZE // 2),
    "stars": "/*" + "*" * SIZE,
    "slashes": "/" * SIZE,
    "escapes": START + '$p.name = "' + "\\n" * (SIZE // 2) + '"' + END,
    "bad escapes": START + '$p.name = "' + "\\q" * (SIZE // 2) + '"' + END,
    "digits": START + "$p.age > " + "9" * SIZE + END,
    "decimals": START + "$p.age > " + "9" * SIZE + ".5" + END,
    "one long name": START + "$p." + "a" * SIZE + " > 1" + END,
    "one long function": START + "f" * SIZE + "($p) > 1" + END,
    "dots": START + "$p" + ".a" * (SIZE // 2) + END,
    "quotes": "'" * SIZE,
    "spaces": " " * SIZE,
    "lines": "\n" * SIZE + "x",
    "dollars": "$" * SIZE,
    "null bytes": "\0" * SIZE,
    "angle brackets": START + "$p " + "<" * SIZE,
    "deep aggregates": START + "count { $p knows $q " * 30 + "} > 1 " * 30 + END,
    "many arguments": START + "concat(" + "1, " * (SIZE // 3) + '1) = "a"' + END,
    "not in not in": START + "$p.age " + "not in " * (SIZE // 7) + END,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_cost_little(text: str) -> None:
    assert calls_in(_survives, text) < CALLS_MAX * (100 + len(text))
