"""Tree to catalog: every rule of the language, all findings in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from omnigraph.model.diagnostics import Findings
from omnigraph.schema import ast
from omnigraph.schema.check_types import check_ends, draft_edge, draft_interface, draft_node
from omnigraph.schema.identity import Identified, identify
from omnigraph.schema.parse import parse
from omnigraph.schema.renames import check_renames

if TYPE_CHECKING:
    from omnigraph.schema.catalog import Catalog

CATALOG_ERROR = "catalog error"

_D = TypeVar("_D", ast.InterfaceDeclaration, ast.NodeDeclaration, ast.EdgeDeclaration)


def check(schema: ast.ParsedSchema, previous: Catalog | None = None) -> Catalog:
    """Check a parsed schema. What the previous catalog knows keeps its stable ids."""
    return check_and_identify(schema, previous).catalog


def compile_schema(text: str, name: str = "<schema>", previous: Catalog | None = None) -> Catalog:
    """Parse and check a schema text."""
    return check(parse(text, name), previous)


def check_and_identify(schema: ast.ParsedSchema, previous: Catalog | None) -> Identified:
    """Check a parsed schema and say, too, how its names relate to those of the previous catalog."""
    findings = Findings()
    interface_declarations = _first_of_each(schema, ast.InterfaceDeclaration, findings)
    node_declarations = _first_of_each(schema, ast.NodeDeclaration, findings)
    edge_declarations = _first_of_each(schema, ast.EdgeDeclaration, findings)

    interfaces = {name: draft_interface(d, findings) for name, d in interface_declarations.items()}
    nodes = [draft_node(d, interfaces, findings) for d in node_declarations.values()]
    edges = [draft_edge(d, findings) for d in edge_declarations.values()]
    for declaration in edge_declarations.values():
        check_ends(declaration, node_declarations, interface_declarations, findings)
    for kind, drafts in (("interface", interfaces.values()), ("node", nodes), ("edge", edges)):
        check_renames(drafts, f"{kind} ", findings)

    findings.raise_if_any(CATALOG_ERROR, schema.source)
    return identify(list(interfaces.values()), nodes, edges, previous)


def _first_of_each(schema: ast.ParsedSchema, kind: type[_D], findings: Findings) -> dict[str, _D]:
    """Give the declarations of a kind by name, reporting names that are used twice."""
    is_edge = kind is ast.EdgeDeclaration
    word = kind.__name__.removesuffix("Declaration").lower()
    first: dict[str, _D] = {}
    by_key: dict[str, str] = {}
    for declaration in schema.declarations:
        if not isinstance(declaration, kind):
            continue
        name = declaration.name
        key = name.text.lower() if is_edge else name.text
        other = by_key.setdefault(key, name.text)
        if other == name.text and name.text not in first:
            first[name.text] = declaration
        elif other == name.text:
            findings.add(f"{word} {name.text} is declared twice", name.span, hint="rename or remove one")
        else:
            findings.add(
                f"edge {name.text} and edge {other} differ only in case",
                name.span,
                hint="queries find edges whatever their case; choose another name",
            )
    return first
