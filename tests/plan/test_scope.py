"""Variables become columns of the scope; what is no scalar is lowered by the plan around it or refused."""

import pytest
from sqlglot import exp

from omnigraph.model.types import PropType, ScalarType
from omnigraph.plan import NotScalar, PathColumns, RowColumns, Scope, lower, render
from omnigraph.query import ir
from tests.plan.rows import NOW

NODE = ir.NodeValue(("Person",))
PATH = ir.PathValue("Knows")
TEXTS = PropType(ScalarType.STRING, is_list=True)


class Joined:
    """Columns of a join: one table per variable."""

    def property(self, variable: str | None, name: str) -> exp.Expr:
        return exp.column(name, table=variable, quoted=True)

    def identity(self, variable: str | None, field: ir.IdentityField) -> exp.Expr:
        return exp.column(field.value, table=variable, quoted=True)

    def node(self, variable: str) -> tuple[exp.Expr, ...]:
        return exp.column("type", table=variable), exp.column("id", table=variable)

    def path(self, variable: str) -> PathColumns:
        return PathColumns(exp.column("nodes", table=variable), exp.column("edges", table=variable))


def sql(node: ir.Expression) -> str:
    return render(lower(node, Scope(Joined())))


def test_variables() -> None:
    assert sql(ir.Property("p", "order", ir.STRING)) == '"p"."order"'
    assert sql(ir.Identity("e", ir.IdentityField.SRC)) == '"e"."src"'
    assert sql(ir.SameNode("a", "b", False)) == "(a.type = b.type) AND (a.id = b.id)"
    assert sql(ir.SameNode("a", "b", True)) == "NOT ((a.type = b.type) AND (a.id = b.id))"
    assert sql(ir.IsNull(ir.Entity("a", NODE), False)) == "a.type IS NULL"


def test_paths() -> None:
    way = ir.Entity("way", PATH)
    assert sql(ir.Call("length", (way,), ir.I64)) == "CAST(ARRAY_LENGTH(way.edges) AS BIGINT)"
    assert sql(ir.Call("nodes", (way,), TEXTS)) == "way.nodes"
    assert sql(ir.Call("edges", (way,), TEXTS)) == "way.edges"
    assert sql(ir.IsNull(way, True)) == "NOT (way.nodes IS NULL)"


def test_rows_are_quoted() -> None:
    found = lower(ir.Property(None, "select", ir.STRING), Scope())
    assert render(found) == '"select"'
    assert render(lower(ir.Property(None, "a", ir.STRING), Scope(RowColumns({"a": "c0"})))) == '"c0"'


def test_values_are_bound_once() -> None:
    scope = Scope()
    name = ir.Parameter("name", ir.STRING)
    lower(ir.Compare("=", name, name, ir.BOOL), scope)
    lower(ir.Literal("'; --", ir.STRING), scope)

    assert scope.bindings.values({"name": "x"}, NOW) == {"p_name": "x", "literal_1": "'; --"}


def test_what_is_no_scalar() -> None:
    count = ir.Aggregate("count", ir.Property("p", "age", ir.I64), False, ir.I64)
    more = ir.Compare(">", count, ir.Literal(1, ir.I64), ir.BOOL)
    with pytest.raises(NotScalar, match="Aggregate"):
        sql(more)
    with pytest.raises(NotScalar, match="Entity"):
        sql(ir.Entity("p", NODE))
    scope = Scope(Joined(), others={ir.Aggregate: lambda node, scope: exp.column("counted")})
    assert render(lower(more, scope)) == "counted > CAST(1 AS BIGINT)"
