"""Trees of the query language, made by chance: everything the grammar can say, names that are keywords too."""

from hypothesis import strategies as st

from omnigraph.query import ast

KEYWORDS = [
    "limit",
    "order",
    "match",
    "count",
    "set",
    "where",
    "from",
    "shortest",
    "optional",
    "exists",
    "desc",
    "query",
]
NAMES = st.sampled_from(
    ["a", "b1", "name", "_x", "not", "in", "contains", "null", "distinct", "as", "return", *KEYWORDS]
)
# A bare word has no neighbours that tell it apart from an operator or a literal of that name.
WORDS = st.sampled_from(["a", "b1", "name", "from", "limit", "match", "set"])
EDGES = st.sampled_from(["knows", "worksAt", *KEYWORDS])
OPERATORS = st.sampled_from(["contains", "starts_with", "ends_with", "in", "and", "or", "is"])
TYPES = st.sampled_from(["Person", "Company", "A"])
COMPARISONS = st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "contains", "starts_with", "ends_with", "in", "not in"])
CHAINS = st.sampled_from([("or",), ("and",), ("+", "-"), ("*", "/", "%")])
INTEGERS = st.integers(0, 2**64 - 1)

names = st.builds(ast.Name, NAMES)
types = st.builds(ast.Name, TYPES)
variables = st.builds(ast.Variable, st.sampled_from(["p", "q", "limit", "_", "x1"]))
literals = st.builds(
    ast.Literal,
    st.one_of(
        st.none(),
        st.booleans(),
        INTEGERS,
        INTEGERS.map(lambda n: -n),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    ),
)
leaves = st.one_of(
    variables,
    literals,
    st.builds(ast.TimeLiteral, st.sampled_from(["date", "datetime"]), st.sampled_from(["2020-01-01", "x"])),
    st.builds(ast.Access, variables, names),
    st.builds(ast.Identity, st.one_of(st.none(), variables), st.builds(ast.Name, st.sampled_from(["id", "src"]))),
)


def _is_new_prefix(operator: str, operand: ast.Expression) -> bool:
    """A minus before a number is that number, and prefixes in a row are limited."""
    number = isinstance(operand, ast.Literal) and isinstance(operand.value, int | float)
    folds = number and not isinstance(operand.value, bool) and not str(operand.value).startswith("-")
    return not isinstance(operand, ast.Prefix) and not (operator == "-" and folds)


def _chain(inner: st.SearchStrategy[ast.Expression]) -> st.SearchStrategy[ast.Chain]:
    def build(operators: tuple[str, ...], first: ast.Expression, rest: list[tuple[int, ast.Expression]]) -> ast.Chain:
        chosen = tuple(operators[number % len(operators)] for number, _ in rest)
        return ast.Chain((first, *(operand for _, operand in rest)), chosen)

    return st.builds(build, CHAINS, inner, st.lists(st.tuples(st.integers(0, 2), inner), min_size=1, max_size=3))


def _extend(inner: st.SearchStrategy[ast.Expression]) -> st.SearchStrategy[ast.Expression]:
    functions = st.builds(ast.Name, st.sampled_from(["lower", "count", "nearest", "limit", "f"]))
    return st.one_of(
        st.builds(ast.ListOf, st.lists(inner, max_size=3).map(tuple)),
        st.builds(ast.Call, functions, st.lists(inner, max_size=3).map(tuple)),
        st.builds(ast.Call, functions, st.lists(inner, min_size=1, max_size=2).map(tuple), st.just(True)),
        st.tuples(st.sampled_from(["not", "-"]), inner)
        .filter(lambda pair: _is_new_prefix(*pair))
        .map(lambda pair: ast.Prefix(*pair)),
        _chain(inner),
        st.builds(ast.Comparison, inner, COMPARISONS, inner),
        st.builds(ast.NullTest, inner, st.booleans()),
    )


conditions = st.recursive(leaves, _extend, max_leaves=8)
values = st.recursive(st.one_of(leaves, st.builds(ast.Word, WORDS)), _extend, max_leaves=6)
pairs = st.lists(st.builds(ast.PropertyValue, names, values), min_size=1, max_size=3).map(tuple)
hops = st.builds(ast.Hops, st.integers(0, 9), st.one_of(st.none(), st.integers(0, 9)))
maybe = st.one_of(st.none(), variables)

plain_clauses = st.one_of(
    st.builds(ast.Binding, variables, types, st.one_of(st.just(()), pairs)),
    st.builds(
        ast.Traversal, variables, st.builds(ast.Name, EDGES), variables, maybe, st.booleans(), st.none() | hops, maybe
    ),
    st.builds(ast.Ambiguous, variables, st.builds(ast.Name, OPERATORS), variables),
    st.builds(ast.Filter, conditions),
)


def _blocks(inner: st.SearchStrategy[ast.Clause]) -> st.SearchStrategy[ast.Clause]:
    clauses = st.lists(inner, min_size=1, max_size=3).map(tuple)
    operators = st.sampled_from(["=", "<", ">="])
    return st.one_of(
        st.builds(ast.Block, st.sampled_from(["not", "exists", "optional"]), clauses),
        st.builds(ast.AggregateBlock, st.just(ast.Name("count")), st.none(), clauses, operators, conditions),
        st.builds(
            ast.AggregateBlock,
            st.builds(ast.Name, st.sampled_from(["count", "sum", "max"])),
            conditions,
            clauses,
            operators,
            conditions,
            st.booleans(),
        ),
    )


clause_lists = st.lists(st.recursive(plain_clauses, _blocks, max_leaves=4), min_size=1, max_size=5).map(tuple)
amounts = st.one_of(st.none(), st.builds(ast.Literal, INTEGERS), variables)
reads = st.builds(
    ast.Read,
    clause_lists,
    st.lists(st.builds(ast.Projection, values, st.none() | names), min_size=1, max_size=4).map(tuple),
    st.booleans(),
    st.lists(st.builds(ast.OrderKey, values, st.sampled_from(["", "asc", "desc"])), max_size=3).map(tuple),
    amounts,
    amounts,
)
mutations = st.builds(
    ast.Mutation,
    st.lists(
        st.one_of(
            st.builds(ast.Insert, types, pairs),
            st.builds(ast.Update, types, pairs, values),
            st.builds(ast.Delete, types, values),
        ),
        min_size=1,
        max_size=3,
    ).map(tuple),
)
type_references = st.one_of(
    st.builds(ast.TypeReference, st.sampled_from(["String", "I64", "Nope"]), st.booleans(), nullable=st.booleans()),
    st.builds(ast.TypeReference, st.just("Vector"), dimension=st.integers(0, 9), nullable=st.booleans()),
)
notes = st.builds(
    ast.Note, st.builds(ast.Name, st.sampled_from(["description", "instruction"])), st.text('a\n"\\é', max_size=4)
)
queries = st.builds(
    ast.ParsedQuery,
    names,
    st.lists(st.builds(ast.Parameter, variables, type_references), max_size=3).map(tuple),
    st.lists(notes, max_size=2, unique_by=lambda note: note.name.text).map(tuple),
    st.one_of(reads, mutations),
)
