"""Where Spark looks for data sources of installed packages: `spark.read.format("omnigraph")` works without more."""

from omnigraph.pipeline.datasource.source import OmniGraphSource as DefaultSource

__all__ = ["DefaultSource"]
