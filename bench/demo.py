"""A guided tour on a graph in a temporary folder: `make demo`."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

import pyarrow as pa
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import omnigraph as og

SCHEMA = """
node Person {
    name: String @key
    age: I32?
}

edge Knows: Person -> Person {
    since: Date?
}
"""
PERSON = "node:Person"
console = Console(highlight=False)


def add(*names: str, age: int | None = None):
    """A write that adds people, or replaces those of the same name."""

    def prepare(txn):
        rows = [{"id": name, "name": name, "age": age} for name in names]
        txn.change(PERSON, pa.Table.from_pylist(rows, txn.table(PERSON).schema))
        return txn.plan("add")

    return prepare


def step(title: str) -> None:
    console.print(f"\n[bold]{title}[/bold]")


def many_writers(g: og.Graph, writers: int = 8, commits: int = 12) -> None:
    """Threads race on main; agents work on branches of their own."""
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("commits", total=writers * commits)

        def work(writer: int) -> None:
            own = og.open(g.uri, actor=f"agent-{writer}")
            for number in range(commits):
                own.write(add(f"p{writer}-{number}"))
                progress.advance(task)

        threads = [threading.Thread(target=work, args=(writer,)) for writer in range(writers)]
        started_s = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took_s = time.perf_counter() - started_s
    rows, history = g.snapshot().table(PERSON).row_count, len(g.commits.list())
    console.print(
        f"{writers} writers × {commits} commits in {took_s:.1f} s: {rows} people, {history} commits, none lost"
    )


def conflict(g: og.Graph) -> None:
    def birthday(txn):
        txn.depends_on(PERSON, "changed")
        g.write(add("ada", age=50))
        txn.change(PERSON, pa.Table.from_pylist([{"id": "ada", "name": "ada", "age": 37}], txn.table(PERSON).schema))
        return txn.plan("birthday")

    try:
        g.write(birthday, strict=True)
    except og.OmniGraphError as error:
        console.print(f"refused: {error}")


def requests(g: og.Graph) -> None:
    table = Table("operation", "requests", "hops", box=None)
    g.write(add("warm"))
    for title, act in {
        "one-row write": lambda: g.write(add("tony")),
        "branch create": lambda: g.branches.create("cheap"),
        "branch delete": lambda: g.branches.delete("cheap"),
    }.items():
        with g.meter() as m:
            act()
        table.add_row(title, str(m.requests), str(m.hops))
    console.print(table)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "team.omni"
        step("1. A graph is a folder (or a bucket); its schema is text")
        console.print(SCHEMA.strip(), style="dim")
        g = og.init(place, SCHEMA, actor="ada")
        first = g.write(add("ada", "grace", "edsger"))
        assert first is not None
        console.print(f"commit {first.commit.id}: {g.snapshot().table(PERSON).row_count} people")

        step("2. Any number of writers")
        many_writers(g)

        step("3. Branches, and time travel to any commit")
        g.branches.create("review/today")
        g.write(add("barbara"), branch="review/today")
        then = g.snapshot(commit=first.commit.id).table(PERSON).row_count
        here, there = (g.snapshot(name).table(PERSON).row_count for name in ("main", "review/today"))
        console.print(f"main: {here} people, review/today: {there}, right after the first commit: {then}")

        step("4. Two writes that depend on each other: one loses, and is told why")
        conflict(g)

        step("5. What it costs, whatever the history")
        requests(g)

        step("6. Giving space back")
        g.tags.create("v1", first.commit.id)
        preview = g.cleanup(keep=1, grace_s=0.0)
        done = g.cleanup(keep=1, grace_s=0.0, confirm=True)
        console.print(f"preview: {len(preview.files)} files; removed {len(done.files)} files, {done.bytes:,} bytes")
        console.print(f"tag v1 still opens: {g.snapshot(commit=first.commit.id).table(PERSON).row_count} people")
        console.print("\nNext: README.md, docs/, and `omnigraph --help` in .venv/bin.")


if __name__ == "__main__":
    main()
