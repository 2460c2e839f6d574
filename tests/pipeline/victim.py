"""A process that loads on Spark and dies at a chosen point: `python -m tests.pipeline.victim URI FILE POINT`."""

from __future__ import annotations

import os
import sys
from typing import Any

import omnigraph as og
from omnigraph.pipeline import load as loading
from omnigraph.pipeline.config import SparkConfig


def main(uri: str, path: str, point: str) -> None:
    real = loading.publish_staged

    def die(*given: Any) -> Any:
        if point == "published":
            real(*given)
        os._exit(9)

    loading.publish_staged = die  # type: ignore[assignment]
    og.open(uri).load(path, mode="append", engine="spark", spark=SparkConfig("local[1]"))


if __name__ == "__main__":
    main(*sys.argv[1:])
