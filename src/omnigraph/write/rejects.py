"""The file of rows that a load left out: one JSON line for each, with what is wrong and the record itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from omnigraph.model.errors import BadRequest, OmniGraphError
from omnigraph.model.files import gist
from omnigraph.write.files import DataFile, data_files
from omnigraph.write.inputs import kind_of
from omnigraph.write.places import file_of, number_of
from omnigraph.write.sources import open_lines

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from omnigraph.write.inputs import Input
    from omnigraph.write.skip import Rejected


def check_place(path: str | os.PathLike[str]) -> None:
    """Refuse a place where no file can be, before anything is loaded."""
    folder = Path(path).parent
    if Path(path).is_dir() or not folder.is_dir():
        what = "it is a folder" if Path(path).is_dir() else f"there is no folder {folder}"
        raise BadRequest(f"the rejects cannot be written to {path}: {what}")


def write_rejects(path: str | os.PathLike[str], rejected: Rejected, given: Input) -> None:
    """Write it, in the order of the input; an empty file if nothing was left out.

    Records of files are read once more for this. Those that cannot be are described without their text.
    """
    texts = dict(_texts(given, set(rejected.rows))) if rejected.rows else {}
    lines: list[bytes] = []
    for position in sorted(rejected.rows):
        found = rejected.rows[position]
        described: dict[str, Any] = {"place": found[0].place, "errors": [one.to_json() for one in found]}
        if position in texts:
            described["record"] = texts[position].decode("utf-8", "replace").strip()
        lines.append(orjson.dumps(described, option=orjson.OPT_APPEND_NEWLINE))
    try:
        Path(path).write_bytes(b"".join(lines))
    except OSError as error:
        raise BadRequest(f"the load is done, but its rejects cannot be written to {path}: {gist(error)}") from None


def _texts(given: Input, wanted: set[int]) -> Iterator[tuple[int, bytes]]:
    """The lines at these positions of files that can be read again."""
    is_named = isinstance(given.source, str) or hasattr(given.source, "__fspath__")
    if not is_named or given.source == "-" or not given.strict or kind_of(given) != "jsonl":
        return
    files = data_files(given.source, given.options) or [DataFile(str(given.source))]
    for index in sorted({file_of(position) for position in wanted}):
        numbers = {number_of(position): position for position in wanted if file_of(position) == index}
        try:
            for first, lines in open_lines(files[index].uri, given.options):
                for number in [one for one in numbers if first <= one < first + len(lines)]:
                    yield numbers[number], bytes(lines[number - first])  # type: ignore[arg-type]
        except OmniGraphError:
            return
