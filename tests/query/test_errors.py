"""Errors: exact places, several in one run, no follow-ups of one mistake."""

from omnigraph.query import check_each, parse_queries
from tests.query.people import CATALOG, failure, only

SEVERAL = """\
query a($x: Strng) {
  match {
    $p: Persn { name: "a" }
    $q: Person { nme: 1 }
    $q knws $r
    $q.agee > 1 and $q.name = 3
    not { $q worksAt $q }
  }
  return { $p.name, $q.foo, $z }
  order { nope }
}
query b() {
  update Persn set { a: 1 } where b = 1
  update Person set { agee: "x", age: "y" } where agee = 1
}
"""


def test_several_errors_in_one_run() -> None:
    error = failure(SEVERAL)
    places = [error.source.position(d.span.start) for d in error.diagnostics if d.span]
    assert [(d.code, at.line, at.column) for d, at in zip(error.diagnostics, places, strict=True)] == [
        (None, 1, 13),
        ("T1", 3, 9),
        ("T2", 4, 18),
        ("T4", 5, 8),
        ("T6", 6, 8),
        ("T7", 6, 21),
        ("T5", 7, 22),
        ("T6", 9, 24),
        (None, 9, 29),
        ("T6", 10, 11),
        ("T10", 13, 10),
        ("T11", 14, 23),
        ("T3", 14, 39),
        ("T11", 14, 51),
    ]


def test_every_query_of_a_file_that_does_not_parse_is_named() -> None:
    error = failure("query a( { }\nquery b() { match }\nquery c() { match { $p: Person } return { $p.name } }")
    lines = [error.source.position(d.span.start).line for d in error.diagnostics if d.span]
    assert lines == [1, 2]


def test_the_rendered_error_shows_the_line() -> None:
    text = failure('query a() {\n  match { $p: Person { nme: "a" } }\n  return { $p.name }\n}').render()
    assert text == (
        "type error: T2: a Person node has no property 'nme'; did you mean 'name'? (my.gq:2:24)\n"
        '2 |   match { $p: Person { nme: "a" } }\n'
        "  |                        ^^^"
    )


def test_what_is_wrong_once_is_said_once() -> None:
    only(failure("query a() { match { $p: Persn $p knows $q $p.x > 1 not { $p wrote $n } } return { $p.y, $q.name } }"))
    only(failure("query a() { match { $p: Person $p knws $q $q.x > 1 } return { $q.y as a, $q } order { a } }"))
    only(failure("query a($n: Nope) { match { $p: Person { name: $n } $p.age > $n } return { $n } limit $n }"))
    only(failure("query a() { match { $p: Person optional { $p knws $q } } return { $q.name } order { $q.name } }"))
    only(failure("query a() { match { $p: Person } return { $p.nope as n, count($p) as c } order { n, c } }"))


def test_many_errors_are_cut() -> None:
    error = failure("query a() { match { $p: Person " + "$p.x > 1 " * 500 + "} return { $p.name } }")
    assert len(error.diagnostics) == 50
    assert error.has_more
    assert str(error).endswith("there may be more; these come first")


def test_one_wrong_query_leaves_the_others_usable() -> None:
    text = "query a() { match { $p: Nope } return { $p } } query b() { match { $p: Person } return { $p } }"
    wrong, right = check_each(parse_queries(text), CATALOG)
    assert wrong.checked is None
    assert right.checked is not None
    assert not right.diagnostics


def test_places_count_characters_not_bytes() -> None:
    found = failure('query a() { match { $p: Person { name: "äöü🙂" } $p.nope > 1 } return { $p.name } }')
    span = only(found).span
    assert span is not None
    assert found.source.text[span.start : span.end] == "nope"
