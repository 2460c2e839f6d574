"""Arrow's compute functions, under the name this package knows them by."""

from omnigraph.model.compute import pc

__all__ = ["pc"]
