"""What `.option(…)` says: which table of which graph, and when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest
from omnigraph.model.names import MAIN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.graph import Graph

STORAGE = "storage."
_KNOWN = (
    "path",
    "type",
    "branch",
    "snapshot",
    "columns",
    "filter",
    "pushdown",
    "blobs",
    "rowspertask",
    "mode",
    "actor",
    "query",
    "checkpointlocation",
    "start",
    "kinds",
    "types",
    "ops",
)


@dataclass(frozen=True)
class SourceOptions:
    """Options, checked."""

    uri: str
    type_name: str | None
    branch: str = MAIN
    snapshot: str | None = None
    given: Mapping[str, str] = field(default_factory=dict[str, str])
    storage: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    def get(self, name: str) -> str | None:
        """Another option."""
        return self.given.get(name.lower())

    def flag(self, name: str) -> bool:
        """An option that is true or false."""
        text = (self.get(name) or "false").lower()
        if text not in ("true", "false"):
            raise BadRequest(f"option {name} is true or false, not {text!r}")
        return text == "true"

    def number(self, name: str, default: int) -> int:
        """An option that is a whole number greater than 0."""
        text = self.get(name)
        if text is None:
            return default
        if not text.isdecimal() or int(text) < 1:
            raise BadRequest(f"option {name} is a whole number greater than 0, not {text!r}")
        return int(text)

    def open(self) -> Graph:
        """The graph."""
        from omnigraph.graph import open_graph

        return open_graph(
            self.uri, branch=self.branch, actor=self.get("actor"), storage_options=dict(self.storage) or None
        )

    @property
    def wanted_type(self) -> str:
        """The type, which must be named."""
        if self.type_name is None:
            raise BadRequest('name the type of the rows: .option("type", "Person")')
        return self.type_name


def read_options(options: Mapping[str, Any]) -> SourceOptions:
    """Check options; Spark does not tell their case apart."""
    given = {key.lower(): str(value) for key, value in options.items()}
    for key in given:
        if key not in _KNOWN and not key.startswith(STORAGE):
            hint = suggest(key, _KNOWN)
            raise BadRequest(f"there is no option {key!r}{f'; {hint}' if hint else ''}", option=key)
    if "path" not in given:
        raise BadRequest('name the graph: .load("graph.omni")')
    if "branch" in given and "snapshot" in given:
        raise BadRequest("name a branch or a snapshot, not both")
    storage = {key[len(STORAGE) :]: value for key, value in given.items() if key.startswith(STORAGE)}
    return SourceOptions(
        given["path"], given.get("type"), given.get("branch", MAIN), given.get("snapshot"), given, storage
    )
