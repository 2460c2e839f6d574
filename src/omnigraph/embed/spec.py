"""Which vectors files get, and from which fields: the spec of `omnigraph embed`, and the manifest that names it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from omnigraph.model.errors import BadRequest
from omnigraph.model.files import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DIMENSION_MAX = 65_536
DEFAULT_ARTIFACT = "./build/seed.embedded.jsonl"


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """For one type: the property that gets the vector, and the fields whose text it is made from."""

    target: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileSpec:
    """For all types of a file."""

    dimension: int
    types: Mapping[str, TypeSpec]


@dataclass(frozen=True, slots=True)
class Files:
    """What is read, what is written, and how."""

    source: Path
    output: Path
    spec: Path


def read_spec(path: Path) -> FileSpec:
    """Read a spec."""
    try:
        document = json.loads(read_text(path))
    except ValueError as error:
        raise BadRequest(f"{path} is no JSON: {error}") from error
    wrong = _wrong(document)
    if wrong is not None:
        raise BadRequest(
            f'{path}: {wrong}; a spec is {{"dimension": 768, "types": {{"T": {{"target": "v", "fields": ["text"]}}}}}}'
        )
    types = {name: TypeSpec(each["target"], tuple(each["fields"])) for name, each in document["types"].items()}
    return FileSpec(document["dimension"], types)


def _wrong(document: Any) -> str | None:
    if not isinstance(document, dict):
        return "it is no object"
    spec = cast("dict[str, Any]", document)
    dimension, types = spec.get("dimension"), spec.get("types")
    if not isinstance(dimension, int) or isinstance(dimension, bool) or not 0 < dimension <= DIMENSION_MAX:
        return f"'dimension' is a whole number from 1 to {DIMENSION_MAX}"
    if not isinstance(types, dict) or not types:
        return "'types' names at least one type"
    for name, each in cast("dict[str, Any]", types).items():
        if not isinstance(each, dict) or not _is_name(cast("dict[str, Any]", each).get("target")):
            return f"type {name!r} needs a 'target'"
        fields = cast("dict[str, Any]", each).get("fields")
        if not isinstance(fields, list) or not fields or not all(map(_is_name, cast("list[Any]", fields))):
            return f"type {name!r} needs 'fields', a list of property names"
    return None


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def read_manifest(path: Path) -> Files:
    """Read the manifest of a seed. Its paths start where it lies."""
    import yaml

    try:
        document: Any = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise BadRequest(f"{path} is no YAML: {' '.join(str(error).split())}") from error
    source = _entry(document, ("sources", "raw_seed"), ("seed", "data"))
    spec = _entry(document, ("embeddings", "spec"))
    if source is None:
        raise BadRequest(f"{path} does not say what is read: give sources.raw_seed or seed.data")
    if spec is None:
        raise BadRequest(f"{path} does not say how texts are made: give embeddings.spec")
    output = _entry(document, ("artifacts", "embedded_seed")) or DEFAULT_ARTIFACT
    folder = path.parent
    return Files(folder / source, folder / output, folder / spec)


def _entry(document: Any, *places: tuple[str, str]) -> str | None:
    for place in places:
        found: Any = document
        for name in place:
            found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
        if isinstance(found, str) and found:
            return found
    return None


# -- text ----------------------------------------------------------------------------------------------


def text_of(type_name: str, data: Mapping[str, Any], fields: Sequence[str]) -> str:
    """The text a vector is made from: the type, then every field that says something."""
    lines = [f"type: {type_name}"]
    for name in fields:
        text = value_text(data.get(name))
        if text:
            lines.append(f"{name}: {text}")
    return "\n".join(lines)


def value_text(value: Any) -> str:
    """A value as text; empty for null."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value.strip()
        case list():
            return ", ".join(filter(None, map(value_text, cast("list[Any]", value))))
        case _:
            return json.dumps(value, ensure_ascii=False)
