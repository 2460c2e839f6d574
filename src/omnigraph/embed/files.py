"""Vectors for records in a file, before anybody loads them. Order stays; the result appears at once or not at all."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

import orjson

from omnigraph.embed.spec import text_of, value_text
from omnigraph.model.errors import BadRequest
from omnigraph.model.files import gist

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from omnigraph.embed.embedder import Embedder
    from omnigraph.embed.spec import Files, FileSpec

_LINES_AT_ONCE = 1024


class Mode(StrEnum):
    """Which vectors are made, or taken away."""

    FILL_MISSING = "fill_missing"
    REEMBED_SELECTED = "reembed_selected"
    REEMBED_ALL = "reembed_all"
    CLEAN = "clean"


@dataclass(frozen=True, slots=True)
class Select:
    """Records with a value, of one type or of any."""

    type_name: str | None
    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Choice:
    """Which records are meant."""

    types: tuple[str, ...] = ()
    selects: tuple[Select, ...] = ()

    def has(self, type_name: str, data: Mapping[str, Any]) -> bool:
        """Whether a record is meant."""
        if self.types and type_name not in self.types:
            return False
        return not self.selects or any(
            each.type_name in (None, type_name) and each.field in data and value_text(data[each.field]) == each.value
            for each in self.selects
        )


@dataclass
class Counts:
    """What became of the records."""

    records: int = 0
    selected: int = 0
    embedded: int = 0
    cleaned: int = 0


@dataclass
class _Line:
    raw: bytes
    record: dict[str, Any] | None = None
    target: str = ""
    text: str | None = None
    """What is to be embedded."""


def parse_select(text: str) -> Select:
    """Read `[T:]field=value`."""
    left, equals, value = text.partition("=")
    type_name, colon, name = left.rpartition(":")
    if not equals or not name or (colon and not type_name):
        raise BadRequest(f"--select {text!r}: write field=value, or Type:field=value")
    return Select(type_name or None, name, value.strip())


def embed_files(files: Files, spec: FileSpec, mode: Mode, choice: Choice, embedder: Embedder | None) -> Counts:
    """Read records, make or take away vectors, and write all of them in their order."""
    unknown = [name for name in choice.types if name not in spec.types]
    if unknown:
        raise BadRequest(f"--type {unknown[0]}: the spec has {', '.join(sorted(spec.types))}")
    counts = Counts()
    files.output.parent.mkdir(parents=True, exist_ok=True)
    partial = files.output.with_name(f".{files.output.name}.{os.getpid()}")
    try:
        with partial.open("wb") as output:
            for lines in _chunks(files.source, spec, mode, choice, counts):
                _embed(lines, spec, embedder, counts)
                output.writelines(line.raw + b"\n" for line in lines)
            output.flush()
            os.fsync(output.fileno())
        partial.replace(files.output)
    except OSError as error:
        raise BadRequest(f"cannot write {files.output}: {gist(error)}") from error
    finally:
        partial.unlink(missing_ok=True)
    return counts


def _chunks(source: Path, spec: FileSpec, mode: Mode, choice: Choice, counts: Counts) -> Iterator[list[_Line]]:
    chunk: list[_Line] = []
    try:
        with source.open("rb") as lines:
            for number, raw in enumerate(lines, 1):
                chunk.append(_read(raw.rstrip(b"\r\n"), f"{source}, line {number}", spec, mode, choice, counts))
                if len(chunk) >= _LINES_AT_ONCE:
                    yield chunk
                    chunk = []
    except OSError as error:
        raise BadRequest(f"cannot read {source}: {gist(error)}") from error
    yield chunk


def _read(raw: bytes, where: str, spec: FileSpec, mode: Mode, choice: Choice, counts: Counts) -> _Line:
    """One line, and what is to be done with it. Edges, and types the spec does not name, pass as they are."""
    line = _Line(raw)
    if not raw.strip():
        return line
    try:
        found: Any = orjson.loads(raw)
    except ValueError as error:
        raise BadRequest(f"{where} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise BadRequest(f"{where} is no record: a record is an object")
    record = cast("dict[str, Any]", found)
    counts.records += 1
    type_name = record.get("type")
    if not isinstance(type_name, str) or type_name not in spec.types:
        return line
    data = record.get("data")
    if not isinstance(data, dict):
        raise BadRequest(f"{where}: a record of {type_name} needs 'data', an object")
    values, wanted = cast("dict[str, Any]", data), spec.types[type_name]
    if not choice.has(type_name, values):
        return line
    counts.selected += 1
    line.record, line.target = record, wanted.target
    if mode is Mode.CLEAN:
        if wanted.target in values:
            del values[wanted.target]
            counts.cleaned += 1
            line.raw = orjson.dumps(record)
    elif mode is not Mode.FILL_MISSING or not values.get(wanted.target):
        line.text = text_of(type_name, values, wanted.fields)
    return line


def _embed(lines: list[_Line], spec: FileSpec, embedder: Embedder | None, counts: Counts) -> None:
    wanted = [line for line in lines if line.text is not None]
    if not wanted or embedder is None:
        return
    vectors = embedder.embed([cast("str", line.text) for line in wanted], spec.dimension)
    for line, vector in zip(wanted, vectors, strict=True):
        assert line.record is not None
        line.record["data"][line.target] = vector
        line.raw = orjson.dumps(line.record, option=orjson.OPT_SERIALIZE_NUMPY)
    counts.embedded += len(wanted)
