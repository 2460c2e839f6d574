"""`spark.read.format("omnigraph")` and `df.write.format("omnigraph")`: Spark's Python Data Source API."""

from omnigraph.pipeline.datasource.source import OmniGraphSource, register

__all__ = ["OmniGraphSource", "register"]
