"""Plans as a whole: what is refused and why, order, drops, warnings."""

import pytest

from omnigraph.model.diagnostics import LanguageError
from omnigraph.schema import compile_schema, plan_migration
from omnigraph.schema.evolve.codes import CATALOGUE, FAMILIES

REFUSED = {
    "OG-MF-103 add required": (
        "node A {}",
        "node A { x: I32 }",
        "node:A.x",
        (
            "[OG-MF-103] property A.x is new and required, and stored rows have no value for it; give it @default(…) "
            "for the rows that are there, or declare it nullable: x: I32?"
        ),
    ),
    "OG-MF-103 add required vector": (
        "node A { t: String }",
        "node A { t: String v: Vector(2) @embed(t) }",
        "node:A.v",
        (
            "[OG-MF-103] property A.v is new and required, and stored rows have no value for it; declare it nullable: "
            "v: Vector(2)?"
        ),
    ),
    "OG-MF-103 add required to an edge": (
        "node A {} edge E: A -> A",
        "node A {} edge E: A -> A { w: F64 }",
        "edge:E.w",
        "[OG-MF-103]",
    ),
    "OG-MF-103 inherit required": (
        "interface I { x: I32 } node A {}",
        "interface I { x: I32 } node A implements I {}",
        "node:A.x",
        "[OG-MF-103]",
    ),
    "OG-MF-106 another type": (
        "node A { x: I32 }",
        "node A { x: String }",
        "node:A.x",
        (
            "[OG-MF-106] cannot change A.x from I32 to String: values are not converted; add a property of the new "
            "type, copy the values with a mutation, then drop the old one"
        ),
    ),
    "OG-MF-106 narrower": (
        "node A { x: I64 }",
        "node A { x: I32 }",
        "node:A.x",
        "[OG-MF-106] cannot change A.x from I64 to I32: I32 cannot hold every I64",
    ),
    "OG-MF-106 I64 to F64 loses digits": ("node A { x: I64 }", "node A { x: F64 }", "node:A.x", "[OG-MF-106]"),
    "OG-MF-106 signed to unsigned": ("node A { x: I32 }", "node A { x: U64 }", "node:A.x", "[OG-MF-106]"),
    "OG-MF-106 value to list": (
        "node A { x: I32 }",
        "node A { x: [I32] }",
        "node:A.x",
        "one value and a list of values are stored differently",
    ),
    "OG-MF-106 other dimensions": (
        "node A { x: Vector(2) }",
        "node A { x: Vector(3) }",
        "node:A.x",
        "vectors of different dimensions",
    ),
    "OG-MF-106 Blob to String": ("node A { x: Blob }", "node A { x: String }", "node:A.x", "[OG-MF-106]"),
    "OG-MF-106 widen F32 in a key": (
        "node A { x: F32 @key }",
        "node A { x: F64 @key }",
        "node:A.x",
        "it is in the key, and F64 writes the same number differently",
    ),
    "rename onto what is still declared": (
        "node A {}",
        'node A {} node B @rename_from("A") {}',
        "node:B",
        "cannot rename 'A' to 'B': 'A' is still declared",
    ),
    "rename onto what is there": (
        "node A {} node B {}",
        'node B @rename_from("A") {}',
        "node:B",
        "cannot rename 'A' to 'B': the graph has both; drop one first",
    ),
    "rename a property onto what is there": (
        "node A { x: I32 y: I32 }",
        'node A { y: I32 @rename_from("x") }',
        "node:A.y",
        "cannot rename 'x' to 'y': the graph has both; drop one first",
    ),
}


@pytest.mark.parametrize(("before", "after", "entity", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(before: str, after: str, entity: str, said: str) -> None:
    plan = plan_migration(compile_schema(before), after)
    assert not plan.supported
    (refusal,) = plan.refusals
    assert said in str(refusal)
    written = refusal.to_json()
    code = refusal.code.code if refusal.code else None
    assert written == {
        "kind": "unsupported_change",
        "entity": entity,
        "reason": refusal.reason,
        **({"code": code} if code else {}),
    }
    assert plan.to_json()["supported"] is False
    assert said.startswith(f"[{code}]") if said.startswith("[") else True


def test_a_key_that_goes_frees_its_property() -> None:
    plan = plan_migration(compile_schema("node A { x: F32 @key }"), "node A { x: F64 }")
    assert [s.kind for s in plan.steps] == ["change_property_type", "remove_constraint"]


def test_steps_are_in_the_order_of_the_contract() -> None:
    before = """
        interface I { p: I32? }
        node Gone { x: I32 }
        node Old implements I { x: I32 z: I32 }
        edge E: Old -> Old @card(0..1)
    """
    after = """
        node New @rename_from("Old") @description("d") implements J { a: I32? q: I32? @rename_from("p") x: I64 @index }
        edge F: New -> New @rename_from("E") @description("e") { w: F64? }
        interface J { q: I32? @rename_from("p") }
        node Z {}
    """
    plan = plan_migration(compile_schema(before), after.replace("interface J", 'interface J @rename_from("I")'))
    assert plan.supported
    described = [(s.kind, getattr(s, "property_name", getattr(s, "type_name", None))) for s in plan.steps]
    assert described == [
        ("rename_type", "J"),
        ("rename_property", "q"),
        ("rename_type", "New"),
        ("update_type_metadata", "New"),
        ("add_property", "a"),
        ("rename_property", "q"),
        ("change_property_type", "x"),
        ("drop_property", "z"),
        ("add_constraint", "New"),
        ("add_type", "Z"),
        ("rename_type", "F"),
        ("change_cardinality", "F"),
        ("update_type_metadata", "F"),
        ("add_property", "w"),
        ("drop_type", "Gone"),
    ]


def test_data_loss_makes_every_drop_hard() -> None:
    before = compile_schema("interface I {} node A { x: I32 } node B {}")
    plan = plan_migration(before, "node A {}", allow_data_loss=True)
    assert [(s.kind, s.to_json()["mode"], s.touches_data) for s in plan.steps] == [
        ("drop_property", "hard", True),
        ("drop_type", "hard", False),
        ("drop_type", "hard", True),
    ]


def test_dropped_and_added_again_is_new() -> None:
    first = compile_schema("node A { x: I32 }")
    second = plan_migration(first, "node A {}").catalog
    third = plan_migration(second, "node A { x: I32? }").catalog
    assert third.node_types["A"].properties_by_name["x"].id >= first.next_id


def test_a_rename_from_nothing_is_warned_about() -> None:
    plan = plan_migration(compile_schema("node Person { x: I32 }"), 'node Human @rename_from("Persn") { x: I32 }')
    assert plan.supported
    assert plan.to_json()["warnings"] == [
        "node:Human is added: nothing is called 'Persn', which it says it is renamed from; did you mean 'Person'?"
    ]


def test_a_wrong_text_is_an_error_not_a_plan() -> None:
    with pytest.raises(LanguageError, match="catalog error"):
        plan_migration(compile_schema(""), "node A {} node A {}", "my.pg")


def test_unchanged_text_changes_nothing() -> None:
    text = "node B { x: I32 } node A { y: String @key } edge E: A -> B"
    catalog = compile_schema(text)
    plan = plan_migration(catalog, text)
    assert not plan.changes
    assert plan.catalog == catalog
    assert plan.to_json() == {"supported": True, "steps": []}


@pytest.mark.parametrize(
    ("code", "tier", "is_reserved"),
    [
        ("OG-DS-101", "destructive", True),
        ("OG-DS-102", "destructive", False),
        ("OG-DS-103", "destructive", False),
        ("OG-DS-104", "destructive", False),
        ("OG-DS-105", "destructive", False),
        ("OG-MF-103", "validated", False),
        ("OG-MF-104", "validated", False),
        ("OG-MF-106", "destructive", False),
    ],
)
def test_catalogue_of_codes(code: str, tier: str, is_reserved: bool) -> None:
    (entry,) = [c for c in CATALOGUE if c.code == code]
    assert (entry.tier, entry.is_reserved) == (tier, is_reserved)
    assert code.split("-")[1] in FAMILIES
