"""Running expressions and plans. DuckDB is loaded when something first needs it."""

from omnigraph.execute.keys import Pinned, key_equality
from omnigraph.execute.rows import compute, constant, filter_rows, select_mask, used_columns

__all__ = ["Pinned", "compute", "constant", "filter_rows", "key_equality", "select_mask", "used_columns"]
