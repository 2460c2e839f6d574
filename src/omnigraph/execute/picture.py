"""Nodes and paths of a result as a drawing: circles and arrows in SVG, without any library of a browser."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from omnigraph.execute.result import plain
from omnigraph.query import ir

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from omnigraph.execute.result import Link, Result

NODES_MAX = 150
_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999999", "#ee8866")
_LABELS = ("name", "title", "label")
_WIDTH, _MARGIN, _RADIUS, _LABEL_MAX = 720, 60, 12, 18
_ROUNDS = 120

Points = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Key = tuple[str, str]
"""The type of a node, and its id."""


@dataclass(frozen=True)
class Picture:
    """A drawing; a notebook shows it."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")


@dataclass
class _Drawn:
    """What is in the drawing so far."""

    nodes: dict[Key, dict[str, Any]] = field(default_factory=dict[Key, dict[str, Any]])
    arrows: dict[tuple[Key, Key, str], None] = field(default_factory=dict[tuple[Key, Key, str], None])
    left_out: set[Key] = field(default_factory=set[Key])

    def add_node(self, key: Key, properties: dict[str, Any]) -> None:
        if key in self.nodes:
            self.nodes[key] = {**self.nodes[key], **properties}
        elif len(self.nodes) < NODES_MAX:
            self.nodes[key] = properties
        else:
            self.left_out.add(key)

    def add_arrow(self, source: Key, target: Key, edge: str) -> None:
        if source in self.nodes and target in self.nodes:
            self.arrows[source, target, edge] = None


def draw(result: Result) -> Picture:
    """Draw the nodes of all rows, the traversals between them, and every path."""
    drawn = _Drawn()
    kinds = dict(zip(result.columns, result.types, strict=True))
    paths = {link.source: link for link in result.links if link.is_path}
    for row in result.rows:
        _add_row(drawn, row, kinds, result.links, paths)
    return Picture(_svg(drawn, result.query_name))


def _add_row(
    drawn: _Drawn,
    row: Mapping[str, Any],
    kinds: Mapping[str, ir.ValueType],
    links: Sequence[Link],
    paths: Mapping[str, Link],
) -> None:
    keys: dict[str, Key] = {}
    for name, kind in kinds.items():
        value = row[name]
        if value is None:
            continue
        if isinstance(kind, ir.NodeValue):
            keys[name] = (kind.interface or kind.types[0], cast("str", value["@id"]))
            drawn.add_node(keys[name], value)
        elif name in paths:
            _add_path(drawn, value["nodes"], paths[name])
    for link in links:
        if not link.is_path and link.source in keys and link.target in keys:
            drawn.add_arrow(keys[link.source], keys[link.target], link.edge)


def _add_path(drawn: _Drawn, ids: Sequence[str], link: Link) -> None:
    first, last = link.types
    keys = [(first if n == 0 else last, one) for n, one in enumerate(ids)]
    for key in keys:
        drawn.add_node(key, {})
    for source, target in pairwise(keys):
        ends = (target, source) if link.is_backward else (source, target)
        drawn.add_arrow(*ends, link.edge)


# -- layout --------------------------------------------------------------------------------------------


def _layout(count: int, arrows: Sequence[tuple[int, int]]) -> Points:
    """Places between 0 and 1: arrows pull, nodes push each other away. The same graph always looks the same."""
    turn = np.arange(count) * (np.pi * (3 - np.sqrt(5)))
    reach = np.sqrt((np.arange(count) + 0.5) / max(1, count)) / 2
    places = np.stack([reach * np.cos(turn), reach * np.sin(turn)], axis=1)
    ends = np.array(arrows, np.int64).reshape(-1, 2)
    best = np.sqrt(1 / max(1, count))
    for heat in np.linspace(0.1, 0.005, _ROUNDS):
        away = places[:, None, :] - places[None, :, :]
        distance = np.maximum(np.linalg.norm(away, axis=2), 1e-6)
        moves = (away * (best**2 / distance**2)[:, :, None]).sum(axis=1)
        pull = places[ends[:, 0]] - places[ends[:, 1]]
        pull *= np.linalg.norm(pull, axis=1)[:, None] / best
        np.add.at(moves, ends[:, 0], -pull)
        np.add.at(moves, ends[:, 1], pull)
        length = np.maximum(np.linalg.norm(moves, axis=1), 1e-9)[:, None]
        places = places + moves / length * np.minimum(length, heat)
    low, high = places.min(axis=0), places.max(axis=0)
    return (places - low) / np.maximum(high - low, 1e-9)


# -- svg -----------------------------------------------------------------------------------------------


def _svg(drawn: _Drawn, title: str) -> str:
    keys = list(drawn.nodes)
    if not keys:
        return _frame(title, 40, '<text x="10" y="25" fill="currentColor">no nodes</text>')
    height = min(_WIDTH, 160 + 40 * len(keys))
    at = {key: n for n, key in enumerate(keys)}
    ends = [(at[source], at[target]) for source, target, _ in drawn.arrows if source != target]
    places = _layout(len(keys), ends) if len(keys) > 1 else np.full((1, 2), 0.5)
    points = places * np.array([_WIDTH - 2 * _MARGIN, height - 2 * _MARGIN]) + _MARGIN
    types = sorted({kind for kind, _ in keys})
    colours = {kind: _COLOURS[n % len(_COLOURS)] for n, kind in enumerate(types)}
    body = [_arrow(points[at[source]], points[at[target]], edge) for source, target, edge in drawn.arrows]
    body += [_node(points[at[key]], key, drawn.nodes[key], colours[key[0]]) for key in keys]
    body += [_legend(n, kind, colours[kind]) for n, kind in enumerate(types)]
    if drawn.left_out:
        text = f"{len(drawn.left_out):,} more nodes are not drawn"
        body.append(f'<text x="8" y="{height - 8}" fill="currentColor">{text}</text>')
    return _frame(title, height, "".join(body))


def _frame(title: str, height: int, body: str) -> str:
    arrow = '<path d="M0,0 L8,4 L0,8 z" fill="#888888"/>'
    size = 'markerWidth="8" markerHeight="8" refX="8" refY="4" orient="auto"'
    head = f'<marker id="omnigraph-arrow" {size}>{arrow}</marker>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="11"><title>{escape(title)}</title>'
        f"<defs>{head}</defs>{body}</svg>"
    )


def _arrow(source: Any, target: Any, edge: str) -> str:
    label = escape(edge)
    if np.allclose(source, target):
        x, y = source
        loop = (
            f"M{x - 6:.1f},{y - 10:.1f} C{x - 40:.1f},{y - 50:.1f} {x + 40:.1f},{y - 50:.1f} {x + 6:.1f},{y - 10:.1f}"
        )
        shape = f'<path d="{loop}" fill="none" stroke="#888888" marker-end="url(#omnigraph-arrow)"/>'
        return f'{shape}<text x="{x:.1f}" y="{y - 42:.1f}" text-anchor="middle" fill="#888888">{label}</text>'
    along = (target - source) / max(1e-9, float(np.linalg.norm(target - source)))
    (x1, y1), (x2, y2) = source + along * _RADIUS, target - along * (_RADIUS + 1)
    x, y = (source + target) / 2
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    line = f'<line {ends} stroke="#888888" marker-end="url(#omnigraph-arrow)"/>'
    return f'{line}<text x="{x:.1f}" y="{y - 3:.1f}" text-anchor="middle" fill="#888888">{label}</text>'


def _node(point: Any, key: Key, properties: Mapping[str, Any], colour: str) -> str:
    x, y = point
    kind, node_id = key
    name = next((str(properties[label]) for label in _LABELS if properties.get(label)), node_id)
    short = name if len(name) <= _LABEL_MAX else name[: _LABEL_MAX - 1] + "…"
    told = json.dumps(plain({n: v for n, v in properties.items() if v is not None}), ensure_ascii=False)
    hint = f"<title>{escape(f'{kind} {node_id} {told}')}</title>"
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="{colour}"/>'
    label = (
        f'<text x="{x:.1f}" y="{y + _RADIUS + 12:.1f}" text-anchor="middle" fill="currentColor">{escape(short)}</text>'
    )
    return f"<g>{hint}{circle}{label}</g>"


def _legend(number: int, kind: str, colour: str) -> str:
    y = 14 + 16 * number
    dot = f'<circle cx="12" cy="{y}" r="5" fill="{colour}"/>'
    return f'{dot}<text x="22" y="{y + 4}" fill="currentColor">{escape(kind)}</text>'
