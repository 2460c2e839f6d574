"""One layout for every schema."""

import pytest

from omnigraph.schema import compile_schema, format_schema, parse
from tests.schema.test_compile import SCHEMA
from tests.schema.test_rules import ACCEPTED

UGLY = """
// top
node   A@description( "a\\"b" )implements I,J{x:I32?@index // why
/* block */ y:enum(b,a)   @range( x,-1..2 )
// last
}
interface I{} interface J {}
edge E:A->A@card(0..)@foo( bar,k=1.5 )
edge F:A->A
// end
"""

NEAT = """\
// top
node A @description("a\\"b") implements I, J {
    x: I32? @index  // why
    /* block */
    y: enum(b, a)
    @range(x, -1..2)
    // last
}

interface I {}
interface J {}
edge E: A -> A @card(0..) @foo(bar, k=1.5)
edge F: A -> A
// end
"""


def test_layout() -> None:
    assert format_schema(UGLY) == NEAT


@pytest.mark.parametrize("text", [SCHEMA, UGLY, *ACCEPTED.values()])
def test_meaning_and_comments_stay_and_twice_is_once(text: str) -> None:
    once = format_schema(text)
    assert parse(once) == parse(text)
    assert compile_schema(once) == compile_schema(text)
    assert format_schema(once) == once
    assert once.count("//") + once.count("/*") == text.count("//") + text.count("/*")
