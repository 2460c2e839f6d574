"""OmniGraph: a versioned graph database on a disk or in an object store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omnigraph.model.errors import OmniGraphError

if TYPE_CHECKING:
    from omnigraph.graph import Graph
    from omnigraph.graph import init_graph as init
    from omnigraph.graph import open_graph as open  # noqa: A004 - og.open is the documented name

__version__ = "0.1.0"
__all__ = ["Graph", "OmniGraphError", "__version__", "init", "open"]

_LAZY = {"Graph": "Graph", "init": "init_graph", "open": "open_graph"}


def __getattr__(name: str) -> Any:
    """Load the engine on first use: `omnigraph version` should not wait for it."""
    if name not in _LAZY:
        raise AttributeError(f"module 'omnigraph' has no attribute {name!r}")
    from omnigraph import graph

    return getattr(graph, _LAZY[name])
