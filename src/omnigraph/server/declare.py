"""Which graphs to serve: `--graph ID=URI`, or a small YAML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from omnigraph.model.documents import Reader, read_yaml
from omnigraph.model.errors import BadRequest
from omnigraph.model.files import read_text
from omnigraph.model.names import check_graph_id
from omnigraph.policy import PolicyKind, parse_bundle
from omnigraph.server.settings import GraphSettings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from omnigraph.policy import Bundle

_GRAPH_KEYS = ("uri", "queries", "policy", "external_blobs")
RESERVED_IDS = frozenset({"policies"})


def graphs_from_flags(given: Sequence[str]) -> tuple[GraphSettings, ...]:
    """The graphs of `--graph ID=URI`; a lone address is called `default`."""
    graphs: list[GraphSettings] = []
    for one in given:
        name, separator, uri = one.partition("=")
        if not separator or "/" in name or ":" in name:
            name, uri = "default", one
        graphs.append(GraphSettings(checked_id(name), uri))
    return tuple(graphs)


def checked_id(name: str) -> str:
    """An id that can stand in a path."""
    check_graph_id(name)
    if name in RESERVED_IDS:
        raise BadRequest(f"{name!r} is reserved and cannot be the id of a graph")
    return name


def read_declaration(path: Path) -> tuple[tuple[GraphSettings, ...], Bundle | None]:
    """The graphs of a file, and the policy of the server if it has one. Paths are relative to the file."""
    what = f"the declaration {path}"
    text = read_text(path)
    reader = Reader()
    document = reader.mapping(read_yaml(text, what), "", ("version", "graphs", "policy"))
    if document.get("version") != 1:
        reader.say("version", "it must be 1")
    graphs = [
        _graph(reader, name, value, path.parent)
        for name, value in reader.mapping(document.get("graphs"), "graphs").items()
    ]
    reader.raise_if_any(what)
    policy = read_bundle(path.parent / document["policy"], PolicyKind.SERVER) if "policy" in document else None
    return tuple(graphs), policy


def _graph(reader: Reader, name: str, value: object, folder: Path) -> GraphSettings:
    path = f"graphs.{name}"
    given = reader.mapping(value, path, _GRAPH_KEYS)
    queries: Any = given.get("queries", [])
    blobs = given.get("external_blobs", [])
    bundle = (
        read_bundle(folder / reader.text(given["policy"], f"{path}.policy"), PolicyKind.GRAPH)
        if "policy" in given
        else None
    )
    uri = reader.text(given.get("uri"), f"{path}.uri")
    for number, base in enumerate(blobs if isinstance(blobs, list) else [blobs]):
        fault = blob_base_fault(base)
        if fault is not None:
            reader.say(f"{path}.external_blobs[{number}]", fault)
    return GraphSettings(
        checked_id(name),
        uri if "://" in uri else str(folder / uri),
        tuple(str(folder / str(one)) for one in (queries if isinstance(queries, list) else [queries])),
        bundle,
        tuple(str(base) for base in (blobs if isinstance(blobs, list) else [blobs])),
    )


def blob_base_fault(base: object) -> str | None:
    """Why references below this address cannot be allowed on a server."""
    if not isinstance(base, str) or "://" not in base:
        return "an address with a scheme is expected, as in s3://bucket/folder/"
    parts = urlsplit(base)
    if parts.scheme == "file":
        return "a server does not read files of its own machine"
    if not parts.netloc or parts.username is not None or parts.query or parts.fragment:
        return "it names a host or bucket, and no credentials, query or fragment"
    if not base.endswith("/"):
        return "it ends with '/', so that it means a folder and not every name that starts like it"
    if any(part in (".", "..") for part in parts.path.split("/")) or "%" in base or "\\" in base:
        return "it has no '.', '..', '%' or backslash"
    return None


def read_bundle(path: Path, kind: PolicyKind) -> Bundle:
    """Read a policy that is bound to a graph, or to the server."""
    bundle = parse_bundle(read_text(path), str(path))
    if bundle.kind is not kind and bundle.rules:
        raise BadRequest(f"{path} is a {bundle.kind} policy; bound here is one about the {kind}")
    return bundle
