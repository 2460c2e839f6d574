"""What holds for the plan between any two schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from omnigraph.model.types import blob_uri_column
from omnigraph.schema import (
    Catalog,
    arrow_type,
    compile_schema,
    encode_catalog,
    plan_migration,
    property_fields,
    table_schemas,
)
from omnigraph.schema.evolve import (
    AddProperty,
    AddType,
    ChangePropertyType,
    DropProperty,
    DropType,
    MigrationPlan,
    RenameProperty,
    RenameType,
    TypeStep,
)
from tests.schema.generate import valid_texts

if TYPE_CHECKING:
    from omnigraph.model.types import PropType


def types_of(catalog: Catalog) -> dict[tuple[str, str], int]:
    return {(t.kind, t.name): t.id for t in (*catalog.interfaces, *catalog.nodes, *catalog.edges)}


def all_ids(catalog: Catalog) -> list[int]:
    declared = (*catalog.interfaces, *catalog.nodes, *catalog.edges)
    return [i for t in declared for i in (t.id, *(p.id for p in t.properties))]


@given(valid_texts(), valid_texts(renames=True))
@settings(max_examples=200, deadline=None)
def test_plan_leads_to_what_the_text_says(before: str, after: str) -> None:
    previous = compile_schema(before)
    plan = plan_migration(previous, after)
    assert plan.catalog == compile_schema(after, previous=previous)
    assert plan.supported == (not plan.refusals)
    # No difference is left without a step, and no step is planned for nothing.
    assert bool(plan.steps) == (encode_catalog(plan.catalog) != encode_catalog(previous))
    ids = all_ids(plan.catalog)
    assert len(ids) == len(set(ids))
    assert max(ids, default=0) < plan.catalog.next_id


@given(valid_texts(), valid_texts(renames=True))
@settings(max_examples=100, deadline=None)
def test_planning_the_same_text_again_plans_nothing(before: str, after: str) -> None:
    plan = plan_migration(compile_schema(before), after)
    assume(plan.supported)
    again = plan_migration(plan.catalog, after)
    assert again.steps == ()
    assert encode_catalog(again.catalog) == encode_catalog(plan.catalog)


@given(valid_texts(), valid_texts(renames=True))
@settings(max_examples=100, deadline=None)
def test_renames_keep_ids(before: str, after: str) -> None:
    previous = compile_schema(before)
    plan = plan_migration(previous, after)
    old, new = types_of(previous), types_of(plan.catalog)
    renamed = {(s.type_kind, s.type_name): s.old_name for s in plan.steps if isinstance(s, RenameType)}
    for (kind, name), old_name in renamed.items():
        assert new[kind, name] == old[kind, old_name]
    kept = {key: i for key, i in new.items() if key not in renamed and key in old}
    assert all(old[key] == i for key, i in kept.items())
    for step in plan.steps:
        if isinstance(step, RenameProperty):
            declared = _type(plan.catalog, step.type_kind, step.type_name)
            was = _type(previous, step.type_kind, renamed.get((step.type_kind, step.type_name), step.type_name))
            assert declared.property(step.property_name).id == was.property(step.old_name).id


@given(valid_texts(), valid_texts(renames=True))
@settings(max_examples=150, deadline=None)
def test_steps_are_enough_to_get_there(before: str, after: str) -> None:
    plan = plan_migration(compile_schema(before), after)
    assume(plan.supported)
    expected = {key: Table.of(schema) for key, schema in table_schemas(plan.catalog).items()}
    assert replay(plan) == expected


@dataclass
class Table:
    """The columns of a table, as one that carries out a plan would keep them."""

    columns: dict[str, pa.Field]

    @classmethod
    def of(cls, schema: pa.Schema) -> Table:
        return cls({field.name: field for field in schema})

    def put(self, name: str, declared: PropType) -> None:
        self.columns |= {field.name: field for field in property_fields(name, declared)}

    def take(self, name: str) -> list[pa.Field]:
        """Remove the columns of a property: a Blob has two."""
        found = [self.columns.pop(name)]
        if blob_uri_column(name) in self.columns:
            found.append(self.columns.pop(blob_uri_column(name)))
        return found


def replay(plan: MigrationPlan) -> dict[str, Table]:
    """Carry out a plan on empty tables, with nothing but its steps."""
    tables = {key: Table.of(schema) for key, schema in table_schemas(plan.previous).items()}
    for step in plan.steps:
        if not isinstance(step, TypeStep) or step.table is None:
            continue
        match step:
            case AddType():
                tables[step.table] = Table.of(table_schemas(plan.catalog)[step.table])
            case RenameType():
                tables[step.table] = tables.pop(f"{step.type_kind}:{step.old_name}")
            case DropType():
                del tables[step.table]
            case AddProperty():
                assert step.property_name not in tables[step.table].columns
                tables[step.table].put(step.property_name, step.property_type)
            case RenameProperty():
                table = tables[step.table]
                assert step.property_name not in table.columns
                for field, name in zip(
                    table.take(step.old_name), (step.property_name, blob_uri_column(step.property_name)), strict=False
                ):
                    table.columns[name] = field.with_name(name)
            case ChangePropertyType():
                was = tables[step.table].columns[step.property_name]
                assert was.type == arrow_type(step.before)
                assert was.nullable == (step.before.nullable or step.before.is_blob)
                assert step.touches_data == (was.type != arrow_type(step.after))
                tables[step.table].put(step.property_name, step.after)
            case DropProperty():
                tables[step.table].take(step.property_name)
            case _:
                pass
    return tables


@given(valid_texts(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_step_is_described_completely(after: str, allow_data_loss: bool) -> None:
    previous = compile_schema("interface I { of_i: I32 } node A { a: I32 b: String? c: [F32]? } edge E: A -> A")
    plan = plan_migration(previous, after, allow_data_loss=allow_data_loss)
    for step in plan.steps:
        written = step.to_json()
        assert written["kind"] == step.kind
        if step.kind != "unsupported_change":
            assert written["touches_data"] is step.touches_data
            assert (written["data_check"] is None) == (step.data_check is None)


def _type(catalog: Catalog, kind: str, name: str):
    return {"interface": catalog.interface, "node": catalog.node, "edge": catalog.edge_types.get}[kind](name)
