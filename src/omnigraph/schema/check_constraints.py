"""Rules for constraints: those in a body, and those that annotations of properties make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.model.types import ScalarType
from omnigraph.schema import ast
from omnigraph.schema.catalog import EDGE_ENDS, TypeKind
from omnigraph.schema.check_property import flag_problem
from omnigraph.schema.constraints import Check, Constraint, Index, Key, Range, Unique
from omnigraph.schema.patterns import BadPattern, check_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from omnigraph.model.diagnostics import Findings, Span
    from omnigraph.schema.draft import DraftProperty

_TUPLES = {"key": Key, "unique": Unique, "index": Index}


class ConstraintChecker:
    """Checks the constraints of one node or edge type and gives them in canonical order."""

    def __init__(
        self, kind: TypeKind, type_name: str, properties: Mapping[str, DraftProperty], findings: Findings
    ) -> None:
        self._kind = kind
        self._type_name = type_name
        self._properties = properties
        self._findings = findings
        self._key_at: Span | None = None

    def check(self, members: Iterable[ast.Member]) -> tuple[Constraint, ...]:
        """Check everything; what is wrong is reported and left out."""
        found: set[Constraint] = set(self._from_annotations())
        for member in members:
            if isinstance(member, ast.ConstraintDeclaration):
                constraint = self._constraint(member)
                if constraint is not None:
                    found.add(constraint)
        return tuple(sorted(found, key=constraint_order))

    def _from_annotations(self) -> Iterable[Constraint]:
        for draft in self._properties.values():
            if draft.is_key and self._kind is TypeKind.NODE and self._first_key(draft.span):
                yield Key((draft.name,))
            if draft.is_unique:
                yield Unique((draft.name,))
            if draft.is_indexed:
                yield Index((draft.name,))

    def _constraint(self, member: ast.ConstraintDeclaration) -> Constraint | None:
        word = member.kind.text
        if self._kind is TypeKind.EDGE and word in ("key", "range", "check"):
            hint = "make its ends unique instead: @unique(src, dst)" if word == "key" else None
            self._findings.add(
                f"@{word} is not allowed on edge {self._type_name}; it is for node types",
                member.span,
                hint=hint,
            )
            return None
        if word == "range":
            return self._range(member)
        if word == "check":
            return self._check(member)
        return self._tuple(member)

    def _first_key(self, span: Span) -> bool:
        if self._key_at is not None:
            self._findings.add(
                f"node {self._type_name} has more than one @key",
                span,
                hint="a key of several properties is one constraint: @key(a, b)",
            )
            return False
        self._key_at = span
        return True

    # -- @key, @unique, @index -------------------------------------------------------------------------

    def _tuple(self, member: ast.ConstraintDeclaration) -> Constraint | None:
        word = member.kind.text
        names: list[str] = []
        for argument in member.arguments:
            if not isinstance(argument, ast.Name):
                self._findings.add(f"@{word}(…) takes names of properties", argument.span)
            elif argument.text in names:
                self._findings.add(f"@{word}(…) names {argument.text!r} twice", argument.span)
            elif self._may_be_member(word, argument):
                names.append(argument.text)
        is_complete = len(names) == len(member.arguments)
        if word == "key" and not self._first_key(member.span):
            return None
        return _TUPLES[word](tuple(sorted(names))) if is_complete else None

    def _may_be_member(self, word: str, name: ast.Name) -> bool:
        if self._kind is TypeKind.EDGE and name.text in EDGE_ENDS:
            return True
        found = self._known(word, name)
        if found is None:
            return False
        problem = flag_problem(word, found.type, in_body=True)
        if problem:
            self._findings.add(
                f"@{word}(…) cannot name {self._type_name}.{name.text}: {problem[0]}",
                name.span,
                hint=problem[1],
            )
        return not problem

    def _known(self, word: str, name: ast.Name) -> DraftProperty | None:
        found = self._properties.get(name.text)
        if found is None:
            known = [*self._properties, *(EDGE_ENDS if self._kind is TypeKind.EDGE else ())]
            self._findings.add(
                f"@{word}(…) names {name.text!r}, which {self._kind} {self._type_name} does not have",
                name.span,
                hint=f"its properties: {', '.join(known[:10])}" if known else "it has no properties",
                unknown=(name.text, known),
            )
        return found

    # -- @range, @check --------------------------------------------------------------------------------

    def _range(self, member: ast.ConstraintDeclaration) -> Constraint | None:
        match member.arguments:
            case (ast.Name() as name, ast.Bounds() as bounds):
                pass
            case _:
                self._findings.add(
                    "@range takes a property and its bounds",
                    member.span,
                    hint="write @range(age, 0..150) in the body; either bound may be left out",
                )
                return None
        found = self._known("range", name)
        if found is None:
            return None
        if not found.type.is_numeric:
            self._findings.add(f"@range(…) needs a number, {self._type_name}.{name.text} is {found.type}", name.span)
            return None
        low, high = bounds.minimum, bounds.maximum
        if low is not None and high is not None and low > high:
            self._findings.add(f"the bounds of @range allow nothing: {low} is above {high}", bounds.span)
            return None
        return Range(name.text, low, high)

    def _check(self, member: ast.ConstraintDeclaration) -> Constraint | None:
        match member.arguments:
            case (ast.Name() as name, ast.Literal(value=str() as pattern) as literal):
                pass
            case _:
                self._findings.add(
                    "@check takes a property and a pattern",
                    member.span,
                    hint='write @check(code, "^[A-Z]{3}$") in the body',
                )
                return None
        found = self._known("check", name)
        if found is None:
            return None
        if found.type.scalar is not ScalarType.STRING or found.type.is_list:
            self._findings.add(f"@check(…) needs a String, {self._type_name}.{name.text} is {found.type}", name.span)
            return None
        try:
            check_pattern(pattern)
        except BadPattern as error:
            self._findings.add(
                f"the pattern of @check on {self._type_name}.{name.text} cannot be used: {error}",
                literal.span,
                hint=error.hint,
            )
            return None
        return Check(name.text, pattern)


def constraint_order(constraint: Constraint) -> tuple[int, str]:
    """Sort constraints: keys, uniques, indexes, ranges, checks, then by what they say."""
    kinds = (Key, Unique, Index, Range, Check)
    return kinds.index(type(constraint)), repr(constraint)
