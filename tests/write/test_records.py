"""The strict and the permissive parser: each rule, and that no bytes crash them."""

import pickle

import numpy as np
import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from omnigraph.model.violations import ViolationKind
from omnigraph.write.json_lines import read_together
from omnigraph.write.records import Parsed, parse_lines, parse_records

from .people import CATALOG, parse, wrong

ADA = '{"type":"Person","data":{"name":"Ada"}}'
BOB = '{"type":"Person","data":{"name":"Bob"}}'
KNOWS = '{"edge":"Knows","from":"Ada","to":"Bob","data":{}}'


def test_records_are_grouped_by_table_with_their_lines() -> None:
    parsed = parse(f"{ADA}\n\n{KNOWS}\r\n  \t\r\n{BOB}\n")
    assert list(parsed.tables) == ["node:Person", "edge:Knows"]
    people, knows = parsed.tables.values()
    assert people.data == [{"name": "Ada"}, {"name": "Bob"}]
    assert people.positions.tolist() == [1, 5]
    assert people.positions.dtype == np.int64
    assert (knows.sources, knows.targets, knows.positions.tolist()) == (["Ada"], ["Bob"], [3])
    assert parsed.violations.total == 0


def test_lines_count_from_the_first() -> None:
    assert parse(ADA + "\n" + ADA, first_line=70).tables["node:Person"].positions.tolist() == [70, 71]


def test_a_list_of_lines_is_the_same() -> None:
    text = f"{ADA}\n{KNOWS}\n".encode()
    split = parse_lines(text.split(b"\n"), 1, CATALOG)
    assert split.tables["node:Person"].data == parse(text).tables["node:Person"].data


def test_data_may_be_left_out() -> None:
    parsed = parse('{"type":"Note"}\n{"edge":"Wrote","from":"a","to":"b"}')
    assert (parsed.tables["node:Note"].data, parsed.tables["edge:Wrote"].data) == ([{}], [{}])
    assert parsed.violations.total == 0


def test_edges_are_found_in_any_case() -> None:
    parsed = parse("\n".join(KNOWS.replace("Knows", word) for word in ("knows", "KNOWS", "Knows", "knows")))
    assert parsed.tables["edge:Knows"].positions.tolist() == [1, 2, 3, 4]
    assert len(parsed.tables["edge:Knows"].sources) == 4


def test_a_name_may_be_that_of_a_node_and_of_an_edge() -> None:
    assert "there is an edge type of that name" in wrong('{"type":"Knows","data":{}}')[0]
    assert "there is a node type of that name" in wrong('{"edge":"Person","from":"a","to":"b"}')[0]


def test_nothing() -> None:
    for strict in (True, False):
        for text in (b"", b"\n", b" \r\n\t\n", b"\xef\xbb\xbf"):
            assert parse(text, strict=strict).tables == {}
            assert wrong(text, strict=strict) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"type":"Person","data":{"name":"A"}', "the record is not complete, the line ends at column 37"),
        ("{", "the record is not complete, the line ends at column 2; every record is one whole line"),
        (ADA + ADA, "there is more text after the record, at column 40; every record is on a line of its own"),
        ('{"type":"Person","data":{"name":"é" "age":1}}', "invalid JSON at column 37: "),
        ('{"type":"Person","data":{"age":NaN}}', "NaN at column 32 is no JSON; write it as a string"),
        ('{"type":"Person","data":{"age":-Infinity}}', "-Infinity at column 32 is no JSON"),
        ('{"type":"Person","data":{"age":1e999}}', "the number at column 32 is too large"),
        ('{"type":"Person","data":{"name":"\x00"}}', "there is a null byte at column 34"),
        ('{"type":"Person","data":{"name":"\t"}}', "invalid JSON at column 34: "),
        (b'{"type":"Person","data":{"name":"\xc3\xa9\xff"}}', "byte 0xff at column 35 is not UTF-8"),
        ("[" * 5000, "the record is nested too deeply, at column 10"),
        ("[1]", "an array of 1 is not a record: a node is {"),
        ("7", "7 is not a record"),
        ("null", "null is not a record"),
        ('{"type":"Person","edge":"Knows","data":{}}', "a record has either 'type' or 'edge', not both"),
        ('{"typ":"Person","data":{}}', "the record has neither 'type' nor 'edge'"),
        ("{}", "the record has neither 'type' nor 'edge'"),
        ('{"type":7,"data":{}}', "the name of a type is a string, not 7"),
        ('{"type":["Person"],"data":{}}', "the name of a type is a string, not an array of 1"),
        ('{"type":"Persn","data":{}}', "there is no node type \"Persn\"; did you mean 'Person'?"),
        ('{"type":"person","data":{}}', "did you mean 'Person'? names are case-sensitive"),
        ('{"edge":"Knwos","from":"a","to":"b"}', "there is no edge type \"Knwos\"; did you mean 'Knows'?"),
        ('{"type":"Person","data":7}', "'data' is an object, not 7"),
        ('{"type":"Person","data":null}', "'data' is an object, not null"),
        ('{"type":"Person","data":[]}', "'data' is an object, not an array of 0"),
        ('{"type":"Person","name":"Ada"}', "has no field \"name\"; properties go into 'data'"),
        ('{"type":"Person","data":{"id":"b"},"id":"a"}', 'the id is "a" beside \'data\' and "b" in it'),
        ('{"type":"Person","dta":{}}', "has no field \"dta\"; did you mean 'data'?"),
        ('{"type":"Person","data":{},"from":"a"}', 'a record of node type Person has no field "from"'),
        ('{"edge":"Knows","to":"b","data":{}}', "an edge needs 'from': the id of a node"),
        ('{"edge":"Knows","from":"a","to":7,"data":{}}', "'to' is the id of a node, a string; 7 is not; write \"7\""),
        ('{"type":"Person","data":{"name":"a","nam":1}}', "Person has no property 'nam'; did you mean 'name'?"),
        ('{"type":"Person","data":{"_rowid":1}}', "'_rowid' is a reserved name"),
        ('{"type":"Person","data":{"_tombstone":1}}', "'_tombstone' is a reserved name"),
        (
            '{"edge":"Knows","from":"a","to":"b","data":{"src":"c"}}',
            "'src' is not given in 'data': write 'from' beside it",
        ),
        ('{"type":"Person","type":"Person","data":{}}', "the key 'type' is there twice"),
        ('{"type":"Person","data":{"age":1,"age":1}}', "the key 'age' is there twice"),
        ('{"type":"Person","data":{"age":1,"\\u0061ge":2}}', "the key 'age' is there twice"),
        ('{"type":"Person","data":{"age":1,"age":2,"name" : "x"}}', "the key 'age' is there twice"),
        ('{"type":"Person","data":{"age":1,"age":2,"name"\t:"x\\":"}}', "the key 'age' is there twice"),
        ('{"type":"Person","data":{"tags":[{"a":1,"a":2}]}}', "the key 'a' is there twice"),
        ('{"type":"Person","data":[1],"data":{"age":1}}', "the key 'data' is there twice"),
    ],
)
def test_strict_refuses(line: str | bytes, message: str) -> None:
    data = line.encode() if isinstance(line, str) else line
    found = wrong(ADA.encode() + b"\n" + data + b"\n" + BOB.encode())
    assert len(found) == 1
    assert found[0].startswith("line 2: ")
    assert message in found[0]
    alone = wrong(data)
    assert alone == [found[0].replace("line 2", "line 1")]


def test_all_faults_of_all_lines_are_told() -> None:
    lines = ["{", ADA, "[]", '{"edge":"Nope","to":7,"x":1}', '{"type":"Person","data":{"a":1,"b":2}}']
    found = wrong("\n".join(lines))
    assert [text.split(":")[0] for text in found] == ["line 1", "line 3", *["line 4"] * 3, *["line 5"] * 2]


def test_good_lines_survive_bad_ones() -> None:
    parsed = parse(f"{ADA}\nnonsense\n{BOB}")
    assert parsed.tables["node:Person"].positions.tolist() == [1, 3]
    assert parsed.violations.counts == {ViolationKind.SYNTAX: 1}


@pytest.mark.parametrize("text", ['a":b', "x :y", "x\\t:", '\\":\\":', "{}:[]", "\\u003a"])
def test_text_that_looks_like_keys_is_no_fault(text: str) -> None:
    line = ADA.replace("Ada", text.replace('a":', 'a\\":'))
    parsed = parse(f"{line}\n{ADA}")
    assert parsed.violations.total == 0
    assert len(parsed.tables["node:Person"]) == 2


def test_lines_that_only_together_are_json() -> None:
    for lines in (
        ['{"type":"Person","data":{"tags":[{}', "{}]}}", "{},{}"],
        ['{"type":"Person"', '"data":{}}'],
        ['{"type":"Per', 'son","data":{}}', f"{ADA},{ADA}"],
        ["[", "]"],
        [ADA + ",7310596140000," + ADA],
        ['{"a":[', "1]}", "{}\n,7310596140000,\n{}"],
    ):
        assert read_together([line.encode() for line in lines]) is None
        assert wrong("\n".join(lines))


def test_the_separator_may_be_in_the_data() -> None:
    line = '{"type":"Person","data":{"name":"7310596140000","age":7310596140001}}'
    parsed = parse(f"{line}\n{line}")
    assert len(parsed.tables["node:Person"]) == 2
    assert parsed.violations.total == 0


def test_a_line_of_ten_megabytes() -> None:
    name = "x" * 10_000_000
    parsed = parse(ADA.replace("Ada", name) + "\n" + BOB)
    assert [len(data["name"]) for data in parsed.tables["node:Person"].data] == [10_000_000, 3]


def test_a_byte_order_mark_is_skipped_at_the_start_only() -> None:
    for strict in (True, False):
        assert len(parse(b"\xef\xbb\xbf" + ADA.encode(), strict=strict).tables["node:Person"]) == 1
    assert wrong(ADA.encode() + b"\n\xef\xbb\xbf" + BOB.encode())[0].startswith("line 2: ")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("strict", [True, False])
def test_other_encodings_are_told_once(encoding: str, strict: bool) -> None:
    (found,) = wrong("\n".join([ADA] * 100).encode(encoding), strict=strict)
    assert found == "line 1: this is not UTF-8; it looks like UTF-16 or UTF-32: convert it to UTF-8 first"


def test_parts_can_be_put_together_and_travel() -> None:
    first, second = parse(f"{ADA}\nx"), parse(f"{KNOWS}\n{BOB}\ny", first_line=3)
    both: Parsed = pickle.loads(pickle.dumps(first)).then(second)
    whole = parse(f"{ADA}\nx\n{KNOWS}\n{BOB}\ny")
    assert both.violations.kept == whole.violations.kept
    for key, records in whole.tables.items():
        assert both.tables[key].data == records.data
        assert both.tables[key].positions.tolist() == records.positions.tolist()
        assert both.tables[key].sources == records.sources


def test_records_that_are_dicts_already() -> None:
    parsed = parse_records([orjson.loads(ADA), orjson.loads(KNOWS), "x", {"type": "Note"}], 1, CATALOG)
    assert list(parsed.tables) == ["node:Note", "node:Person", "edge:Knows"]
    assert str(parsed.violations.kept[0]).startswith('record 3: "x" is not a record')


def test_a_million_faults_are_counted_and_few_kept() -> None:
    parsed = parse("\n".join(['{"type":"Person","data":{"nmae":1}}'] * 20_000))
    assert parsed.violations.total == 20_000
    assert len(parsed.violations.kept) <= 400
    assert parsed.violations.kept[0].position == 1


# -- permissive ----------------------------------------------------------------------------------------


def test_permissive_values_span_lines() -> None:
    text = '{\n  "type": "Person",\n  "data": {"name": "Ada"}\n}\n\n' + BOB + KNOWS + ' {"type":"Note",\n"data":null}'
    parsed = parse(text, strict=False)
    assert {key: records.positions.tolist() for key, records in parsed.tables.items()} == {
        "node:Person": [1, 6],
        "node:Note": [6],
        "edge:Knows": [6],
    }
    assert parsed.violations.total == 0


def test_permissive_ignores_what_it_does_not_know() -> None:
    lines = ['{"type":"Person","data":{"name":"a","nope":1,"_rowid":2},"x":1}', '{"type":"Person","edge":"Knows"}']
    parsed = parse("\n".join(lines), strict=False)
    assert parsed.violations.total == 0
    assert len(parsed.tables["node:Person"]) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n"type": Person}', "line 2: invalid JSON at column 9: Expecting value"),
        (ADA + '\n\n{"type":\n\n', "line 3: the text ends in the middle of a record, at column 9"),
        ('\n{"type":"Person","data":{"age":\nNaN}}', "line 2: NaN is no JSON"),
        (b'{"type":\n"\xff"}', "line 2: byte 0xff at column 2 is not UTF-8"),
        ("\n" + "[" * 100_000, "line 2: the record is nested too deeply"),
        ("{}\n7 8", "line 1: the record has neither"),
        ('{"type":"Nope"}', 'line 1: there is no node type "Nope"'),
        ('{"edge":"Knows","from":"a"}', "line 1: an edge needs 'to'"),
    ],
)
def test_permissive_refuses(text: str | bytes, message: str) -> None:
    assert wrong(text, strict=False)[0].startswith(message)


def test_permissive_takes_long_numbers() -> None:
    assert wrong('{"type":\n"Person","data":{"age":' + "9" * 5000 + "}}", strict=False) == []


# -- any bytes -----------------------------------------------------------------------------------------

_PARTS = [
    ADA,
    KNOWS,
    "{",
    "}",
    "[",
    "]",
    '"',
    ":",
    ",",
    "\\",
    "\n",
    "\r",
    " ",
    "\x00",
    "type",
    "data",
    "null",
    "NaN",
    "1e9",
    "é",
]
_any_text = st.lists(st.sampled_from(_PARTS) | st.text(max_size=3), max_size=12).map("".join)
_any_bytes = st.binary(max_size=60) | _any_text.map(str.encode)


@given(_any_bytes, st.booleans(), st.sampled_from([1, 5]))
@example(b"\xff\xfe", True, 1)
def test_no_bytes_crash(data: bytes, strict: bool, first_line: int) -> None:
    parse(data, strict=strict, first_line=first_line).violations.total  # noqa: B018


@given(st.lists(_any_text.map(lambda text: text.replace("\n", " ").encode()), max_size=6))
def test_together_is_each(lines: list[bytes]) -> None:
    together = read_together(lines) if lines else None
    if together is not None:
        assert together.values == [orjson.loads(line) for line in lines]


_keys = st.sampled_from(["name", "age", "role", "a b", 'q"', "c:", "d :"])


@given(
    st.lists(
        st.lists(st.tuples(_keys, st.sampled_from(["1", '"x\\":"', '" :"', "null"])), max_size=4),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([":", " :", ": "]),
)
def test_repeated_keys_are_always_found(rows: list[list[tuple[str, str]]], colon: str) -> None:
    lines = [
        '{"type":"Person","data":{' + ",".join(orjson.dumps(key).decode() + colon + value for key, value in row) + "}}"
        for row in rows
    ]
    expected = [number for number, row in enumerate(rows, 1) if len(dict(row)) != len(row)]
    found = [v.position for v in parse("\n".join(lines)).violations.kept if "twice" in v.message]
    assert found == expected


def test_an_id_stands_in_data_or_beside_it(tmp_path) -> None:
    """Older files have it in the one place or the other."""
    import omnigraph as og

    g = og.init(tmp_path / "g.omni", "node Note { text: String }\nedge Cites: Note -> Note")
    g.load(
        [
            {"type": "Note", "id": "n1", "data": {"text": "beside"}},
            {"type": "Note", "data": {"id": "n2", "text": "within"}},
            {"type": "Note", "id": "n3", "data": {"id": "n3", "text": "both"}},
            {"edge": "Cites", "id": "c1", "from": "n1", "to": "n2"},
        ],
        mode="append",
    )
    assert g.snapshot().table("node:Note").scan(["id"]).column("id").to_pylist() == ["n1", "n2", "n3"]
    assert g.snapshot().table("edge:Cites").scan(["id"]).column("id").to_pylist() == ["c1"]
