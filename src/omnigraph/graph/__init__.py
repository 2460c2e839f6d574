"""Graph: the one object users hold."""

from omnigraph.graph.graph import Graph
from omnigraph.graph.opening import init_graph, open_graph

__all__ = ["Graph", "init_graph", "open_graph"]
