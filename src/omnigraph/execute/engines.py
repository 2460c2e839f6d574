"""Engines that can run a plan. The embedded one is here; a layer above may add its own, under a name."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from omnigraph.execute.profile import NoProfile, Profile
from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    import pyarrow as pa

    from omnigraph.execute.watch import Watch
    from omnigraph.manifest import Repository, Snapshot
    from omnigraph.plan.steps import ReadPlan
    from omnigraph.query.params import Value
    from omnigraph.schema import Catalog


@dataclass(frozen=True)
class ReadRequest:
    """A read that is ready to run: all that an engine needs to know."""

    repository: Repository
    snapshot: Snapshot
    catalog: Catalog
    plan: ReadPlan
    params: Mapping[str, Value]
    now: datetime
    watch: Watch
    rows_max: int | None = None
    profile: Profile = field(default_factory=NoProfile)


AUTO = "auto"
LOCAL = "local"
_PROVIDERS = {"spark": "omnigraph.pipeline.queries.engine"}
"""Modules that add an engine when they are imported. They stand above this one, so they are known by name only."""

_others: dict[str, Callable[[ReadRequest], pa.Table]] = {}


def register_engine(name: str, run: Callable[[ReadRequest], pa.Table]) -> None:
    """Add an engine. It gives the same rows for the same plan, in the columns of the plan."""
    _others[name] = run


def run_read(request: ReadRequest, engine: str = AUTO) -> pa.Table:
    """Run a read on an engine; `auto` is the embedded one."""
    if engine in (AUTO, LOCAL):
        from omnigraph.execute.read import run_locally

        return run_locally(request)
    if engine in _PROVIDERS and engine not in _others:
        import_module(_PROVIDERS[engine])
    run = _others.get(engine)
    if run is None:
        known = [AUTO, LOCAL, *{**_PROVIDERS, **_others}]
        hint = suggest(engine, known) or f"engines here: {', '.join(known)}"
        raise BadRequest(f"unknown engine {engine!r}; {hint}")
    return run(request)
