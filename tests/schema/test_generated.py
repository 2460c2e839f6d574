"""What holds for every schema: printing, formatting, coding and hashing lose nothing."""

from __future__ import annotations

import contextlib
import re
from collections import Counter

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from omnigraph.model.errors import CorruptObject, FormatTooNew
from omnigraph.schema import (
    ast,
    compile_schema,
    decode_catalog,
    encode_catalog,
    format_schema,
    parse,
    schema_hash,
    table_schemas,
)
from omnigraph.schema.printer import print_schema
from omnigraph.schema.scan import comments
from tests.schema.generate import trees, valid_texts

TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|->|\.\.|@|[A-Za-z0-9_]+(?:\.[0-9]+)?|[^\sA-Za-z0-9_]', re.DOTALL)
GAPS = st.sampled_from([" ", "\n", "\t", "\r\n", " // note\n", " /* block */ ", "\n\n// a\n// b\n", "/* two\nlines */"])


def is_same(one: ast.ParsedSchema, two: ast.ParsedSchema) -> bool:
    """Compare with what was written: 1, 1.0 and true are equal values, and different texts."""
    return one == two and print_schema(one) == print_schema(two)


@given(trees)
@settings(max_examples=300, deadline=None)
def test_printed_and_parsed_is_the_same_tree(tree: ast.ParsedSchema) -> None:
    assert is_same(parse(print_schema(tree)), tree)


@given(trees)
@settings(max_examples=100, deadline=None)
def test_formatting_a_printed_tree_keeps_it(tree: ast.ParsedSchema) -> None:
    once = format_schema(print_schema(tree))
    assert is_same(parse(once), tree)
    assert format_schema(once) == once


@given(trees, st.data())
@settings(max_examples=200, deadline=None)
def test_formatting_keeps_every_comment(tree: ast.ParsedSchema, data: st.DataObject) -> None:
    # Enum values with hyphens are several tokens here; a gap inside would make two values of one.
    printed = print_schema(tree)
    if re.search(r"enum\([^)]*-", printed):
        return
    text = "".join(data.draw(GAPS) + token for token in TOKENS.findall(printed)) + data.draw(GAPS)
    assert is_same(parse(text), tree)
    once = format_schema(text)
    assert Counter(c.text for c in comments(once)) == Counter(c.text for c in comments(text))
    assert is_same(parse(once), tree)
    assert format_schema(once) == once


@given(valid_texts())
@settings(max_examples=150, deadline=None)
@example("node A { x: F64 @default(-0.0) y: F32 @default(0.1) }")
def test_catalogs_are_coded_without_loss(text: str) -> None:
    catalog = compile_schema(text)
    data = encode_catalog(catalog)
    assert decode_catalog(data) == catalog
    assert encode_catalog(decode_catalog(data)) == data
    assert schema_hash(decode_catalog(data)) == schema_hash(catalog)
    assert list(table_schemas(catalog)) == [f"{t.kind}:{t.name}" for t in (*catalog.nodes, *catalog.edges)]


JSON = st.sampled_from([None, 0, -1, 1.5, True, "", "x", [], {}, ["x"], {"Vector": "x"}, {"Key": ["nope"]}])


@given(valid_texts(), st.data())
@settings(max_examples=150, deadline=None)
def test_a_damaged_catalog_is_refused_or_read(text: str, data: st.DataObject) -> None:
    read = orjson.loads(encode_catalog(compile_schema(text)))
    place = read
    while isinstance(place, dict | list) and place:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        parent, place = place, place[key]
        if data.draw(st.booleans()):
            break
    parent[key] = data.draw(JSON)
    with contextlib.suppress(CorruptObject, FormatTooNew):
        decode_catalog(orjson.dumps(read))


@given(st.binary(max_size=50))
@settings(max_examples=50, deadline=None)
def test_bytes_are_no_catalog(data: bytes) -> None:
    with pytest.raises((CorruptObject, FormatTooNew)):
        decode_catalog(data)


@given(valid_texts(), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_hash_does_not_depend_on_layout_or_order(text: str, random) -> None:
    parsed = parse(text)
    shuffled = list(parsed.declarations)
    random.shuffle(shuffled)
    again = format_schema(print_schema(ast.ParsedSchema(tuple(shuffled))))
    assert schema_hash(compile_schema(again)) == schema_hash(compile_schema(text))
