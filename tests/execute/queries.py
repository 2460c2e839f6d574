"""Queries at random over the types of `worlds`, as text. Nearly all of them compile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

PEOPLE, CITIES = ("a", "b", "p"), ("c", "d")
PROPERTIES = {"Person": ("age", "score", "nick", "name", "@id"), "City": ("name", "@id"), "Named": ("name", "@id")}
LITERALS = {"age": ("0", "1", "-2", "1.5"), "score": ("0.0", "1.5", "1"), "nick": ('"ann"', '""', '"Bob"'),
            "name": ('"a2"', '"rome"', '"b10"'), "@id": ('"a2"', '"oslo"'), "since": ("0", "1")}  # fmt: skip
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


@dataclass
class Scope:
    """Variables that were bound so far, and what they are."""

    types: dict[str, str] = field(default_factory=dict)
    edges: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    count: int = 0

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def of(self, kind: str) -> list[str]:
        return [name for name, each in self.types.items() if each == kind]

    def inner(self) -> Scope:
        return Scope(dict(self.types), list(self.edges), list(self.paths), self.count * 10 + 10)


class Writer:
    """Writes one query with the choices of Hypothesis."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def one(self, options: Any) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def some(self, most: int, least: int = 0) -> range:
        return range(self.draw(st.integers(least, most)))

    # -- clauses ---------------------------------------------------------------------------------------

    def clauses(self, scope: Scope, depth: int) -> list[str]:
        found = [self.binding(scope)] if depth == 0 or not scope.types else []
        found += [self.traversal(scope) for _ in self.some(3 if depth == 0 else 2, 0 if depth == 0 else 1)]
        optional = [self.block("optional", scope, depth) for _ in self.some(1 if depth < 2 else 0)]
        found += [self.condition(scope) for _ in self.some(2)]
        if depth < 2:
            found += [self.block(self.one(("not", "exists", "count", "sum")), scope, depth) for _ in self.some(1)]
        return found + optional

    def binding(self, scope: Scope) -> str:
        kind = self.one(("Person", "Person", "Person", "City", "Named"))
        name = scope.fresh({"Person": "p", "City": "c", "Named": "n"}[kind])
        scope.types[name] = kind
        inside = self.one(("", "", ' { name: "a2" }', ' { nick: "ann" }' if kind == "Person" else ""))
        return f"${name}: {kind}{inside}"

    def end(self, scope: Scope, kind: str) -> str:
        """A variable that is there, a new one, or nobody."""
        known = [*scope.of(kind), *scope.of("Named")]
        choice = self.one(("known", "new", "new", "nobody"))
        if choice == "nobody":
            return "_"
        if choice == "known" and known:
            return self.one(known)
        name = scope.fresh("p" if kind == "Person" else "c")
        scope.types[name] = kind
        return name

    def traversal(self, scope: Scope) -> str:
        people, cities = scope.of("Person"), scope.of("City")
        if self.draw(st.integers(0, 2)) == 0:
            people += scope.of("Named")
        if cities and (not people or self.draw(st.booleans())):
            return f"${self.one(cities)} livesIn ${self.end(scope, 'Person')}"
        if not people:
            return self.binding(scope)
        source = self.one(people)
        form = self.one(("knows", "knows", "back", "<knows>", "hops", "edge", "edge", "shortest", "livesIn"))
        if form == "livesIn":
            return f"${source} livesIn ${self.end(scope, 'City')}"
        if form == "back":
            return f"${self.end(scope, 'Person')} knows ${source}"
        word = self.one(("knows", "<knows>"))
        if form == "hops":
            return (
                f"${source} {word}{self.one(('{1,2}', '{2,3}', '{2,}', '{1,}', '{2,2}'))} ${self.end(scope, 'Person')}"
            )
        if form == "edge":
            target, name = self.end(scope, "Person"), scope.fresh("e")
            scope.edges.append(name)
            return f"${source} ${name}:{word} ${target}"
        if form == "shortest":
            target = self.one(["new", *people])
            if target == "new":
                target = scope.fresh("p")
                scope.types[target] = "Person"
            name = scope.fresh("w")
            scope.paths.append(name)
            return f"shortest ${name} = ${source} {word}{self.one(('{1,}', '{2,3}', '{1,2}'))} ${target}"
        return f"${source} {form} ${self.end(scope, 'Person')}"

    def value(self, scope: Scope) -> tuple[str, str]:
        """A property of something, and its name."""
        if scope.edges and self.draw(st.integers(0, 4)) == 0:
            return f"${self.one(scope.edges)}.since", "since"
        name = self.one(scope.types)
        prop = self.one(PROPERTIES[scope.types[name]])
        return f"${name}.{prop}", prop

    def condition(self, scope: Scope) -> str:
        if not scope.types:
            return "true"
        left, prop = self.value(scope)
        right = self.one(LITERALS[prop])
        forms = [f"{left} {self.one(OPERATORS)} {right}", f"{left} is null", f"{left} is not null"]
        forms += [f"{left} in [{right}, {self.one(LITERALS[prop])}]", f"not ({left} = {right}) or {left} is null"]
        named = scope.of("Named")
        if named and self.draw(st.booleans()):
            one, other = self.one(named), self.one(scope.types)
            forms += [f"${one} {self.one(('=', '!='))} ${other}", f"${one}.name {self.one(OPERATORS)} ${other}.name"]
        people = scope.of("Person")
        if len(people) > 1:
            one, other = self.one(people), self.one(people)
            forms += [f"${one} {self.one(('=', '!='))} ${other}", f"${one}.age {self.one(OPERATORS)} ${other}.age"]
            forms.append(f"${one}.nick = ${other}.nick or ${one}.age > 0")
        if scope.paths:
            forms.append(f"length(${self.one(scope.paths)}) >= 2")
        return f"({self.one(forms)})"

    def block(self, kind: str, scope: Scope, depth: int) -> str:
        inner = scope.inner()
        text = "\n".join(self.clauses(inner, depth + 1))
        if kind == "optional":
            for name, each in inner.types.items():
                scope.types.setdefault(name, each)
            scope.edges += [name for name in inner.edges if name not in scope.edges]
            scope.paths += [name for name in inner.paths if name not in scope.paths]
            scope.count = inner.count
            return f"optional {{\n{text}\n}}"
        if kind == "count":
            return f"count {{\n{text}\n}} {self.one(OPERATORS)} {self.one((0, 1, 2))}"
        if kind == "sum" and inner.of("Person"):
            call = self.one(("sum", "min", "max", "avg", "count"))
            return f"{call}(${self.one(inner.of('Person'))}.age) {{\n{text}\n}} {self.one(OPERATORS)} 1"
        return f"{'not' if kind == 'not' else 'exists'} {{\n{text}\n}}"

    # -- results ---------------------------------------------------------------------------------------

    def columns(self, scope: Scope) -> list[str]:
        names = list(scope.types)
        found = [f"{self.value(scope)[0]} as x{n}" for n in self.some(2, 1)]
        found += [f"${self.one(names)} as n{n}" for n in self.some(1)]
        if scope.paths and self.draw(st.booleans()):
            found.append(f"${self.one(scope.paths)} as way")
        return found

    def aggregates(self, scope: Scope) -> list[str]:
        found: list[str] = []
        for n in self.some(2, 1):
            value, prop = self.value(scope)
            functions = ["count", "min", "max", "collect"] + ["sum", "avg"] * (prop in ("age", "score", "since"))
            distinct = self.one(("", "", "distinct "))
            found.append(f"{self.one(functions)}({distinct}{value}) as g{n}")
        if self.draw(st.booleans()):
            found.append(f"count(${self.one(scope.types)}) as total")
        return found


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A query; without `limit`, because a cut of unordered rows is any of them."""
    writer, scope = Writer(draw), Scope()
    clauses = "\n".join(writer.clauses(scope, 0))
    grouped, distinct = draw(st.booleans()), draw(st.integers(0, 3)) == 0
    columns = writer.columns(scope) if not grouped or draw(st.booleans()) else []
    keys = [column.rsplit(" as ", 1)[1] for column in columns if not column.startswith("$") or "." in column]
    if grouped:
        columns += writer.aggregates(scope)
    if not (grouped or distinct):
        keys += [writer.value(scope)[0]]
    order = [f"{draw(st.sampled_from(keys))}{draw(st.sampled_from(['', ' desc']))}" for _ in writer.some(2) if keys]
    ordered = f"\norder {{ {', '.join(order)} }}" if order else ""
    word = "distinct " if distinct else ""
    return f"query q() {{\nmatch {{\n{clauses}\n}}\nreturn {word}{{ {', '.join(columns)} }}{ordered}\n}}"
