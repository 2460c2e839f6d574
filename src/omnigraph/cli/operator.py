"""`~/.omnigraph/config.yaml`: who the operator is, the servers and stores they use, by name."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from omnigraph.cli import render
from omnigraph.model.documents import Reader, read_yaml
from omnigraph.model.errors import BadRequest, NotFound
from omnigraph.model.files import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["server", "cluster", "store"]
_KEYS = {
    "": ("operator", "servers", "clusters", "profiles", "defaults", "aliases"),
    "operator": ("actor",),
    "defaults": ("output", "table_max_column_width", "table_cell_layout", "server", "store", "default_graph"),
    "profile": ("server", "cluster", "store", "default_graph"),
    "alias": ("server", "graph", "query", "args", "params", "format"),
}
_FORMATS = ("table", "kv", "csv", "jsonl", "json")


@dataclass(frozen=True)
class Profile:
    """A place commands work on, by name."""

    name: str
    kind: Kind | None
    target: str | None
    default_graph: str | None = None
    error: str | None = None
    """Why it cannot be used."""


@dataclass(frozen=True)
class Alias:
    """A stored query of a server under a short name."""

    server: str
    query: str
    graph: str | None = None
    args: tuple[str, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    format: str | None = None


@dataclass(frozen=True)
class Defaults:
    """What holds where a command says nothing."""

    output: str | None = None
    server: str | None = None
    store: str | None = None
    default_graph: str | None = None
    table_max_column_width: int | None = None
    table_cell_layout: str | None = None


@dataclass(frozen=True)
class Operator:
    """The whole file."""

    actor: str | None = None
    servers: Mapping[str, str] = field(default_factory=dict[str, str])
    clusters: Mapping[str, str] = field(default_factory=dict[str, str])
    profiles: Mapping[str, Profile] = field(default_factory=dict[str, Profile])
    defaults: Defaults = Defaults()
    aliases: Mapping[str, Alias] = field(default_factory=dict[str, Alias])

    def profile(self, name: str) -> Profile:
        """A profile that can be used."""
        found = self.profiles.get(name)
        if found is None:
            known = ", ".join(sorted(self.profiles)) or "none"
            raise NotFound(f"there is no profile {name!r}; profiles: {known}")
        if found.error is not None:
            raise BadRequest(f"the profile {name!r} cannot be used: {found.error}")
        return found

    def server_url(self, name: str) -> str:
        """The address of a server, by its name or as it is."""
        if "://" in name:
            return name
        if name not in self.servers:
            known = ", ".join(sorted(self.servers)) or "none"
            raise NotFound(f"there is no server {name!r} in {home() / 'config.yaml'}; servers: {known}")
        return self.servers[name]


def home() -> Path:
    """The folder of the operator's files."""
    return Path(os.environ.get("OMNIGRAPH_HOME") or "~/.omnigraph").expanduser()


def read_operator() -> Operator:
    """Read the file; without one everything is empty."""
    path = home() / "config.yaml"
    try:
        text = read_text(path)
    except NotFound:
        return Operator()
    what = f"the configuration {path}"
    reader = Reader()
    operator = _operator(reader, read_yaml(text, what) or {})
    reader.raise_if_any(what)
    return operator


def _operator(reader: Reader, value: object) -> Operator:
    document = _known(reader.mapping(value, ""), "")
    servers = {
        name: reader.text(
            _known(reader.mapping(one, f"servers.{name}"), f"servers.{name}", ("url",)).get("url"),
            f"servers.{name}.url",
        )
        for name, one in reader.mapping(document.get("servers") or {}, "servers").items()
    }
    clusters = {
        name: reader.text(reader.mapping(one, f"clusters.{name}").get("root"), f"clusters.{name}.root")
        for name, one in reader.mapping(document.get("clusters") or {}, "clusters").items()
    }
    profiles = {
        name: _profile(reader, name, one, servers, clusters)
        for name, one in reader.mapping(document.get("profiles") or {}, "profiles").items()
    }
    who = _known(reader.mapping(document.get("operator") or {}, "operator"), "operator", _KEYS["operator"])
    return Operator(
        _optional(reader, who, "actor", "operator"),
        servers,
        clusters,
        profiles,
        _defaults(reader, document.get("defaults") or {}),
        {
            name: _alias(reader, one, f"aliases.{name}")
            for name, one in reader.mapping(document.get("aliases") or {}, "aliases").items()
        },
    )


def _known(found: dict[str, Any], path: str, keys: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Keys nobody knows are said, and let be: a newer program may know them."""
    for key in found:
        if key not in (keys if keys is not None else _KEYS[""]):
            render.err.print(f"warning: unknown key {f'{path}.{key}' if path else key} in config.yaml", markup=False)
    return found


def _optional(reader: Reader, found: dict[str, Any], key: str, path: str) -> str | None:
    return reader.text(found[key], f"{path}.{key}") if found.get(key) is not None else None


def _profile(
    reader: Reader, name: str, value: object, servers: Mapping[str, str], clusters: Mapping[str, str]
) -> Profile:
    path = f"profiles.{name}"
    found = _known(reader.mapping(value, path), path, _KEYS["profile"])
    kinds: list[Kind] = [kind for kind in ("server", "cluster", "store") if found.get(kind) is not None]
    graph = _optional(reader, found, "default_graph", path)
    if len(kinds) != 1:
        return Profile(name, None, None, graph, "it names exactly one of server, cluster and store")
    target = reader.text(found[kinds[0]], f"{path}.{kinds[0]}")
    error = None
    if kinds[0] == "server" and "://" not in target and target not in servers:
        error = f"there is no server {target!r}"
    if kinds[0] == "cluster" and target not in clusters and "/" not in target:
        error = f"there is no cluster {target!r}"
    if kinds[0] == "store" and graph is not None:
        error = "a store is one graph: it takes no default_graph"
    return Profile(name, kinds[0], target, graph, error)


def _defaults(reader: Reader, value: object) -> Defaults:
    found = _known(reader.mapping(value, "defaults"), "defaults", _KEYS["defaults"])
    if found.get("server") is not None and found.get("store") is not None:
        reader.say("defaults", "give server or store, not both")
    if found.get("store") is not None and found.get("default_graph") is not None:
        reader.say("defaults.default_graph", "a store is one graph: it takes no default_graph")
    output = _optional(reader, found, "output", "defaults")
    if output is not None and output not in _FORMATS:
        reader.say("defaults.output", f"it is one of {', '.join(_FORMATS)}")
    width = found.get("table_max_column_width")
    if width is not None and (not isinstance(width, int) or isinstance(width, bool) or width < 1):
        reader.say("defaults.table_max_column_width", "a number greater than 0 is expected")
    layout = _optional(reader, found, "table_cell_layout", "defaults")
    if layout not in (None, "truncate", "wrap"):
        reader.say("defaults.table_cell_layout", "it is truncate or wrap")
    texts = {key: _optional(reader, found, key, "defaults") for key in ("server", "store", "default_graph")}
    return Defaults(output, texts["server"], texts["store"], texts["default_graph"], width, layout)


def _alias(reader: Reader, value: object, path: str) -> Alias:
    found = _known(reader.mapping(value, path), path, _KEYS["alias"])
    args = reader.texts(found["args"], f"{path}.args") if found.get("args") else ()
    return Alias(
        reader.text(found.get("server"), f"{path}.server"),
        reader.text(found.get("query"), f"{path}.query"),
        _optional(reader, found, "graph", path),
        args,
        reader.mapping(found.get("params") or {}, f"{path}.params"),
        _optional(reader, found, "format", path),
    )
