"""One schema out of two that were changed apart: declaration by declaration, member by member."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from omnigraph.history.conflicts import SchemaConflict
from omnigraph.manifest import StoredSchema
from omnigraph.model.diagnostics import LanguageError
from omnigraph.schema import MigrationPlan, parse, plan_migration, print_schema, schema_hash
from omnigraph.schema.ast import Body, ConstraintDeclaration, ParsedSchema
from omnigraph.schema.evolve import DropMode
from omnigraph.schema.evolve.compare import compare_catalogs
from omnigraph.schema.printer import print_member

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnigraph.manifest import Repository, State
    from omnigraph.schema import Catalog
    from omnigraph.schema.ast import Declaration, Member

T = TypeVar("T")


@dataclass(frozen=True)
class MergedSchema:
    """The schema of the outcome, and what it takes to bring our side to it."""

    hash: str
    stored: StoredSchema
    plan: MigrationPlan | None
    """None if our side has it already."""


def merge_schemas(repository: Repository, base: State, ours: State, theirs: State, what: str) -> MergedSchema:
    """Give the schema that has the changes of both sides."""
    catalogs = repository.catalogs
    mine = catalogs.get(ours.schema_hash)
    if theirs.schema_hash in (base.schema_hash, ours.schema_hash):
        return MergedSchema(ours.schema_hash, mine, None)
    other = catalogs.get(theirs.schema_hash)
    if ours.schema_hash == base.schema_hash:
        plan = _plan_between(mine.catalog, other.catalog)
        _insist_on_supported(plan, what)
        return MergedSchema(theirs.schema_hash, other, plan)
    text = _merge_texts(catalogs.get(base.schema_hash).source, mine.source, other.source, what)
    try:
        plan = plan_migration(mine.catalog, text, "<merged schema>")
    except LanguageError as error:
        raise SchemaConflict(what, [error.message]) from error
    _insist_on_supported(plan, what)
    merged_hash = schema_hash(plan.catalog)
    if merged_hash == ours.schema_hash:
        return MergedSchema(ours.schema_hash, mine, None)
    stored = StoredSchema(text, plan.catalog)
    return MergedSchema(merged_hash, stored, plan)


def _plan_between(old: Catalog, new: Catalog) -> MigrationPlan:
    return MigrationPlan(old, new, tuple(compare_catalogs(old, new, DropMode.SOFT)))


def _insist_on_supported(plan: MigrationPlan, what: str) -> None:
    if not plan.supported:
        raise SchemaConflict(what, [f"{refusal.entity}: {refusal}" for refusal in plan.refusals])


# -- texts -----------------------------------------------------------------------------------------------


def _merge_texts(base: str, ours: str, theirs: str, what: str) -> str:
    parsed = [_declarations(text) for text in (base, ours, theirs)]
    reasons: list[str] = []
    merged: list[Declaration] = []
    for key in dict.fromkeys([*parsed[1], *parsed[2]]):
        before, mine, others = (declarations.get(key) for declarations in parsed)
        found = _merge_declaration(before, mine, others, key[1], reasons)
        if found is not None:
            merged.append(found)
    if reasons:
        raise SchemaConflict(what, reasons)
    return print_schema(ParsedSchema(tuple(merged)))


def _declarations(text: str) -> dict[tuple[str, str], Declaration]:
    return {(type(one).__name__, one.name.text): one for one in parse(text).declarations}


def _merge_declaration(
    base: Declaration | None, ours: Declaration | None, theirs: Declaration | None, name: str, reasons: list[str]
) -> Declaration | None:
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    if ours is None or theirs is None:
        reasons.append(f"{name} was dropped on one side and changed on the other")
        return ours or theirs
    head = _pick(_headless(base) if base else None, _headless(ours), _headless(theirs), f"the head of {name}", reasons)
    before = _members(base) if base is not None else {}
    mine, others = _members(ours), _members(theirs)
    members: list[Member] = []
    for key in dict.fromkeys([*mine, *others]):
        found = _pick(before.get(key), mine.get(key), others.get(key), f"{name}.{key}", reasons)
        if found is not None:
            members.append(found)
    return replace(head or ours, body=Body(tuple(members)))


def _headless(declared: Declaration) -> Declaration:
    return replace(declared, body=Body())


def _members(declared: Declaration) -> Mapping[str, Member]:
    members = declared.body.members if declared.body is not None else ()
    return {print_member(one) if isinstance(one, ConstraintDeclaration) else one.name.text: one for one in members}


def _pick(base: T | None, ours: T | None, theirs: T | None, what: str, reasons: list[str]) -> T | None:
    """What only one side changed is taken as it has it."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    reasons.append(f"{what} was changed on both sides, in different ways")
    return ours
