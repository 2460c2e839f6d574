"""Records in files get their vectors, in order, and the file appears at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omnigraph.embed import Embedder
from omnigraph.embed.files import Choice, Counts, Mode, Select, embed_files, parse_select
from omnigraph.embed.settings import settings_for
from omnigraph.embed.spec import Files, read_manifest, read_spec, text_of
from omnigraph.model.errors import BadRequest, EmbeddingUnavailable

SPEC = {"dimension": 4, "types": {"Note": {"target": "v", "fields": ["title", "tags", "done", "size", "gone"]}}}
RECORDS = [
    '{"type":"Note","data":{"title":" A ","tags":["x","y"],"done":true,"size":3,"gone":null}}',
    '{"edge":"Cites","from":"a","to":"b"}',
    '{"type":"Other",  "data":{"v":[1]}}',
    '{"type":"Note","data":{"title":"B","v":[1.0,0,0,0]}}',
]
MOCK = Embedder(settings_for("mock"))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    (tmp_path / "spec.json").write_text(json.dumps(SPEC))
    (tmp_path / "in.jsonl").write_text("\n".join(RECORDS) + "\n")
    return Files(tmp_path / "in.jsonl", tmp_path / "out" / "out.jsonl", tmp_path / "spec.json")


def run(files: Files, mode: Mode = Mode.FILL_MISSING, choice: Choice | None = None) -> tuple[Counts, list[str]]:
    counts = embed_files(files, read_spec(files.spec), mode, choice or Choice(), MOCK)
    assert [path.name for path in files.output.parent.iterdir()] == [files.output.name], "nothing is left over"
    return counts, files.output.read_text().splitlines()


def test_the_text_of_a_record() -> None:
    data = json.loads(RECORDS[0])["data"]
    assert (
        text_of("Note", data, SPEC["types"]["Note"]["fields"])
        == "type: Note\ntitle: A\ntags: x, y\ndone: true\nsize: 3"
    )


def test_missing_vectors_are_filled_and_all_else_stays(files: Files) -> None:
    counts, lines = run(files)
    assert (counts.records, counts.selected, counts.embedded, counts.cleaned) == (4, 2, 1, 0)
    assert lines[1:] == RECORDS[1:]
    made = json.loads(lines[0])
    (expected,) = MOCK.embed(["type: Note\ntitle: A\ntags: x, y\ndone: true\nsize: 3"], 4)
    assert made["data"]["v"] == pytest.approx(expected.tolist())
    assert list(made["data"])[:2] == ["title", "tags"]


def test_all_selected_or_none(files: Files) -> None:
    counts, lines = run(files, Mode.REEMBED_ALL)
    assert counts.embedded == 2
    assert json.loads(lines[3])["data"]["v"] != [1.0, 0, 0, 0]
    counts, lines = run(files, Mode.REEMBED_SELECTED, Choice(selects=(parse_select("Note:title=B"),)))
    assert (counts.selected, counts.embedded) == (1, 1)
    assert "v" not in json.loads(lines[0])["data"]
    counts, _ = run(files, Mode.REEMBED_SELECTED, Choice(selects=(parse_select("size=3"), parse_select("Other:x=1"))))
    assert counts.embedded == 1
    counts, lines = run(files, Mode.CLEAN)
    assert (counts.cleaned, counts.embedded) == (1, 0)
    assert "v" not in json.loads(lines[3])["data"]
    assert lines[2] == RECORDS[2], "types the spec does not name are left alone"


def test_selects_are_read() -> None:
    assert parse_select("Note:title=a=b") == Select("Note", "title", "a=b")
    assert parse_select("title= a") == Select(None, "title", "a")
    for bad in ("title", "=x", ":title=x", "Note:=x"):
        with pytest.raises(BadRequest, match="--select"):
            parse_select(bad)


@pytest.mark.parametrize("line", ["{", "[1]", '{"type":"Note"}', '{"type":"Note","data":[]}'])
def test_a_bad_line_leaves_the_old_file(files: Files, line: str) -> None:
    _, before = run(files)
    files.source.write_text(RECORDS[0] + "\n" + line + "\n")
    with pytest.raises(BadRequest, match="line 2"):
        embed_files(files, read_spec(files.spec), Mode.FILL_MISSING, Choice(), MOCK)
    assert files.output.read_text().splitlines() == before
    assert len(list(files.output.parent.iterdir())) == 1


def test_a_provider_that_fails_leaves_the_old_file(files: Files) -> None:
    asked = Embedder(settings_for("openai", base_url="http://127.0.0.1:9"), sleep=lambda _: None)
    with pytest.raises(EmbeddingUnavailable):
        embed_files(files, read_spec(files.spec), Mode.FILL_MISSING, Choice(), asked)
    assert list(files.output.parent.iterdir()) == []


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "[]",
        '{"dimension":0,"types":{}}',
        '{"dimension":4,"types":{}}',
        '{"dimension":4,"types":{"T":{}}}',
        '{"dimension":4,"types":{"T":{"target":"v","fields":[]}}}',
        '{"dimension":true,"types":{"T":1}}',
    ],
)
def test_a_bad_spec_is_explained(tmp_path: Path, spec: str) -> None:
    path = tmp_path / "spec.json"
    path.write_text(spec)
    with pytest.raises(BadRequest, match=r"spec\.json"):
        read_spec(path)


def test_a_manifest_names_the_files(tmp_path: Path) -> None:
    path = tmp_path / "seed.yaml"
    path.write_text("sources: {raw_seed: raw.jsonl}\nembeddings: {spec: s.json}\n")
    assert read_manifest(path) == Files(
        tmp_path / "raw.jsonl", tmp_path / "build/seed.embedded.jsonl", tmp_path / "s.json"
    )
    path.write_text("seed: {data: d.jsonl}\nartifacts: {embedded_seed: e.jsonl}\nembeddings: {spec: s.json}\n")
    assert read_manifest(path) == Files(tmp_path / "d.jsonl", tmp_path / "e.jsonl", tmp_path / "s.json")
    for bad in ("a: [", "sources: {}", "seed: {data: x}"):
        path.write_text(bad)
        with pytest.raises(BadRequest, match=r"seed\.yaml"):
            read_manifest(path)


def test_types_outside_of_the_spec_are_refused(files: Files) -> None:
    with pytest.raises(BadRequest, match="--type Nope"):
        run(files, choice=Choice(types=("Nope",)))
    assert run(files, choice=Choice(types=("Note",)))[0].selected == 2
