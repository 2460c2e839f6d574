"""Stored queries: `.gq` files, checked when they are read, found by name, read again when they change."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from omnigraph.model.errors import BadRequest, OmniGraphError
from omnigraph.model.files import read_text
from omnigraph.query import CheckedMutation, catalogue_entry, compile_queries

if TYPE_CHECKING:
    from omnigraph.query import CheckedQuery
    from omnigraph.schema import Catalog

Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class StoredQuery:
    """A query of a file."""

    query: CheckedQuery
    text: str
    """The whole file: what runs is found in it by name."""
    source_name: str

    @property
    def is_mutation(self) -> bool:
        """Whether it writes."""
        return isinstance(self.query, CheckedMutation)

    @property
    def entry(self) -> dict[str, object]:
        """How the catalogue lists it."""
        return catalogue_entry(self.query)


@dataclass(frozen=True)
class StoredQueries:
    """The stored queries of a graph, by name."""

    by_name: dict[str, StoredQuery] = field(default_factory=dict[str, StoredQuery])

    def entries(self) -> list[dict[str, object]]:
        """The catalogue."""
        return [self.by_name[name].entry for name in sorted(self.by_name)]


def files_of(paths: tuple[str, ...]) -> list[Path]:
    """The `.gq` files that are meant: files as named, folders by their top level."""
    found: list[Path] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            found += sorted(path.glob("*.gq"))
        elif path.is_file():
            found.append(path)
        else:
            raise BadRequest(f"there is no file or folder {path} with stored queries")
    return found


def stamp_of(paths: tuple[str, ...]) -> Stamp:
    """Changes whenever a file does."""
    try:
        return tuple((str(path), (stat := path.stat()).st_mtime_ns, stat.st_size) for path in files_of(paths))
    except (OSError, OmniGraphError):
        return ()


def read_stored(paths: tuple[str, ...], catalog: Catalog) -> StoredQueries:
    """Read and check all files; one that is wrong is refused with everything that is wrong in it."""
    by_name: dict[str, StoredQuery] = {}
    for path in files_of(paths):
        text = read_text(path)
        for query in compile_queries(text, catalog, path.name).queries:
            if query.name in by_name:
                raise BadRequest(
                    f"the stored query {query.name!r} is in {by_name[query.name].source_name} and {path.name}"
                )
            by_name[query.name] = StoredQuery(query, text, path.name)
    return StoredQueries(by_name)
