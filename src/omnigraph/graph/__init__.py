"""Graph: the one object users hold."""

from omnigraph.graph.graph import Graph, init_graph, open_graph

__all__ = ["Graph", "init_graph", "open_graph"]
