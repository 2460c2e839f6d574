"""Expressions and types back to text. What is printed parses to the same tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omnigraph.query import ast
from omnigraph.schema.literals import write_number, write_string

if TYPE_CHECKING:
    from collections.abc import Callable

# How tightly each form binds; a part that binds less than its place asks for gets parentheses.
_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _UNARY, _ATOM = range(1, 9)
_CHAINS = {"or": _OR, "and": _AND, "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT}


def print_expression(node: ast.Expression, tightness: int = 0) -> str:
    """Print an expression for a place that asks for a tightness."""
    text, own = _FORMS[type(node)](node)
    return text if own >= tightness else f"({text})"


def print_sum(node: ast.Expression) -> str:
    """Print an expression for a place that takes no comparison."""
    return print_expression(node, _SUM)


def print_condition(node: ast.Expression) -> str:
    """Print a filter. Clauses have no separator, so what could be read on from the one before is wrapped."""
    text = print_expression(node)
    return f"({text})" if text.startswith("-") or isinstance(node, ast.Variable) or _is_ambiguous(node) else text


def print_row_condition(node: ast.Expression) -> str:
    """Print what stands behind `where`, where a bare `null` before an operator is a property of that name."""
    text = print_expression(node)
    return f"({text})" if text.startswith(("null ", "true ", "false ")) else text


def _is_ambiguous(node: ast.Expression) -> bool:
    """`$a contains $b` alone would be taken for a traversal."""
    if isinstance(node, ast.Comparison):
        words = node.operator[0].isalpha()
        return words and isinstance(node.left, ast.Variable) and isinstance(node.right, ast.Variable)
    if isinstance(node, ast.Chain):
        return node.operators[0] in ("and", "or") and all(isinstance(o, ast.Variable) for o in node.operands)
    return False


def print_type(node: ast.TypeReference) -> str:
    """Print the type of a parameter."""
    core = node.name if node.dimension is None else f"{node.name}({node.dimension})"
    return (f"[{core}]" if node.is_list else core) + "?" * node.nullable


def _variable(node: ast.Variable) -> tuple[str, int]:
    return f"${node.name}", _ATOM


def _literal(node: ast.Literal) -> tuple[str, int]:
    value = node.value
    if value is None:
        return "null", _ATOM
    if isinstance(value, bool):
        return "true" if value else "false", _ATOM
    if isinstance(value, str):
        return write_string(value), _ATOM
    text = write_number(value)
    return text, _UNARY if text.startswith("-") else _ATOM


def _time(node: ast.TimeLiteral) -> tuple[str, int]:
    return f"{node.function}({write_string(node.text)})", _ATOM


def _access(node: ast.Access) -> tuple[str, int]:
    return f"${node.variable.name}.{node.property.text}", _ATOM


def _identity(node: ast.Identity) -> tuple[str, int]:
    owner = "" if node.variable is None else f"${node.variable.name}."
    return f"{owner}@{node.field.text}", _ATOM


def _word(node: ast.Word) -> tuple[str, int]:
    return node.name, _ATOM


def _list(node: ast.ListOf) -> tuple[str, int]:
    return f"[{', '.join(print_expression(item) for item in node.items)}]", _ATOM


def _call(node: ast.Call) -> tuple[str, int]:
    arguments = ", ".join(print_expression(argument) for argument in node.arguments)
    return f"{node.function.text}({'distinct ' * node.distinct}{arguments})", _ATOM


def _prefix(node: ast.Prefix) -> tuple[str, int]:
    if node.operator == "not":
        return f"not {print_expression(node.operand, _UNARY)}", _NOT
    return f"-{print_expression(node.operand, _UNARY)}", _UNARY


def _chain(node: ast.Chain) -> tuple[str, int]:
    own = _CHAINS[node.operators[0]]
    inner = _NOT if own == _OR else own + 1  # few remember that `and` goes before `or`
    parts = [print_expression(node.operands[0], inner)]
    for operator, operand in zip(node.operators, node.operands[1:], strict=True):
        parts.append(f"{operator} {print_expression(operand, inner)}")
    return " ".join(parts), own


def _comparison(node: ast.Comparison) -> tuple[str, int]:
    return f"{print_sum(node.left)} {node.operator} {print_sum(node.right)}", _COMPARISON


def _null_test(node: ast.NullTest) -> tuple[str, int]:
    return f"{print_sum(node.operand)} is {'not ' * node.negated}null", _COMPARISON


_FORMS: dict[type, Callable[[Any], tuple[str, int]]] = {
    ast.Variable: _variable,
    ast.Literal: _literal,
    ast.TimeLiteral: _time,
    ast.Access: _access,
    ast.Identity: _identity,
    ast.Word: _word,
    ast.ListOf: _list,
    ast.Call: _call,
    ast.Prefix: _prefix,
    ast.Chain: _chain,
    ast.Comparison: _comparison,
    ast.NullTest: _null_test,
}
