"""A small load, cut into several tasks, and what must come of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import omnigraph as og
from omnigraph.pipeline import splits
from tests.pipeline.inputs import SCHEMA, as_lines, clean
from tests.support.social import contents

PEOPLE = 200


@pytest.fixture
def small_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "SPLIT_BYTES_MIN", 30_000)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    path.write_bytes(as_lines(clean(PEOPLE)))
    return path


def expected(folder: Path, data: Path) -> Any:
    """What a graph holds that was loaded in process."""
    graph = og.init(folder / "expected", SCHEMA)
    graph.load(data, mode="append", engine="local")
    return contents(graph)
