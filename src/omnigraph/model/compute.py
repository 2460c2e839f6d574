"""Arrow's compute functions. They are made at run time, so a type checker does not know them."""

from __future__ import annotations

from typing import Any

import pyarrow.compute

pc: Any = pyarrow.compute
