"""Every kind of change, and what is planned for it."""

import pytest

from omnigraph.schema import compile_schema, plan_migration

A = "node A { x: I32 } "
E = "node A { x: I32 } edge E: A -> A "
CASES = {
    "nothing": (A, A, []),
    "add type": (A, A + "node B {}", ["add_type"]),
    "rename type": (E, 'node B @rename_from("A") { x: I32 } edge E: B -> B', ["rename_type"]),
    "rename left behind": ("node B {}", 'node B @rename_from("A") {}', []),
    "add nullable": (A, "node A { x: I32 y: I32? }", ["add_property"]),
    "add required": (A, "node A { x: I32 y: I32 }", ["OG-MF-103"]),
    "rename property": (
        "node A { x: I32 @key }",
        'node A { y: I32 @key @rename_from("x") }',
        ["rename_property"],
    ),
    "add index": (A, "node A { x: I32 @index }", ["add_constraint"]),
    "remove index": ("node A { x: I32 @index }", A, ["unsupported_change"]),
    "add key": (A, "node A { x: I32 @key }", ["unsupported_change"]),
    "add range": (A, "node A { x: I32 @range(x, 0..) }", ["unsupported_change"]),
    "widen enum": ("node A { x: enum(a) }", "node A { x: enum(a, b) }", ["extend_enum"]),
    "narrow enum": ("node A { x: enum(a, b) }", "node A { x: enum(a) }", ["OG-MF-106"]),
    "change type": (A, "node A { x: I64 }", ["OG-MF-106"]),
    "change nullability": (A, "node A { x: I32? }", ["OG-MF-106"]),
    "describe type": (A, 'node A @description("a") { x: I32 }', ["update_type_metadata"]),
    "describe property": (A, 'node A { x: I32 @description("a") }', ["update_property_metadata"]),
    "other annotation": (A, "node A @foo { x: I32 }", ["unsupported_change"]),
    "drop property": (A, "node A {}", ["drop_property"]),
    "drop types": (E, "", ["drop_type", "drop_type"]),
    "change ends": (E + "node B {}", A + "node B {} edge E: A -> B", ["unsupported_change"]),
    "change cardinality": (E, E + "@card(0..1)", ["unsupported_change"]),
    "implement": (
        "interface I {} node A {}",
        "interface I {} node A implements I {}",
        ["unsupported_change"],
    ),
    "remove interface": ("interface I {}", "", ["unsupported_change"]),
}


@pytest.mark.parametrize(("before", "after", "expected"), CASES.values(), ids=CASES.keys())
def test_plan(before: str, after: str, expected: list[str]) -> None:
    plan = plan_migration(compile_schema(before), after)
    assert [s.get("code", s["kind"]) for s in plan.steps] == expected
    assert plan.to_json()["supported"] == all(s["kind"] != "unsupported_change" for s in plan.steps)


def test_data_loss_makes_drops_hard() -> None:
    plan = plan_migration(compile_schema(A), "", allow_data_loss=True)
    assert plan.steps == ({"kind": "drop_type", "type_kind": "node", "name": "A", "mode": "hard"},)
