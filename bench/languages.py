"""How fast queries are compiled: one generated file, as large as a big application's."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from omnigraph.query import check_queries, format_queries, parse_queries
from omnigraph.query.lexer import lex
from omnigraph.schema import compile_schema

if TYPE_CHECKING:
    from collections.abc import Callable

QUERIES = 300
RUNS = 5

SCHEMA = """
node Person { email: String @key name: String age: I32? role: enum(admin, guest)? bio: String? @index }
node Company { slug: String @key name: String founded: I64? }
edge Knows: Person -> Person { since: Date? weight: F64? }
edge WorksAt: Person -> Company { title: String? }
"""

SHAPES = (
    """
query friends_{n}($name: String, $least: I32, $page: U32) @description("Friends of friends, number {n}.") {{
    match {{
        $p: Person {{ name: $name, role: "admin" }}
        $p knows{{1,3}} $f
        $f worksAt $c
        $f.age >= $least and ($f.age < {n} or $f.role = "guest")
        not {{ $f knows $p }}
    }}
    return {{ $f.name, $c.name as company, $f.age }}
    order {{ $f.age desc, company }}
    limit $page
}}
""",
    """
query groups_{n}($since: Date) {{
    match {{
        $c: Company
        $p worksAt $c
        $p $tie:knows $q
        $tie.since > $since
        count {{ $q knows $r }} > {n}
    }}
    return {{ $c.name, count(distinct $q) as people, avg($q.age) as age, collect($q.name) as names }}
    order {{ people desc, $c.name }}
}}
""",
    """
query change_{n}($email: String, $name: String, $slug: String) {{
    insert Person {{ email: $email, name: $name, age: {n}, bio: "number {n}" }}
    insert WorksAt {{ from: $email, to: $slug, title: concat("engineer ", $name) }}
    update Company set {{ founded: coalesce(founded, 2000) + 1 }} where slug = $slug and founded < 3000
}}
""",
)


def source(queries: int = QUERIES) -> str:
    """Give a file of so many queries of several shapes."""
    return "".join(SHAPES[n % len(SHAPES)].format(n=n).replace("    ", " ") for n in range(queries))


def _seconds(work: Callable[[], object]) -> float:
    work()
    taken: list[float] = []
    for _ in range(RUNS):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def main() -> None:
    """Print how long each step takes."""
    text, catalog = source(), compile_schema(SCHEMA)
    started = time.perf_counter()
    parse_queries(source(1))
    first = time.perf_counter() - started
    parsed = parse_queries(text)
    steps = {
        "first query": first,
        "split into words": _seconds(lambda: lex(text)),
        "parse": _seconds(lambda: parse_queries(text)),
        "check": _seconds(lambda: check_queries(parsed, catalog)),
        "format": _seconds(lambda: format_queries(text)),
    }
    total = steps["parse"] + steps["check"]
    print(f"{QUERIES} queries, {len(text) / 1000:.0f} KB")
    for name, seconds in steps.items():
        print(f"  {name:<18}{seconds * 1000:8.1f} ms")
    print(
        f"compile: {total * 1000:.0f} ms, {QUERIES / total:,.0f} queries/s, parse is {steps['parse'] / total:.0%} of it"
    )


if __name__ == "__main__":
    main()
