"""Every rule of the language, each with a text that breaks it and what is said about it."""

import pytest

from omnigraph.model.diagnostics import LanguageError
from omnigraph.schema import compile_schema

PARSE = {
    "hash is no comment": ("# x", "'#' does not start a comment"),
    "comma between properties": ("node A { x: I32, y: I32 }", "not separated by commas"),
    "top-level enum": ("enum E { a }", "an enum is written where it is used"),
    "body not closed": ("node A { x: I32", "close the body"),
    "string not closed": ('node A @description("x { }', "string is not closed"),
    "comment not closed": ("node A {} /* x", "comment is not closed"),
    "single quotes": ("node A @description('x') {}", "double quotes"),
    "unsupported escape": (r'node A @description("a\q") {}', "unsupported escape"),
    "type name in lower case": ("node a {}", "does not start with an upper-case letter"),
    "property name in upper case": ("node A { X: I32 }", "starts with an upper-case letter"),
    "unknown type": ("node A { x: Int }", "did you mean 'I64'?"),
    "node type as property type": ("node A {} node B { a: A }", "unknown type 'A'"),
    "enum value twice": ("node A { x: enum(a, b, a) }", "listed twice"),
    "empty enum": ("node A { x: enum() }", "enum value"),
    "list of Blob": ("node A { x: [Blob] }", "a list cannot hold Blob"),
    "list of enum": ("node A { x: [enum(a)] }", "a list cannot hold enums"),
    "list of Vector": ("node A { x: [Vector(2)] }", "a list cannot hold vectors"),
    "list of lists": ("node A { x: [[I32]] }", "a list cannot hold lists"),
    "vector of nothing": ("node A { x: Vector(0) }", "between 1 and 2147483647"),
    "vector too long": ("node A { x: Vector(2147483648) }", "between 1 and 2147483647"),
    "constraint in interface": ("interface I { x: I32 @key(x) }", "interfaces hold properties only"),
    "card without minimum": ("node A {} edge E: A -> A @card(..3)", "@card needs a minimum"),
    "card below zero": ("node A {} edge E: A -> A @card(-1..3)", "whole numbers from 0"),
    "card above u32": ("node A {} edge E: A -> A @card(0..4294967296)", "whole numbers from 0"),
    "number too large": ("node A { x: I32 @range(x, 0..99999999999999999999) }", "number is too large"),
    "node without body": ("node A", "expected"),
}

PARSE |= {
    "half a character": ('node A @description("\ud800") {}', "this is not a character"),
    "comments do not nest": ("/* a /* b */ c */", "found 'c'"),
    "type name is not ASCII": ("node \u00c4 {}", "ASCII letters"),
    "property name is not ASCII": ("node A { \u00fc: I32 }", "ASCII letters"),
    "name starts with a digit": ("node 1A {}", "starts with a letter"),
    "float without digits before": ("node A { x: F64 @range(x, .5..1) }", "a number starts with a digit"),
    "float without digits behind": ("node A { x: F64 @default(1.) }", "expected"),
    "float with an exponent": ("node A { x: F64 @default(1e5) }", "without an exponent"),
    "vector of a fraction": ("node A { x: Vector(1.5) }", "between 1 and 2147483647"),
    "vector without dimensions": ("node A { x: Vector }", "Vector(768)"),
    "constraint without arguments": ("node A { x: I32 @key() }", "give a value, or leave the parentheses out"),
    "annotation with empty parentheses": ("node A @foo() {}", "give a value, or leave the parentheses out"),
    "named argument first": ("node A @foo(k=1) {}", "a value without a name comes first"),
    "named argument is a bare word": ("node A @foo(1, k=word) {}", 'put it in quotes: k="word"'),
    "named argument twice": ("node A @foo(1, k=1, k=2) {}", "argument 'k' is given twice"),
    "annotation name in upper case": ("node A @Foo {}", "write '@foo'"),
    "card without range": ("node A {} edge E: A -> A @card(2)", "bounds are written 0..5"),
    "card with a fraction": ("node A {} edge E: A -> A @card(0..1.5)", "whole numbers from 0"),
    "edge without ends": ("edge E", "expected ':'"),
    "edge without target": ("edge E: A", "expected '->'"),
    "interface implements": ("interface I implements J {}", "only node types implement"),
    "implements nothing": ("node A implements {}", "expected a name"),
    "null in a list": ("node A { x: [I32?] }", "never null"),
    "quoted enum value": ('node A { x: enum("a") }', "without quotes"),
    "constraint without its property": ("node A { @key x: I32 }", "an annotation follows the property"),
    "annotation before its declaration": ('@description("x") node A {}', "annotations follow the name"),
    "one brace too many": ("node A {} }", "one '}' too many"),
}

CATALOG = {
    "node twice": ("node A {} node A {}", "node A is declared twice"),
    "edge twice": ("node A {} edge E: A -> A edge E: A -> A", "edge E is declared twice"),
    "interface twice": ("interface I {} interface I {}", "interface I is declared twice"),
    "property twice": ("node A { x: I32 x: I32 }", "A.x is declared twice"),
    "edges differ only in case": ("node A {} edge Ee: A -> A edge EE: A -> A", "differ only in case"),
    "unknown end": ("node Person {} edge E: Person -> Persn", "did you mean 'Person'?"),
    "interface as end": ("interface I {} node A {} edge E: A -> I", "ends at the interface"),
    "unknown interface": ("node A implements I {}", "which is not an interface"),
    "inherited type differs": ("interface I { x: I32 } node A implements I { x: I32? }", "but I.x is I32"),
    "inherited enum differs": (
        "interface I { x: enum(a) } node A implements I { x: enum(a, b) }",
        "but I.x is enum(a)",
    ),
    "interfaces disagree": (
        "interface I { x: I32 } interface J { x: I32 @index } node A implements I, J {}",
        "from I and from J",
    ),
    "property named id": ("node A { id: String }", "'id' is taken"),
    "property named src": ("node A {} edge E: A -> A { src: String }", "'src' is taken"),
    "property named dst": ("node A { dst: String }", "'dst' is taken"),
    "reserved property name": ("node A { _rowid: I64 }", "reserved by the storage format"),
    "two keys": ("node A { x: I32 @key y: I32 @key }", "more than one @key"),
    "key annotation and constraint": ("node A { x: I32 @key y: I32 @key(y) }", "more than one @key"),
    "key is nullable": ("node A { x: I32? @key }", "a key is never null"),
    "key is a list": ("node A { x: [I32] @key }", "it is a list"),
    "key is a vector": ("node A { x: Vector(2) @key(x) }", "it is a vector"),
    "key is a Blob": ("node A { x: Blob @key }", "it is a Blob"),
    "key names an unknown property": ("node A { name: I32 @key(nme) }", "did you mean 'name'?"),
    "key names a property twice": ("node A { x: I32 @key(x, x) }", "names 'x' twice"),
    "key with a value": ("node A { x: I32 @key(1) }", "takes names of properties"),
    "key on edge": ("node A {} edge E: A -> A { x: I32 @key }", "an edge has no key"),
    "key constraint on edge": ("node A {} edge E: A -> A { x: I32 @key(x) }", "not allowed on edge E"),
    "key names src on node": ("node A { x: I32 @unique(src) }", "does not have"),
    "unique is a list": ("node A { x: [I32] @unique }", "it is a list"),
    "unique is a Blob": ("node A { x: Blob @unique(x) }", "it is a Blob"),
    "index is a list": ("node A { x: [I32] @index }", "it is a list"),
    "index is a Blob": ("node A { x: Blob @index }", "it is a Blob"),
    "key written twice": ("node A { x: I32 @key @key }", "@key is written twice"),
    "flag on node header": ("node A @unique {}", "@unique is not allowed on node A"),
    "flag on edge header": ("node A {} edge E: A -> A @index", "@index is not allowed on edge E"),
    "embed on node header": ('node A @embed("x") {}', "@embed is not allowed on node A"),
    "range on property": ("node A { age: I32 @range(0, 9) }", "@range takes a property and its bounds"),
    "range on text": ("node A { x: String @range(x, 0..1) }", "needs a number"),
    "range allows nothing": ("node A { x: I32 @range(x, 2..1) }", "2 is above 1"),
    "range on edge": ("node A {} edge E: A -> A { x: I32 @range(x, 0..1) }", "not allowed on edge E"),
    "check on number": ('node A { x: I32 @check(x, "a") }', "needs a String"),
    "check on edge": ('node A {} edge E: A -> A { x: String @check(x, "a") }', "not allowed on edge E"),
    "check without pattern": ("node A { x: String @check(x) }", "a property and a pattern"),
    "check with look-around": ('node A { x: String @check(x, "(?=a)") }', "look-around"),
    "check with a broken pattern": ('node A { x: String @check(x, "(") }', "not a regular expression"),
    "card allows nothing": ("node A {} edge E: A -> A @card(3..1)", "3 is above 1"),
    "card on node": ("node A @card(0..1) {}", "belongs to an edge"),
    "embed on text": ("node A { x: String y: String @embed(x) }", "stored in a Vector(N)"),
    "embed from unknown": ("node A { bio: String v: Vector(2) @embed(boi) }", "did you mean 'bio'?"),
    "embed from number": ("node A { x: I32 v: Vector(2) @embed(x) }", "made from a String"),
    "embed on edge": (
        "node A {} edge E: A -> A { x: String v: Vector(2) @embed(x) }",
        "only node types have embeddings",
    ),
    "embed argument": ("node A { x: String v: Vector(2) @embed(x, size=1) }", "no argument 'size'"),
    "embed twice": ("node A { x: String v: Vector(2) @embed(x) @embed(x) }", "@embed is written twice"),
    "blank description": ('node A @description(" ") {}', "needs a text that is not blank"),
    "description twice": ('node A @description("a") @description("b") {}', "written twice"),
    "description argument": ('node A @description("a", x=1) {}', "no argument 'x'"),
    "instruction on property": ('node A { x: I32 @instruction("a") }', "@instruction is not allowed"),
    "blank instruction": ('node A @instruction("") {}', "needs a text that is not blank"),
    "rename from nothing": ("node A @rename_from {}", "needs a text that is not blank"),
    "rename argument": ('node A @rename_from("B", x=1) {}', "no argument 'x'"),
    "two types renamed from one": (
        'node A @rename_from("C") {} node B @rename_from("C") {}',
        "both renamed from 'C'",
    ),
    "two properties renamed from one": (
        'node A { x: I32 @rename_from("z") y: I32 @rename_from("z") }',
        "both renamed from 'z'",
    ),
    "rename twice": ('node A @rename_from("B") @rename_from("C") {}', "@rename_from is written twice"),
    "rename from a number": ("node A { x: I32 @rename_from(1) }", "needs a text that is not blank"),
    "rename an interface property from blank": ('interface I { x: I32 @rename_from(" ") }', "not blank"),
    "unique is a vector": ("node A { x: Vector(2) @unique }", "it is a vector"),
    "unique written twice": ("node A { x: I32 @unique @unique }", "@unique is written twice"),
    "index written twice": ("node A { x: I32 @index @index }", "@index is written twice"),
    "unique with a value": ('node A { x: I32 @unique("x") }', "takes names of properties"),
    "index names an unknown property": ("node A { x: I32 @index(y) }", "which node A does not have"),
    "unique names an unknown property on an edge": (
        "node A {} edge E: A -> A { x: I32 @unique(scr, dst) }",
        "did you mean 'src'?",
    ),
    "range names an unknown property": ("node A { x: I32 @range(y, 0..1) }", "which node A does not have"),
    "check names an unknown property": ('node A { x: String @check(y, "a") }', "which node A does not have"),
    "range on a list": ("node A { x: [I32] @range(x, 0..1) }", "needs a number"),
    "check on a list": ('node A { x: [String] @check(x, "a") }', "needs a String"),
    "check with back-reference": (r'node A { x: String @check(x, "(a)\\1") }', "back-references"),
    "range without a name": ("node A { x: I32 @range(0..9) }", "@range takes a property and its bounds"),
    "check on property": ('node A { x: String @check("a") }', "@check takes a property and a pattern"),
    "card without bounds": ("node A {} edge E: A -> A @card", "@card on edge E needs bounds"),
    "card twice": ("node A {} edge E: A -> A @card(0..1) @card(0..2)", "@card is written twice"),
    "card on property": ("node A { x: I32 @card(0..1) }", "behind the ends of an edge"),
    "embed from a list": ("node A { x: [String] v: Vector(2) @embed(x) }", "made from a String"),
    "embed from another type": (
        "node B { t: String } node A { v: Vector(2) @embed(t) }",
        "which node A does not have",
    ),
    "embed without source": ("node A { v: Vector(2) @embed }", "needs a text that is not blank"),
    "embed model is no text": ("node A { x: String v: Vector(2) @embed(x, model=3) }", "is not a text"),
    "instruction twice": ('node A @instruction("a") @instruction("b") {}', "written twice"),
    "instruction on interface property": ('interface I { x: I32 @instruction("a") }', "not allowed on I.x"),
    "blank description of a property": ('node A { x: I32 @description("") }', "not blank"),
    "blank description of an edge": ('node A {} edge E: A -> A @description("\t")', "not blank"),
    "default without value": ("node A { x: I32 @default }", "needs a value"),
    "default of a list": ("node A { x: [I32] @default(1) }", "cannot have a default"),
    "default not in the enum": ("node A { x: enum(a) @default(b) }", "is not one of a"),
    "default too large": ("node A { x: I32 @default(2147483648) }", "does not fit in I32"),
    "default is no date": ('node A { x: Date @default("soon") }', 'write "YYYY-MM-DD"'),
    "default of another type": ('node A { x: I32 @default("a") }', "does not fit its type I32"),
}

ACCEPTED = {
    "empty": "",
    "keywords are prefixes": "nodePerson {}",
    "comments": "/* a */ node A { // b\n x: I32 /* c */ }",
    "order-free ends": "edge E: A -> B node A {} node B {}",
    "node and edge share a name": "node A {} edge A: A -> A",
    "bare embed source": "node A { x: String v: Vector(2) @embed(x) }",
    "unknown annotations": 'node A @foo @bar(1, x="y") { x: I32 @baz(true) }',
    "enum values of digits and hyphens": "node A { x: enum(1st, -, a-b, _) }",
    "raw newline in a string": 'node A @description("a\nb") {}',
    "unique ends": "node A {} edge E: A -> A { @unique(src, dst) @index(src) }",
    "unique list in a body": "node A { x: [I32] @unique(x) }",
    "range with signs": "node A { x: F64 @range(x, -1.5..-0.5) @range(x, ..3) @range(x, 0..) }",
    "property named like a keyword": "node A { node: I32 edge: I32 nodeType: String enum: I32 }",
    "property named like a keyword after an annotation": "node A { x: I32 @index node: I32 @a implements: I32 }",
    "annotation values like declarations": "node A @a(nodeX, edgeY=1) {} edge E: A -> A @b(interfaceI)",
    "comment after an at sign": "node A { x: I32 @ /* c */ key }",
    "white space": "node\tA\r\n{\r\nx\n:\nI32\t?\r\n}",
    "keywords joined to names": "interfaceI {} nodeA implementsI {} edgeE: A -> A",
    "longer than reserved": "node A { _rowid2: I64 rowid: I64 _row: I64 }",
    "index on a vector": "node A { v: Vector(2) @index }",
    "index on a list in a body": "node A { x: [I32] @index(x) }",
    "largest vector": "node A { v: Vector(2147483647) }",
    "largest card": "node A {} edge E: A -> A @card(4294967295..4294967295)",
    "interface and node share a name": "interface A {} node A {}",
    "edge with an empty body": "node A {} edge E: A -> A {}",
    "interface renamed": 'interface I @rename_from("J") { x: I32 @rename_from("y") }',
    "two interfaces agree": "interface I { x: I32 } interface J { x: I32 } node A implements I, J {}",
    "inherited key": "interface I { x: I32 @key } node A implements I {}",
}


@pytest.mark.parametrize(("text", "said"), PARSE.values(), ids=PARSE.keys())
def test_parse_error(text: str, said: str) -> None:
    with pytest.raises(LanguageError) as raised:
        compile_schema(text, "my.pg")
    assert str(raised.value).startswith("parse error: ")
    assert said in str(raised.value)
    assert all(d.span is not None for d in raised.value.diagnostics)


@pytest.mark.parametrize(("text", "said"), CATALOG.values(), ids=CATALOG.keys())
def test_catalog_error(text: str, said: str) -> None:
    with pytest.raises(LanguageError) as raised:
        compile_schema(text, "my.pg")
    assert str(raised.value).startswith("catalog error: ")
    assert said in str(raised.value)
    assert len(raised.value.diagnostics) == 1
    assert "^" in raised.value.render()


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(text: str) -> None:
    compile_schema(text)


@pytest.mark.parametrize(
    "name", ["_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version", "_row_last_updated_at_version"]
)
@pytest.mark.parametrize("text", ["node A {{ {}: I64 }}", "interface I {{ {}: I64 }}"])
def test_reserved_names(name: str, text: str) -> None:
    with pytest.raises(LanguageError, match=f"'{name}' is reserved"):
        compile_schema(text.format(name))


@pytest.mark.parametrize("flag", ["@key", "@unique", "@index", '@embed("x")'])
@pytest.mark.parametrize("text", ["node A {} {{ x: String }}", "node A {{}} edge E: A -> A {}"])
def test_flags_do_not_belong_to_headers(flag: str, text: str) -> None:
    with pytest.raises(LanguageError, match="it belongs to a property"):
        compile_schema(text.format(flag))


def test_errors_are_bad_requests_with_byte_spans() -> None:
    with pytest.raises(LanguageError) as raised:
        compile_schema('node A @description("\u00e9\u00e9") { x: Int }\nedge E: A -> ')
    error = raised.value
    assert error.code == "bad_request"
    spans = [error.source.byte_span(d.span) for d in error.diagnostics if d.span]
    # The accented letters take two bytes each; the end of the text is widened to one.
    assert spans == [(33, 36), (51, 52)]


def test_one_run_reports_every_mistake() -> None:
    with pytest.raises(LanguageError) as raised:
        compile_schema("node A { x: Int }\nnode b {}\nedge E: A -> {}", "my.pg")
    assert [d.message.split(" ")[0] for d in raised.value.diagnostics] == ["unknown", "type", "expected"]
    assert "(my.pg:2:6)" in str(raised.value)
