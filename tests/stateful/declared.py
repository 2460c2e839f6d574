"""A schema as plain data, and its text. Knows nothing of the product's own schema classes."""

from __future__ import annotations

from dataclasses import dataclass

INTEGERS = {
    "I32": (-(2**31), 2**31 - 1),
    "I64": (-(2**63), 2**63 - 1),
    "U32": (0, 2**32 - 1),
    "U64": (0, 2**64 - 1),
}


@dataclass(frozen=True)
class Prop:
    name: str
    scalar: str
    nullable: bool = False
    enum: tuple[str, ...] | None = None
    limits: tuple[int | None, int | None] | None = None
    default: object = None
    default_text: str | None = None

    @property
    def text(self) -> str:
        kind = f"enum({', '.join(self.enum)})" if self.enum else self.scalar
        default = f" @default({self.default_text})" if self.default_text is not None else ""
        return f"  {self.name}: {kind}{'?' if self.nullable else ''}{default}"


@dataclass(frozen=True)
class Table:
    name: str
    props: tuple[Prop, ...]
    key: tuple[str, ...] = ()
    uniques: tuple[tuple[str, ...], ...] = ()
    source: str | None = None
    target: str | None = None
    card: tuple[int, int | None] = (0, None)

    @property
    def is_edge(self) -> bool:
        return self.source is not None

    @property
    def kind(self) -> str:
        return "edge" if self.is_edge else "node"

    @property
    def table_key(self) -> str:
        return f"{self.kind}:{self.name}"

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        """Column and node table of each end."""
        return (("src", f"node:{self.source}"), ("dst", f"node:{self.target}")) if self.is_edge else ()

    def prop(self, name: str) -> Prop:
        return next(prop for prop in self.props if prop.name == name)

    @property
    def text(self) -> str:
        head = f"node {self.name} {{"
        if self.is_edge:
            low, high = self.card
            card = "" if self.card == (0, None) else f" @card({low}..{'' if high is None else high})"
            head = f"edge {self.name}: {self.source} -> {self.target}{card} {{"
        lines = [head, *(prop.text for prop in self.props)]
        if self.key:
            lines.append(f"  @key({', '.join(self.key)})")
        lines += [f"  @unique({', '.join(names)})" for names in self.uniques]
        lines += [f"  @range({p.name}, {_bounds(p.limits)})" for p in self.props if p.limits]
        return "\n".join([*lines, "}"])


def _bounds(limits: tuple[int | None, int | None]) -> str:
    low, high = limits
    return f"{'' if low is None else low}..{'' if high is None else high}"


@dataclass(frozen=True)
class Schema:
    tables: tuple[Table, ...]

    @property
    def text(self) -> str:
        return "\n".join(table.text for table in self.tables) + "\n"

    @property
    def nodes(self) -> list[Table]:
        return [table for table in self.tables if not table.is_edge]

    @property
    def edges(self) -> list[Table]:
        return [table for table in self.tables if table.is_edge]

    def touching(self, node: str) -> list[Table]:
        return [edge for edge in self.edges if node in (edge.source, edge.target)]
