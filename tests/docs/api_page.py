"""The page of the Python API is made from the code: `python -m tests.docs.api_page` writes it.

What is on it is what we promise: a change of a name or a signature shows as a change of the page.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from functools import cached_property
from pathlib import Path
from typing import Any

import omnigraph as og
from omnigraph.client.aio import AsyncRemoteGraph
from omnigraph.client.graph import RemoteGraph
from omnigraph.execute.explain import ExplainedStep, Explanation
from omnigraph.execute.result import Result
from omnigraph.export.export import ExportResult
from omnigraph.graph.blobs import BlobStat
from omnigraph.graph.spark import Analysis
from omnigraph.history.baseline import Baseline
from omnigraph.history.conflicts import MergeConflict
from omnigraph.history.diff import GraphDiff
from omnigraph.history.entity import Blame, EntityEvent
from omnigraph.history.feed import ChangePage, CommitChanges
from omnigraph.history.merge import MergeResult
from omnigraph.history.resolve import Choice, Resolution
from omnigraph.manifest import BranchRef, Collected, Commit, Published, Snapshot, StoredSchema, TagRef, WriteTxn
from omnigraph.pipeline.config import SparkConfig
from omnigraph.pipeline.session import spark_session
from omnigraph.schema.evolve.plan import MigrationPlan
from omnigraph.search.optimize import IndexStatus, OptimizedTable
from omnigraph.storage.meter import Meter
from omnigraph.write.load import LoadLimits, LoadResult
from omnigraph.write.mutate import MutationResult
from omnigraph.write.progress import Progress

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
WIDTH = 110

HEAD = """# Python

Everything here is typed, and is what we promise to keep: the page is made from the code, and a test fails when the two
differ. What is not on it is ours to change. Errors have [a page of their own](errors.md).

```python
import omnigraph as og

g = og.init("people.omni", "node Person { name: String @key  age: I32? }")
g.load([{"type": "Person", "data": {"name": "Ada", "age": 36}}])
assert g.query("query ages() { match { $p: Person } return { $p.age } }").rows == [{"p.age": 36}]
```

A server's graph, `og.connect(…)`, has the same methods as one on a disk, as far as a server can do them; the last
section lists them.
"""

GROUPS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("Opening", "", (og.init, og.open, og.connect, og.connect_async)),
    ("A graph", "What `og.init` and `og.open` give.", (og.Graph,)),
    (
        "Parts of a graph",
        "`g.branches`, `g.tags`, `g.commits`, `g.changes`, `g.schema`, `g.blobs` and `g.indexes`.",
        tuple(
            ("g." + name, kind)
            for name, kind in (
                ("branches", "omnigraph.graph.history.Branches"),
                ("tags", "omnigraph.graph.history.Tags"),
                ("commits", "omnigraph.graph.history.Commits"),
                ("changes", "omnigraph.graph.changes.Changes"),
                ("schema", "omnigraph.graph.schema.Schema"),
                ("blobs", "omnigraph.graph.blobs.Blobs"),
                ("indexes", "omnigraph.graph.indexes.Indexes"),
            )
        ),
    ),
    ("Reading", "", (Result, Explanation, ExplainedStep, og.Canceller, Snapshot, BlobStat, ExportResult)),
    ("Writing", "", (MutationResult, LoadResult, LoadLimits, Progress, WriteTxn, Published, Meter)),
    ("History", "", (Commit, BranchRef, TagRef, GraphDiff, EntityEvent, Blame)),
    ("Merging", "", (MergeResult, MergeConflict, Resolution, Choice)),
    ("The change feed", "", (ChangePage, CommitChanges, Baseline)),
    ("Schemas", "", (StoredSchema, MigrationPlan)),
    ("Upkeep", "", (IndexStatus, OptimizedTable, Collected)),
    ("Spark", "`from omnigraph.pipeline.session import spark_session`.", (spark_session, SparkConfig, Analysis)),
    (
        "Graphs on servers",
        "What `og.connect` and `og.connect_async` give. Their parts are those of a graph, as far as a server has them.",
        (RemoteGraph, AsyncRemoteGraph),
    ),
)
OURS = {
    (og.Graph, "with_gate"),
    (og.Canceller, "over"),
    (Snapshot, "text_rows"),
    (Meter, "add"),
    (Meter, "add_bytes"),
    (Meter, "add_hops"),
    (Meter, "counters"),
    (MergeConflict, "key"),
    (MergeConflict, "sort_key"),
    (Resolution, "choice"),
    (Resolution, "asked_about"),
    (Resolution, "insist_on_fit"),
    (Choice, "of"),
    (LoadLimits, "check"),
    (GraphDiff, "stretch"),
}
"""Between layers of ours, and no promise."""
CALLED = {og.init: "og.init", og.open: "og.open", og.connect: "og.connect", og.connect_async: "og.connect_async"}


def page() -> str:
    """The text of the page."""
    parts = [HEAD]
    for title, about, members in GROUPS:
        parts.append(f"## {title}\n" + (f"\n{about}\n" if about else ""))
        parts += [_entry(member) for member in members]
    return "\n".join(parts)


def _entry(member: Any) -> str:
    if isinstance(member, tuple):
        title, path = member
        module, _, name = path.rpartition(".")
        return _class_entry(getattr(__import__(module, fromlist=[name]), name), title, fields=False)
    if inspect.isclass(member):
        return _class_entry(member, member.__name__, fields=True)
    return f"### {CALLED.get(member, member.__name__)}\n\n{_callable(CALLED.get(member, member.__name__), member)}"


def _class_entry(kind: type, title: str, *, fields: bool) -> str:
    parts = [f"### {title}\n\n{inspect.getdoc(kind)}\n"]
    if fields and dataclasses.is_dataclass(kind):
        shown = [each for each in dataclasses.fields(kind) if not each.name.startswith("_")]
        if shown:
            parts.append("```text\n" + "\n".join(f"{each.name}: {each.type}" for each in shown) + "\n```\n")
    for name, value in vars(kind).items():
        if (name.startswith("_") and name != "__call__") or (kind, name) in OURS:
            continue
        if isinstance(value, property | cached_property):
            getter = value.fget if isinstance(value, property) else value.func
            assert getter is not None
            returned = inspect.signature(getter).return_annotation
            parts.append(f"**`.{name}`** `{returned}`: {_first(getter)}\n")
        elif inspect.isfunction(value):
            parts.append(_callable("" if name == "__call__" else f".{name}", value))
    return "\n".join(parts)


def _callable(name: str, function: Any) -> str:
    return f"```text\n{_signature(name, function)}\n```\n\n{_described(function)}\n"


def _described(function: Any) -> str:
    return inspect.getdoc(function) or ""


def _first(function: Any) -> str:
    return " ".join((inspect.getdoc(function) or "").split())


def _signature(name: str, function: Any) -> str:
    signature = inspect.signature(function)
    given = [each for each in signature.parameters.values() if each.name != "self"]
    shown: list[str] = []
    for at, each in enumerate(given):
        starts_named = each.kind is each.KEYWORD_ONLY and (at == 0 or given[at - 1].kind is not each.KEYWORD_ONLY)
        shown += ["*", str(each)] if starts_named else [str(each)]
    shown = [re.sub(r": '(.*?)'( = |$)", r": \1\2", text) for text in shown]
    returned = signature.return_annotation
    prefix = "async " if inspect.iscoroutinefunction(function) else ""
    end = ")" if returned is signature.empty else f") -> {returned}"
    line = f"{prefix}{name}({', '.join(shown)}{end}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{prefix}{name}(", *(f"    {text}," for text in shown), end])


if __name__ == "__main__":
    PAGE.write_text(page())
