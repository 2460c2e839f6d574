"""Arrow's compute functions, which are made at run time, so that a type checker does not know them; and a helper."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute

pc: Any = pyarrow.compute


def whole(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    if isinstance(values, pa.Array):
        return values
    found = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    return found if isinstance(found, pa.Array) else pa.concat_arrays(found.chunks)
