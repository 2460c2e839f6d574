"""Generated schemas: any tree the grammar allows, and schemas that obey every rule."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from omnigraph.schema import ast
from omnigraph.schema.printer import print_schema

BASE = ("String", "Blob", "Bool", "I32", "I64", "U32", "U64", "F32", "F64", "DateTime", "Date")
NUMBERS = ("I32", "I64", "U32", "U64", "F32", "F64")
CONSTRAINTS = ("key", "unique", "index", "range", "check")

# -- any tree ------------------------------------------------------------------------------------------

LETTERS = "abcxyzABCXYZ019_"
type_names = st.builds(str.__add__, st.sampled_from("ABNEI"), st.text(LETTERS, max_size=4)).map(ast.Name)
identifiers = st.one_of(
    st.builds(str.__add__, st.sampled_from("abx_"), st.text(LETTERS, max_size=4)),
    st.sampled_from(["node", "edge", "interface", "implements", "enum", "nodeX", "edgeType", "true", "false", "key"]),
)
names = identifiers.map(ast.Name)
enum_values = st.text("abAB01_-", min_size=1, max_size=4)
integers = st.integers(-(2**63), 2**64 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(integers, floats)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def literals(draw: st.DrawFn) -> ast.Literal:
    if draw(st.integers(0, 3)) == 0:
        word = draw(identifiers)
        return ast.Literal(word == "true") if word in ("true", "false") else ast.Literal(word, bare=True)
    return ast.Literal(draw(st.one_of(texts, numbers, st.booleans())))


@st.composite
def bounds(draw: st.DrawFn) -> ast.Bounds:
    low, high = draw(st.none() | numbers), draw(st.none() | numbers)
    return ast.Bounds(0 if low is None and high is None else low, high)


def annotation_names() -> st.SearchStrategy[ast.Name]:
    known = st.sampled_from(["description", "instruction", "rename_from", "embed", "default", "node", "interface"])
    return st.one_of(identifiers, known).filter(lambda n: n not in (*CONSTRAINTS, "card")).map(ast.Name)


@st.composite
def annotations(draw: st.DrawFn) -> ast.Annotation:
    if draw(st.integers(0, 4)) == 0:
        return ast.Annotation(ast.Name(draw(st.sampled_from(CONSTRAINTS))))
    value = draw(st.none() | literals())
    pair = st.tuples(names, literals().filter(lambda v: not v.bare))
    pairs = () if value is None else tuple(draw(st.lists(pair, max_size=2, unique_by=lambda p: p[0].text)))
    return ast.Annotation(draw(annotation_names()), value, pairs)


@st.composite
def types(draw: st.DrawFn) -> ast.TypeExpression:
    nullable = draw(st.booleans())
    match draw(st.sampled_from(["scalar", "list", "enum", "vector"])):
        case "scalar":
            return ast.TypeExpression(draw(st.sampled_from(BASE)), nullable)
        case "list":
            scalar = draw(st.sampled_from([b for b in BASE if b != "Blob"]))
            return ast.TypeExpression(scalar, nullable, is_list=True)
        case "enum":
            values = draw(st.lists(enum_values, min_size=1, max_size=3, unique=True))
            return ast.TypeExpression("String", nullable, enum_values=tuple(map(ast.Name, values)))
        case _:
            return ast.TypeExpression("Vector", nullable, vector_dim=draw(st.integers(1, 2**31 - 1)))


properties = st.builds(ast.PropertyDeclaration, names, types(), st.lists(annotations(), max_size=2).map(tuple))
constraint_arguments = st.one_of(
    names, bounds(), literals().filter(lambda v: not (v.bare or isinstance(v.value, bool)))
)
constraints = st.builds(
    ast.ConstraintDeclaration,
    st.sampled_from(CONSTRAINTS).map(ast.Name),
    st.lists(constraint_arguments, min_size=1, max_size=3).map(tuple),
)


def bodies(members: st.SearchStrategy[ast.Member], least: int = 0) -> st.SearchStrategy[ast.Body]:
    return st.builds(ast.Body, st.lists(members, min_size=least, max_size=4).map(tuple))


@st.composite
def edges(draw: st.DrawFn) -> ast.EdgeDeclaration:
    name, source, target = draw(type_names), draw(type_names), draw(type_names)
    body = draw(st.none() | bodies(properties | constraints, least=1))
    marks = draw(st.lists(annotations(), max_size=2))
    if draw(st.booleans()):
        low, high = draw(st.integers(0, 2**32 - 1)), draw(st.none() | st.integers(0, 2**32 - 1))
        marks.insert(0, ast.Annotation(ast.Name("card"), ast.Bounds(low, high)))
    return ast.EdgeDeclaration(name, source, target, body, tuple(marks))


marks = st.lists(annotations(), max_size=2).map(tuple)
interfaces = st.builds(ast.InterfaceDeclaration, type_names, bodies(properties), marks)
nodes = st.builds(
    ast.NodeDeclaration,
    type_names,
    bodies(properties | constraints),
    marks,
    st.lists(type_names, max_size=2).map(tuple),
)
trees = st.builds(ast.ParsedSchema, st.lists(interfaces | nodes | edges(), max_size=4).map(tuple))

# -- schemas that obey every rule ----------------------------------------------------------------------

POOL = ("a", "b", "c", "d")
DEFAULTS: dict[str, list[ast.Value]] = {
    "String": ["", "x"],
    "Bool": [True, False],
    **{number: [0, 7] for number in NUMBERS},
    "Date": ["2020-02-29"],
    "DateTime": ["2020-02-29T12:00:00Z"],
}


def mark(name: str, value: ast.Value | None = None) -> ast.Annotation:
    return ast.Annotation(ast.Name(name), None if value is None else ast.Literal(value))


@st.composite
def valid_types(draw: st.DrawFn) -> ast.TypeExpression:
    declared = draw(types())
    if declared.vector_dim is not None:
        return replace(declared, vector_dim=draw(st.sampled_from([2, 3])))
    if declared.enum_values is not None:
        values = draw(st.lists(st.sampled_from(["p", "q", "r"]), min_size=1, unique=True))
        return replace(declared, enum_values=tuple(map(ast.Name, values)))
    return declared


def _is_plain(declared: ast.TypeExpression) -> bool:
    return not declared.is_list and declared.scalar not in ("Vector", "Blob")


@st.composite
def valid_property(draw: st.DrawFn, name: str, renames: bool) -> ast.PropertyDeclaration:
    declared = draw(valid_types())
    marked: list[ast.Annotation] = []
    if _is_plain(declared) and draw(st.booleans()):
        values = [v.text for v in declared.enum_values] if declared.enum_values else DEFAULTS[declared.scalar]
        marked.append(mark("default", draw(st.sampled_from(values))))
    if _is_plain(declared):
        marked += [mark(flag) for flag in ("unique", "index") if draw(st.integers(0, 3)) == 0]
    if draw(st.integers(0, 4)) == 0:
        marked.append(mark("description", draw(st.sampled_from(["one", "two"]))))
    if draw(st.integers(0, 4)) == 0:
        marked.append(mark("note", draw(st.sampled_from([1, True, 1.0, "1"]))))
    if renames and draw(st.integers(0, 2)) == 0:
        marked.append(mark("rename_from", draw(st.sampled_from([n for n in POOL if n != name]))))
    return ast.PropertyDeclaration(ast.Name(name), declared, tuple(draw(st.permutations(marked))))


@st.composite
def valid_properties(draw: st.DrawFn, renames: bool) -> list[ast.PropertyDeclaration]:
    chosen = draw(st.lists(st.sampled_from(POOL), unique=True, max_size=3))
    return _distinct_renames([draw(valid_property(name, renames)) for name in chosen])


def _distinct_renames(declared: list) -> list:
    """Two things cannot be renamed from one: keep the first claim."""
    claimed: set[object] = set()
    kept = []
    for item in declared:
        sources = [a.value.value for a in item.annotations if a.name.text == "rename_from"]
        if sources and sources[0] in claimed:
            item = replace(item, annotations=tuple(a for a in item.annotations if a.name.text != "rename_from"))
        claimed.update(sources)
        kept.append(item)
    return kept


@st.composite
def valid_constraints(draw: st.DrawFn, properties: list[ast.PropertyDeclaration]) -> list[ast.ConstraintDeclaration]:
    made: list[ast.ConstraintDeclaration] = []
    for declared in properties:
        name, written = declared.name, declared.type
        plain = _is_plain(written)
        if plain and not written.nullable and not made and draw(st.integers(0, 3)) == 0:
            made.append(ast.ConstraintDeclaration(ast.Name("key"), (name,)))
        if plain and written.scalar in NUMBERS and draw(st.integers(0, 2)) == 0:
            low, high = sorted(draw(st.tuples(st.integers(-3, 3), st.integers(-3, 3))))
            limits = draw(st.sampled_from([(low, high), (None, high), (low, None), (float(low), float(high))]))
            made.append(ast.ConstraintDeclaration(ast.Name("range"), (name, ast.Bounds(*limits))))
        if plain and written.scalar == "String" and draw(st.integers(0, 2)) == 0:
            pattern = draw(st.sampled_from(["a", "^b$"]))
            made.append(ast.ConstraintDeclaration(ast.Name("check"), (name, ast.Literal(pattern))))
    plain_names = tuple(p.name for p in properties if _is_plain(p.type))
    if plain_names and draw(st.booleans()):
        word = draw(st.sampled_from(["unique", "index"]))
        made.append(ast.ConstraintDeclaration(ast.Name(word), plain_names))
    return made


@st.composite
def valid_schemas(draw: st.DrawFn, renames: bool = False) -> ast.ParsedSchema:
    interface_names = draw(st.lists(st.sampled_from(["I", "J"]), unique=True))
    node_names = draw(st.lists(st.sampled_from(["A", "B", "C"]), unique=True))
    edge_names = draw(st.lists(st.sampled_from(["E", "F"]), unique=True)) if node_names else []
    # Interfaces have properties of their own names, so that what a node declares never contradicts them.
    interfaces = [
        ast.InterfaceDeclaration(
            ast.Name(name),
            ast.Body((ast.PropertyDeclaration(ast.Name(f"of_{name.lower()}"), draw(valid_types())),)),
            draw(header(name, ("I", "J"), renames)),
        )
        for name in interface_names
    ]
    nodes = []
    for name in node_names:
        declared = draw(valid_properties(renames))
        members = (*declared, *draw(valid_constraints(declared)))
        implements = draw(st.lists(st.sampled_from(interface_names), unique=True)) if interface_names else []
        marked = draw(header(name, ("A", "B", "C"), renames))
        nodes.append(ast.NodeDeclaration(ast.Name(name), ast.Body(members), marked, tuple(map(ast.Name, implements))))
    edges = []
    for name in edge_names:
        source, target = (ast.Name(draw(st.sampled_from(node_names))) for _ in range(2))
        declared = draw(valid_properties(renames))
        card = ast.Annotation(
            ast.Name("card"), ast.Bounds(draw(st.integers(0, 1)), draw(st.sampled_from([None, 1, 2])))
        )
        marked = (*((card,) if draw(st.booleans()) else ()), *draw(header(name, ("E", "F"), renames)))
        edges.append(ast.EdgeDeclaration(ast.Name(name), source, target, ast.Body(tuple(declared)), marked))
    groups = [_distinct_renames(group) for group in (interfaces, nodes, edges)]
    everything = [declaration for group in groups for declaration in group]
    return ast.ParsedSchema(tuple(draw(st.permutations(everything))))


@st.composite
def header(draw: st.DrawFn, name: str, pool: tuple[str, ...], renames: bool) -> tuple[ast.Annotation, ...]:
    marked = [mark("description", "text")] if draw(st.integers(0, 3)) == 0 else []
    if renames and draw(st.integers(0, 2)) == 0:
        marked.append(mark("rename_from", draw(st.sampled_from([n for n in pool if n != name]))))
    return tuple(marked)


def valid_texts(renames: bool = False) -> st.SearchStrategy[str]:
    return valid_schemas(renames).map(print_schema)
