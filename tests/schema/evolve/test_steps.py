"""Every kind of step: the change that makes it, the form it is sent in, and what it asks of the data."""

from typing import Any

import pytest

from omnigraph.schema import compile_schema, plan_migration
from omnigraph.schema.evolve import type_steps
from omnigraph.schema.evolve.property_steps import PropertyStep
from omnigraph.schema.evolve.step import Step, TypeStep

A = "node A { x: I32 } "
E = A + "edge E: A -> A "
NODE_A = {"type_kind": "node", "type_name": "A"}
QUIET = {"touches_data": False, "data_check": None}


def of(scalar: str, nullable: bool = False, values: list[str] | None = None, is_list: bool = False) -> dict[str, Any]:
    return {"scalar": scalar, "nullable": nullable, "list": is_list, "enum_values": values}


def drop(of_property: str, code: str, **fields: object) -> dict[str, Any]:
    return {"kind": "drop_property", **NODE_A, "property_name": of_property, **fields, **QUIET, "code": code}


def retype(before: dict[str, Any], after: dict[str, Any], **fields: object) -> dict[str, Any]:
    return {
        "kind": "change_property_type",
        **NODE_A,
        "property_name": "x",
        "from": before,
        "to": after,
        **QUIET,
        **fields,
    }


def constrain(kind: str, constraint: dict[str, Any], check: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"kind": kind, **NODE_A, "constraint": constraint, "touches_data": False, "data_check": check}


TYPES: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "nothing": (A, A, []),
    "add interface": (
        "",
        "interface I { x: I32 }",
        [{"kind": "add_type", "type_kind": "interface", "name": "I", **QUIET}],
    ),
    "add node type": (A, A + "node B {}", [{"kind": "add_type", "type_kind": "node", "name": "B", **QUIET}]),
    "add edge type": (A, E, [{"kind": "add_type", "type_kind": "edge", "name": "E", **QUIET}]),
    "rename interface": (
        "interface I {} node A implements I {}",
        'interface J @rename_from("I") {} node A implements J {}',
        [{"kind": "rename_type", "type_kind": "interface", "from": "I", "to": "J", **QUIET}],
    ),
    "rename node type, edges follow": (
        E,
        'node B @rename_from("A") { x: I32 } edge E: B -> B',
        [{"kind": "rename_type", "type_kind": "node", "from": "A", "to": "B", **QUIET}],
    ),
    "rename edge type": (
        E,
        A + 'edge F: A -> A @rename_from("E")',
        [{"kind": "rename_type", "type_kind": "edge", "from": "E", "to": "F", **QUIET}],
    ),
    "a rename that is done": (A, 'node A @rename_from("Z") { x: I32 @rename_from("y") }', []),
    "drop interface": (
        "interface I {}",
        "",
        [{"kind": "drop_type", "type_kind": "interface", "name": "I", "mode": "soft", **QUIET}],
    ),
    "drop node and edge type": (
        E,
        "",
        [
            {"kind": "drop_type", "type_kind": "node", "name": "A", "mode": "soft", **QUIET, "code": "OG-DS-102"},
            {"kind": "drop_type", "type_kind": "edge", "name": "E", "mode": "soft", **QUIET, "code": "OG-DS-103"},
        ],
    ),
    "describe type": (
        A,
        'node A @instruction("i") @description("d") @color(red, shade=1) { x: I32 }',
        [
            {
                "kind": "update_type_metadata",
                "type_kind": "node",
                "name": "A",
                "annotations": [
                    {"name": "color", "value": "red", "kwargs": {"shade": 1}},
                    {"name": "description", "value": "d"},
                    {"name": "instruction", "value": "i"},
                ],
                **QUIET,
            }
        ],
    ),
    "order of annotations": ("node A @b @a {}", "node A @a @b {}", []),
    "1 is not true": (
        "node A @a(1) {}",
        "node A @a(true) {}",
        [
            {
                "kind": "update_type_metadata",
                "type_kind": "node",
                "name": "A",
                "annotations": [{"name": "a", "value": True}],
                **QUIET,
            }
        ],
    ),
    "implement another interface": (
        "interface I {} interface J {} node A implements I {}",
        "interface I {} interface J {} node A implements J {}",
        [{"kind": "change_implements", **NODE_A, "added": ["J"], "removed": ["I"], **QUIET}],
    ),
    "implement brings a property": (
        "interface I { y: I32? } node A {}",
        "interface I { y: I32? } node A implements I {}",
        [
            {"kind": "change_implements", **NODE_A, "added": ["I"], "removed": [], **QUIET},
            {
                "kind": "add_property",
                **NODE_A,
                "property_name": "y",
                "property_type": of("I32", nullable=True),
                "default": None,
                "touches_data": True,
                "data_check": None,
            },
        ],
    ),
    "inherited or declared is the same": (
        "interface I { y: I32 } node A implements I {}",
        "interface I { y: I32 } node A implements I { y: I32 }",
        [],
    ),
    "change an end": (
        E + "node B {}",
        A + "node B {} edge E: A -> B",
        [
            {
                "kind": "change_end",
                "type_kind": "edge",
                "type_name": "E",
                "end": "dst",
                "from": "A",
                "to": "B",
                "touches_data": False,
                "data_check": {"check": "ends_exist", "table": "edge:E", "column": "dst", "node_table": "node:B"},
            }
        ],
    ),
    "tighten cardinality": (
        E,
        E + "@card(1..2)",
        [
            {
                "kind": "change_cardinality",
                "type_kind": "edge",
                "type_name": "E",
                "from": {"min": 0, "max": None},
                "to": {"min": 1, "max": 2},
                "touches_data": False,
                "data_check": {"check": "cardinality", "table": "edge:E", "minimum": 1, "maximum": 2},
            }
        ],
    ),
    "loosen cardinality": (
        E + "@card(1..2)",
        E + "@card(0..3)",
        [
            {
                "kind": "change_cardinality",
                "type_kind": "edge",
                "type_name": "E",
                "from": {"min": 1, "max": 2},
                "to": {"min": 0, "max": 3},
                **QUIET,
            }
        ],
    ),
}

PROPERTIES: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "add nullable": (
        "node A {}",
        "node A { y: [String]? }",
        [
            {
                "kind": "add_property",
                **NODE_A,
                "property_name": "y",
                "property_type": of("String", nullable=True, is_list=True),
                "default": None,
                "touches_data": True,
                "data_check": None,
            }
        ],
    ),
    "add required with a default": (
        "node A {}",
        'node A { y: Date @default("2020-01-01") }',
        [
            {
                "kind": "add_property",
                **NODE_A,
                "property_name": "y",
                "property_type": of("Date"),
                "default": "2020-01-01",
                "touches_data": True,
                "data_check": None,
            }
        ],
    ),
    "add required to an interface": (
        "interface I {}",
        "interface I { y: I32 }",
        [
            {
                "kind": "add_property",
                "type_kind": "interface",
                "type_name": "I",
                "property_name": "y",
                "property_type": of("I32"),
                "default": None,
                **QUIET,
            }
        ],
    ),
    "rename": (
        'node A { x: String @key v: Vector(2) @embed(x) @range(n, 0..1) n: I32 @unique(x, n) @check(x, "a") }',
        (
            'node A { y: String @key @rename_from("x") v: Vector(2) @embed(y) @range(m, 0..1) m: I32 @rename_from("n") '
            '@unique(y, m) @check(y, "a") }'
        ),
        [
            {"kind": "rename_property", **NODE_A, "from": "n", "to": "m", **QUIET},
            {"kind": "rename_property", **NODE_A, "from": "x", "to": "y", **QUIET},
        ],
    ),
    "rename in an interface": (
        "interface I { x: I32 } node A implements I {}",
        'interface I { y: I32 @rename_from("x") } node A implements I {}',
        [
            {"kind": "rename_property", "type_kind": "interface", "type_name": "I", "from": "x", "to": "y", **QUIET},
            {"kind": "rename_property", **NODE_A, "from": "x", "to": "y", **QUIET},
        ],
    ),
    "extend enum": (
        "node A { x: enum(b) }",
        "node A { x: enum(c, b, a) }",
        [{"kind": "extend_enum", **NODE_A, "property_name": "x", "added_values": ["a", "c"], **QUIET}],
    ),
    "extend a renamed enum": (
        "node A { y: enum(b) }",
        'node A { x: enum(b, a) @rename_from("y") }',
        [
            {"kind": "rename_property", **NODE_A, "from": "y", "to": "x", **QUIET},
            {"kind": "extend_enum", **NODE_A, "property_name": "x", "added_values": ["a"], **QUIET},
        ],
    ),
    "narrow enum": (
        "node A { x: enum(a, b) }",
        "node A { x: enum(a, c) }",
        [
            retype(
                of("String", values=["a", "b"]),
                of("String", values=["a", "c"]),
                data_check={"check": "enum", "table": "node:A", "column": "x", "values": ["a", "c"]},
            )
        ],
    ),
    "enum to String": (
        "node A { x: enum(a) }",
        "node A { x: String }",
        [retype(of("String", values=["a"]), of("String"))],
    ),
    "String to enum": (
        "node A { x: String }",
        "node A { x: enum(a) }",
        [
            retype(
                of("String"),
                of("String", values=["a"]),
                data_check={"check": "enum", "table": "node:A", "column": "x", "values": ["a"]},
            )
        ],
    ),
    "required to nullable": (A, "node A { x: I32? }", [retype(of("I32"), of("I32", nullable=True))]),
    "nullable to required": (
        "node A { x: I32? }",
        A,
        [
            retype(
                of("I32", nullable=True),
                of("I32"),
                data_check={"check": "not_null", "table": "node:A", "column": "x"},
                code="OG-MF-104",
            )
        ],
    ),
    "widen and make nullable": (
        A,
        "node A { x: I64? }",
        [
            retype(of("I32"), of("I64"), touches_data=True),
            retype(of("I64"), of("I64", nullable=True)),
        ],
    ),
    "widen a list": (
        "node A { x: [F32] }",
        "node A { x: [F64] }",
        [retype(of("F32", is_list=True), of("F64", is_list=True), touches_data=True)],
    ),
    "change the type in an interface only": (
        "interface I { x: I32 }",
        "interface I { x: String }",
        [{**retype(of("I32"), of("String")), "type_kind": "interface", "type_name": "I"}],
    ),
    "change default": (
        A,
        "node A { x: I32 @default(3) }",
        [{"kind": "change_default", **NODE_A, "property_name": "x", "from": None, "to": 3, **QUIET}],
    ),
    "change the model of embed": (
        "node A { x: String v: Vector(2) @embed(x) }",
        'node A { x: String v: Vector(2) @embed(x, model="m") }',
        [
            {
                "kind": "change_embed",
                **NODE_A,
                "property_name": "v",
                "from": {"source": "x", "model": None},
                "to": {"source": "x", "model": "m"},
                "touches_data": False,
                "data_check": {"check": "no_values", "table": "node:A", "column": "v"},
            }
        ],
    ),
    "remove embed": (
        "node A { x: String v: Vector(2) @embed(x) }",
        "node A { x: String v: Vector(2) }",
        [
            {
                "kind": "change_embed",
                **NODE_A,
                "property_name": "v",
                "from": {"source": "x", "model": None},
                "to": None,
                **QUIET,
            }
        ],
    ),
    "describe property": (
        A,
        'node A { x: I32 @description("d") @unit(cm) }',
        [
            {
                "kind": "update_property_metadata",
                **NODE_A,
                "property_name": "x",
                "annotations": [{"name": "description", "value": "d"}, {"name": "unit", "value": "cm"}],
                **QUIET,
            }
        ],
    ),
    "drop property": (A, "node A {}", [drop("x", "OG-DS-104", mode="soft")]),
    "drop vector": ("node A { v: Vector(2) }", "node A {}", [drop("v", "OG-DS-105", mode="soft")]),
    "drop from an interface": (
        "interface I { x: I32 }",
        "interface I {}",
        [
            {
                "kind": "drop_property",
                "type_kind": "interface",
                "type_name": "I",
                "property_name": "x",
                "mode": "soft",
                **QUIET,
            }
        ],
    ),
}

CONSTRAINTS: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "add index": (A, "node A { x: I32 @index }", [constrain("add_constraint", {"Index": ["x"]})]),
    "add unique": (
        "node A { x: I32 y: I32 }",
        "node A { x: I32 y: I32 @unique(y, x) }",
        [
            constrain(
                "add_constraint",
                {"Unique": ["x", "y"]},
                {"check": "unique", "table": "node:A", "columns": ["x", "y"]},
            )
        ],
    ),
    "add key": (
        A,
        "node A { x: I32 @key }",
        [constrain("add_constraint", {"Key": ["x"]}, {"check": "ids_from_key", "table": "node:A", "columns": ["x"]})],
    ),
    "add range": (
        A,
        "node A { x: I32 @range(x, ..9.5) }",
        [
            constrain(
                "add_constraint",
                {"Range": {"property": "x", "min": None, "max": {"Float": 9.5}}},
                {"check": "range", "table": "node:A", "column": "x", "minimum": None, "maximum": 9.5},
            )
        ],
    ),
    "add check": (
        "node A { x: String }",
        'node A { x: String @check(x, "a+") }',
        [
            constrain(
                "add_constraint",
                {"Check": {"property": "x", "pattern": "a+"}},
                {"check": "pattern", "table": "node:A", "column": "x", "pattern": "a+"},
            )
        ],
    ),
    "loosen range": (
        "node A { x: I32 @range(x, 0..9) }",
        "node A { x: I32 @range(x, 0..10) }",
        [
            constrain("remove_constraint", {"Range": {"property": "x", "min": {"Integer": 0}, "max": {"Integer": 9}}}),
            constrain("add_constraint", {"Range": {"property": "x", "min": {"Integer": 0}, "max": {"Integer": 10}}}),
        ],
    ),
    "unique that the key implies": (
        "node A { x: I32 @key y: I32 }",
        "node A { x: I32 @key y: I32 @unique(x, y) }",
        [constrain("add_constraint", {"Unique": ["x", "y"]})],
    ),
    "unique over a new column of nulls": (
        A,
        "node A { x: I32 y: I32? @unique }",
        [
            {
                "kind": "add_property",
                **NODE_A,
                "property_name": "y",
                "property_type": of("I32", nullable=True),
                "default": None,
                "touches_data": True,
                "data_check": None,
            },
            constrain("add_constraint", {"Unique": ["y"]}),
        ],
    ),
    "remove every constraint": (
        'node A { x: String @key @unique @index y: I32 @range(y, 0..) @check(x, "a") }',
        "node A { x: String y: I32 }",
        [
            constrain("remove_constraint", {"Key": ["x"]}),
            constrain("remove_constraint", {"Unique": ["x"]}),
            constrain("remove_constraint", {"Index": ["x"]}),
            constrain("remove_constraint", {"Range": {"property": "y", "min": {"Integer": 0}, "max": None}}),
            constrain("remove_constraint", {"Check": {"property": "x", "pattern": "a"}}),
        ],
    ),
    "constraints go with their property": (
        "node A { x: I32 @index }",
        "node A {}",
        [drop("x", "OG-DS-104", mode="soft"), constrain("remove_constraint", {"Index": ["x"]})],
    ),
}
CASES = {**TYPES, **PROPERTIES, **CONSTRAINTS}


@pytest.mark.parametrize(("before", "after", "expected"), CASES.values(), ids=CASES.keys())
def test_steps(before: str, after: str, expected: list[dict[str, Any]]) -> None:
    previous = compile_schema(before)
    plan = plan_migration(previous, after)
    assert [step.to_json() for step in plan.steps] == expected
    assert plan.to_json() == {"supported": True, "steps": expected}
    assert plan.touches_data == any(step["touches_data"] for step in expected)
    assert [c.to_json() for c in plan.data_checks] == [s["data_check"] for s in expected if s["data_check"]]
    assert plan_migration(plan.catalog, after).steps == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [("I32", "I64"), ("I32", "F64"), ("U32", "U64"), ("U32", "I64"), ("U32", "F64"), ("F32", "F64")],
)
def test_widening(before: str, after: str) -> None:
    plan = plan_migration(compile_schema(f"node A {{ x: {before} }}"), f"node A {{ x: {after} }}")
    assert [s.to_json() for s in plan.steps] == [retype(of(before), of(after), touches_data=True)]


def test_every_kind_of_step_is_tested() -> None:
    kinds = {step["kind"] for _, _, steps in CASES.values() for step in steps}
    classes = {c for base in (TypeStep, PropertyStep) for c in base.__subclasses__()}
    assert {c.kind for c in classes if hasattr(c, "kind")} == kinds
    assert type_steps.AddType in classes
    assert all(issubclass(c, Step) and c.__doc__ for c in classes)
