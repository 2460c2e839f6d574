"""How the steps of a migration read."""

from omnigraph.cli.steps import step_text
from omnigraph.schema import compile_schema, plan_migration

BEFORE = """
node Person { name: String @key
    age: I32?
    mail: String? @unique
    photo: Blob?
    @range(age, 0..150) }
edge Knows: Person -> Person
"""
AFTER = """
node Human @rename_from("Person") { name: String @key
    age: I64?
    mail: String
    size: I32 @default(3)
    kind: enum(a, b)?
    @range(age, ..100) }
edge Knows: Human -> Human @card(0..5)
"""


def test_each_step_is_a_line_a_person_can_read() -> None:
    plan = plan_migration(compile_schema(BEFORE, "a.pg"), AFTER, "b.pg", True)
    assert [step_text(step.to_json()) for step in plan.steps] == [
        "rename type of node Person: now Human",
        "change property type of node Human.age: I32? → I64? (writes data)",
        "add property of node Human.kind: property type enum(a, b)? (writes data)",
        "change property type of node Human.mail: String? → String (checks stored rows: not null; OG-MF-104)",
        "add property of node Human.size: property type I32, default 3 (writes data)",
        "drop property of node Human.photo: mode hard (writes data; OG-DS-104)",
        "remove constraint of node Human: @unique(mail)",
        "remove constraint of node Human: @range(age, 0..150)",
        "add constraint of node Human: @range(age, ..100) (checks stored rows: range)",
        "change cardinality of edge Knows: 0.. → 0..5 (checks stored rows: cardinality)",
    ]
