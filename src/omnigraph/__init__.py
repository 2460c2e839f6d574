"""OmniGraph: a versioned graph database on a disk or in an object store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omnigraph.model.errors import OmniGraphError

if TYPE_CHECKING:
    from omnigraph.client.aio import connect_async
    from omnigraph.client.graph import connect
    from omnigraph.execute.watch import Canceller
    from omnigraph.graph import Graph
    from omnigraph.graph import init_graph as init
    from omnigraph.graph import open_graph as open  # noqa: A004 - og.open is the documented name

__version__ = "0.1.0"
__all__ = ["Canceller", "Graph", "OmniGraphError", "__version__", "connect", "connect_async", "init", "open"]

_LAZY = {
    "connect": ("omnigraph.client.graph", "connect"),
    "connect_async": ("omnigraph.client.aio", "connect_async"),
    "Canceller": ("omnigraph.execute.watch", "Canceller"),
    "Graph": ("omnigraph.graph", "Graph"),
    "init": ("omnigraph.graph", "init_graph"),
    "open": ("omnigraph.graph", "open_graph"),
}


def __getattr__(name: str) -> Any:
    """Load the engine on first use: `omnigraph version` should not wait for it."""
    if name not in _LAZY:
        raise AttributeError(f"module 'omnigraph' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _LAZY[name]
    return getattr(import_module(module), attribute)
