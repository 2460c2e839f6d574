"""Lines read together give what they give one by one: the same rows, ids and violations."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnigraph.schema import compile_schema
from omnigraph.write.batches import SLICE_LINES, Batches, read_batches
from omnigraph.write.json_columns import read_columns
from omnigraph.write.lines import Lines

from .people import counted_ids

CATALOG = compile_schema(
    """
node All {
    name: String @key
    i: I32?  j: I64?  u: U32?  w: U64?  f: F32?  g: F64?  b: Bool?
    d: Date?  t: DateTime?  l: [I64]?  s: [String]?  v: Vector(2)?  e: enum(a, b)?
}
node Note { text: String  stars: I32 @default(3)  type: String?  data: String? }
node Photo { name: String @key  bytes: Blob? }
node Empty {}
edge Knows: All -> All { since: Date?  weight: F64? }
edge Empty: All -> Note
"""
)


def both(text: bytes) -> tuple[Batches, Batches]:
    together = read_batches(Lines(text), 1, CATALOG, new_ids=counted_ids())
    one_by_one = read_batches(text[:-1].split(b"\n"), 1, CATALOG, new_ids=counted_ids())
    return together, one_by_one


def described(batches: Batches) -> dict[str, Any]:
    """Rows in the order of the input; new ids are told by nothing but being new."""
    tables = {}
    for key, batch in sorted(batches.tables.items()):
        batch.table.validate(full=True)
        given = batch.given_id.to_pylist()
        rows = [
            {**row, "id": row["id"] if known else None}
            for row, known in zip(batch.table.to_pylist(), given, strict=True)
        ]
        tables[key] = [batch.table.schema, repr(rows), batch.positions.tolist(), given, batch.bad_cells, batch.remap]
    violations = sorted(map(repr, batches.violations.kept))
    return {"tables": tables, "violations": violations, "counts": batches.violations.counts}


def check(text: bytes) -> None:
    together, one_by_one = both(text)
    assert described(together) == described(one_by_one)


def line(word: str, name: str, data: str | None = None, **more: str) -> str:
    ends = "".join(f',"{key}":{value}' for key, value in more.items())
    return f'{{"{word}":"{name}"{ends}' + (f',"data":{data}}}' if data is not None else "}")


def all_of(members: str) -> str:
    return line("type", "All", f'{{"name":"x"{members}}}')


ENDS = {"from": '"a"', "to": '"b"'}

USUAL = {
    "every type": [
        all_of(
            ',"i":-2147483648,"j":9223372036854775807,"u":4294967295,"w":18446744073709551615,"f":0.1,"g":1e3,"b":true'
            ',"d":"2020-02-29","t":"2020-01-01T10:00:00.5Z","l":[1,-2],"s":["a","\\u00e4"],"v":[0.5,2],"e":"a"'
        ),
        all_of(',"i":null,"l":null,"v":null,"s":[]'),
        all_of(""),
    ],
    "other times": [all_of(',"t":"2020-01-01 10:00:00"'), all_of(',"t":"2021-01-01T10:00:00.123"')],
    "spaces": [json.dumps({"type": "All", "data": {"name": "ä😀"}})],
    "escapes": [all_of(',"e":"\\u0061","s":["\\u0000","\\"\\\\\\/","\\ud83d\\ude00"]')],
    "ids": [
        line("type", "Note", '{"text":"a","stars":1,"id":"n1"}'),
        line("type", "Note", '{"id":"","stars":2,"text":"b"}'),
    ],
    "defaults": [line("type", "Note", '{"text":"a"}'), line("type", "Note", '{"text":"b","data":"c","type":"d"}')],
    "without properties": [line("type", "Empty", "{}"), line("edge", "Empty", "{}", **ENDS)],
    "edges": [line("edge", "Knows", '{"since":"2020-01-01"}', **ENDS), line("edge", "Knows", '{"weight":2}', **ENDS)],
    "edges without data": [line("edge", "knows", **ENDS)] * 2,
    "taking turns": [all_of(""), line("edge", "Knows", "{}", **ENDS), line("type", "Note", '{"text":"a"}')] * 3,
    "required values missing": [
        line("type", "Note", "{}"),
        line("type", "All", "{}"),
        line("type", "All", '{"name":null}'),
    ],
    "keys and ids that differ": [line("type", "All", '{"name":"a","id":"b"}')],
}


@pytest.mark.parametrize("lines", USUAL.values(), ids=USUAL.keys())
def test_the_usual_is_read_together(lines: list[str]) -> None:
    text = "".join(f"{one}\n" for one in lines).encode()
    assert read_columns(Lines(text), CATALOG) is not None
    check(text)


UNUSUAL = [
    *(
        all_of(f',"{name}":{value}')
        for name in "ijuwfgb"
        for value in (
            "1.0",
            "1e2",
            "-0",
            "-0.0",
            "NaN",
            "Infinity",
            "-Infinity",
            '"NaN"',
            '"1"',
            "1e39",
            "1e400",
            "true",
            "01",
            "+1",
            "-1",
            "2147483648",
            "18446744073709551616",
            "123456789012345678901234567890",
            "[]",
            "{}",
            "0.1e-400",
            "nan",
        )
    ),
    *(
        all_of(f',"d":{value}')
        for value in ('"2020-02-30"', '"0999-01-01"', '"2020-1-1"', "18262", '"2020-01-01T00:00:00Z"', '""')
    ),
    *(
        all_of(f',"t":{value}')
        for value in ('"2020-01-01"', '"2020-01-01T00:00:00+02:00"', '"2020-01-01T25:00:00Z"', "0", '"x"')
    ),
    *(all_of(f',"l":{value}') for value in ("[null]", "[1.0]", '["1"]', "1", "[[1]]", "[-0]")),
    *(
        all_of(f',"v":{value}')
        for value in ("[1]", "[1,2,3]", "[1,null]", "[-0.0,1]", "[NaN,1]", "[1e39,1]", '["1","2"]', "[]")
    ),
    *(all_of(f',"e":{value}') for value in ('"c"', "1", '"\\ud800"', '"\\udc00"', '"\\x"', '"a\tb"')),
    all_of(',"name":"y"'),
    all_of(',"i":1,"i":1'),
    all_of(',"nobody":1'),
    all_of(',"id":"x"'),
    all_of(',"id":null'),
    all_of(',"i":1,'),
    all_of("") + all_of(""),
    all_of("") + ",",
    " " + all_of(""),
    all_of("") + " ",
    all_of("") + "\r",
    "",
    all_of("").replace("}}", "}}\n{}"),
    all_of("").replace(',"data"', '\n,"data"'),
    '{"a":[{}',
    "{}]}",
    "[]",
    "{}",
    "null",
    "x",
    '{"data":{"name":"x"},"type":"All"}',
    '{"type":"All","data":{"name":"x"},"type":"Note"}',
    '{"type":"All","id":"x","data":{}}',
    '{"type":"All","edge":"Knows","data":{}}',
    '{"type":"all","data":{}}',
    '{"type":"Nobody","data":{}}',
    '{"edge":"All","data":{}}',
    '{"type":"\\u0041ll","data":{}}',
    '{"type" :"All","data":{}}',
    line("type", "All", "null"),
    line("type", "All", "[]"),
    line("type", "All"),
    line("type", "Photo", '{"name":"x","bytes":"base64:aGk="}'),
    line("type", "Note", '{"text":"a","stars":null}'),
    line("type", "Note", '{"text":"a","\\u0073tars":null}'),
    line("type", "Note", '{"text":"a","\\u0069d":null}'),
    line("edge", "KNOWS", "{}", **ENDS),
    line("edge", "Knows", "{}", **{"from": "1", "to": '"b"'}),
    line("edge", "Knows", "{}", to='"b"'),
    line("edge", "Knows", "null", **ENDS),
    line("edge", "Knows", **ENDS),
    line("edge", "Knows", '{"id":"e"}', **ENDS),
    line("edge", "Knows", "{}", **{"to": '"b"', "from": '"a"'}),
    line("edge", "Knows", "{}", **{"from": "null", "to": '"b"'}),
]


@pytest.mark.parametrize("unusual", UNUSUAL)
def test_the_unusual_is_the_same(unusual: str) -> None:
    for lines in (
        [unusual],
        [all_of(""), unusual],
        [unusual, all_of("")],
        [line("edge", "Knows", "{}", **ENDS), unusual],
    ):
        check("".join(f"{one}\n" for one in lines).encode())


@pytest.mark.parametrize(
    "text",
    [
        b'{"type":"All","data":{"name":"\xff"}}\n',
        b'{"type":"All","data":{"name":"x"}}\x00\n',
        b"\xef\xbb\xbf{}\n",
        b"\n\n",
        b'{"type":"All\xff","data":{}}\n',
        b'{"type":"All","data":{"name":"\xed\xa0\x80"}}\n',
    ],
)
def test_bytes_that_are_no_text(text: bytes) -> None:
    check(text)
    check(all_of("").encode() + b"\n" + text)


def test_only_a_slice_is_read_one_by_one() -> None:
    lines = [line("type", "All", f'{{"name":"p{number}"}}') for number in range(2 * SLICE_LINES + 10)]
    lines[SLICE_LINES + 3] = all_of(',"i":"one"')
    text = "".join(f"{one}\n" for one in lines).encode()
    together, one_by_one = both(text)
    assert described(together) == described(one_by_one)
    assert [one.place for one in together.violations.kept] == [f"line {SLICE_LINES + 4}"]


def test_a_line_may_be_longer_than_a_block() -> None:
    long = all_of(f',"s":["{"x" * 3_000_000}"]')
    text = f"{all_of('')}\n{long}\n{all_of('')}\n".encode()
    assert read_columns(Lines(text), CATALOG) is not None
    check(text)


VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**65), 2**65)
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["2020-01-01", "2020-01-01T00:00:00Z", "a", ""])
    | st.lists(st.none() | st.integers() | st.floats() | st.text(max_size=2), max_size=3)
    | st.dictionaries(st.text(max_size=2), st.integers(), max_size=1)
)
MEMBERS = st.sampled_from([each.name for node in CATALOG.nodes for each in node.properties] + ["id", "since", "weight"])
RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["All", "Note", "Empty", "none"]),
        "edge": st.sampled_from(["Knows", "knows", "Empty"]),
        "from": st.just("a") | VALUES,
        "to": st.just("b") | VALUES,
        "data": st.dictionaries(MEMBERS, VALUES, max_size=3) | VALUES,
    },
)


@given(st.lists(RECORDS, max_size=4), st.booleans(), st.booleans())
def test_any_records_are_the_same(records: list[dict[str, Any]], compact: bool, ascii_only: bool) -> None:
    separators = (",", ":") if compact else None
    lines = [json.dumps(record, separators=separators, ensure_ascii=ascii_only) for record in records]
    check("".join(f"{one}\n" for one in lines).encode("utf-8", "surrogatepass") or b"\n")


# -- lines -----------------------------------------------------------------------------------------------


def test_lines_are_a_sequence() -> None:
    lines = Lines(b"ab\n\nc\n")
    assert (len(lines), list(lines), lines[0], lines[-1]) == (3, [b"ab", b"", b"c"], b"ab", b"c")
    assert (list(lines[1:]), list(lines[2:1]), list(lines[:9]), lines.longest) == (
        [b"", b"c"],
        [],
        [b"ab", b"", b"c"],
        2,
    )
    assert lines.column.to_pylist() == [b"ab\n", b"\n", b"c\n"]
    assert (len(Lines(b"")), list(Lines(b""))) == (0, [])
