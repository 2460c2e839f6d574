"""A guided tour on a graph in a temporary folder: `make demo`."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

import omnigraph as og
from bench.tour import SCHEMA, Social, person
from omnigraph.pipeline.session import spark_session

QUERIES = """
query followed() {
    match { $p: Person  $fan follows $p }
    return { $p.name as person, $p.country as country, count($fan) as followers }
    order { followers desc }
    limit 5
}

query reading($who: String) {
    match {
        $me: Person { name: $who }
        $me follows $friend
        $friend wrote $doc
        $doc about $topic
    }
    return { $topic.name as topic, count($doc) as documents }
    order { documents desc }
    limit 5
}

query way($from: String, $to: String) {
    match {
        $a: Person { name: $from }
        $b: Person { name: $to }
        shortest $way = $a follows{1,} $b
    }
    return { length($way) as steps, nodes($way) as stops }
}
"""
PERSON = "node:Person"
SIZE = Social(people=60_000, documents=30_000, follows=150_000)
console = Console(highlight=False)


def record(name: str, age: int | None = None) -> dict[str, object]:
    return {"type": "Person", "data": {"name": name, "age": age}}


def follows(one: str, other: str) -> dict[str, object]:
    return {"edge": "Follows", "from": one, "to": other}


def step(title: str) -> None:
    console.print(f"\n[bold]{title}[/bold]")


def loaded(g: og.Graph, folder: Path) -> None:
    """Generate files and load them on Spark, with a bar."""
    with console.status("writing files"):
        started_s = time.perf_counter()
        count = SIZE.write(folder)
        took_s = time.perf_counter() - started_s
    size = sum(file.stat().st_size for file in folder.iterdir()) >> 20
    console.print(
        f"{count:,} entities in {len(list(folder.iterdir()))} files, {size} MiB, in {took_s:.1f} s", style="dim"
    )
    with console.status("starting Spark"):
        started_s = time.perf_counter()
        spark_session()
        console.print(f"Spark started in {time.perf_counter() - started_s:.1f} s", style="dim")
    with Progress(console=console, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def progress(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        started_s = time.perf_counter()
        result = g.load(folder, mode="append", engine="spark", progress=progress)
        took_s = time.perf_counter() - started_s
    for name, number in {**result.nodes, **result.edges}.items():
        console.print(f"  {name:<9} {number:>9,}")
    assert result.commit is not None
    rate = result.total_entities / took_s
    console.print(
        f"one commit, {result.commit.id}: typed, checked and written in {took_s:.1f} s ({rate:,.0f} a second)"
    )


def asked(g: og.Graph, name: str, params: dict[str, object] | None = None, **where: str) -> None:
    """Run a query and show its rows."""
    started_s = time.perf_counter()
    result = g.query(QUERIES, name, params, **where)
    took_ms = (time.perf_counter() - started_s) * 1000
    table = Table(*result.columns, box=None, padding=(0, 3, 0, 2))
    for row in result.rows:
        table.add_row(*(str(value) for value in row.values()))
    console.print(f"{name} [dim]({took_ms:.0f} ms)[/dim]")
    console.print(table)


def reviewed(g: og.Graph) -> None:
    """Work on a branch, look at what it changed, merge it."""
    g.branches.create("review/today")
    star = person(0)
    g.load([record("barbara", 28), follows("barbara", star), follows(star, "barbara")], branch="review/today")
    mutation = "query birthday($who: String) { update Person set { age: 50 } where name = $who }"
    g.mutate(mutation, params={"who": star}, branch="review/today")
    console.print("on review/today: one person more, two edges, one birthday. The difference to main:")
    for change in g.diff("main", "review/today"):
        console.print(f"  {change.op:<7} {change.kind} {change.type_name} {change.id}", markup=False)
    before = g.snapshot().table(PERSON).row_count
    merged = g.branches.merge("review/today", into="main")
    console.print(f"merged: main has {before:,} → {g.snapshot().table(PERSON).row_count:,} people", markup=False)
    assert merged is not None


def refusals(g: og.Graph) -> None:
    """Rules are checked by everybody, and all that is wrong is said at once."""
    try:
        g.load([record("old", age=200), follows("old", "nobody")])
    except og.OmniGraphError as error:
        console.print(f"refused: {error}", markup=False)
    before = g.snapshot().commit_id
    g.mutate('query birthday() { update Person set { age: 37 } where name = "barbara" }')
    try:
        g.mutate('query late() { update Person set { age: 38 } where name = "barbara" }', if_commit=before)
    except og.OmniGraphError as error:
        console.print(f"refused: {error}", markup=False)


def many_writers(g: og.Graph, writers: int = 8, commits: int = 6) -> None:
    """Agents race on main."""
    before = g.snapshot().table(PERSON).row_count

    def work(writer: int) -> None:
        own = og.open(g.uri, actor=f"agent-{writer}")
        for number in range(commits):
            own.load([record(f"p{writer}-{number}"), follows("barbara", f"p{writer}-{number}")])

    threads = [threading.Thread(target=work, args=(writer,)) for writer in range(writers)]
    started_s = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took_s = time.perf_counter() - started_s
    more = g.snapshot().table(PERSON).row_count - before
    console.print(f"{writers} writers × {commits} commits in {took_s:.1f} s: {more} people more, none lost")


def requests(g: og.Graph) -> None:
    table = Table("operation", "requests", "hops", box=None)
    g.mutate('query warm() { insert Person { name: "warm" } insert Follows { from: "warm", to: "barbara" } }')
    for title, act in {
        "insert a node": lambda: g.mutate('query one() { insert Person { name: "tony" } }'),
        "insert an edge": lambda: g.mutate('query one() { insert Follows { from: "tony", to: "barbara" } }'),
        "branch create": lambda: g.branches.create("cheap"),
        "branch delete": lambda: g.branches.delete("cheap"),
    }.items():
        with g.meter() as m:
            act()
        table.add_row(title, str(m.requests), str(m.hops))
    console.print(table)


def main() -> None:
    started_s = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        step("1. A graph is a folder (or a bucket); its schema is text")
        console.print(SCHEMA.strip(), style="dim")
        g = og.init(Path(folder) / "social.omni", SCHEMA, actor="ada")

        step("2. Bulk data comes in on Spark: everything is checked, and a load of any size is one commit")
        loaded(g, Path(folder) / "data")

        step("3. Questions")
        asked(g, "followed")
        asked(g, "reading", {"who": person(42)})
        asked(g, "way", {"from": person(50_001), "to": person(3)})

        step("4. Branch, change, compare, merge")
        reviewed(g)

        step("5. What breaks a rule, or comes too late, changes nothing and is told why")
        refusals(g)

        step("6. Any number of writers, and what a write costs whatever the size of the graph")
        many_writers(g)
        requests(g)

        step("7. Time travel, and giving space back")
        first = g.commits.list()[-2]
        g.tags.create("loaded", first.id)
        then = g.snapshot(commit=first.id).table(PERSON).row_count
        done = g.cleanup(keep=1, grace_s=0.0, confirm=True)
        console.print(
            f"right after the load: {then:,} people; cleanup took {len(done.files)} files, {done.bytes:,} bytes"
        )
        console.print(f"\nAll of this took {time.perf_counter() - started_s:.0f} s.")
        console.print("Next: README.md, docs/, and `omnigraph --help` in .venv/bin.")


if __name__ == "__main__":
    main()
