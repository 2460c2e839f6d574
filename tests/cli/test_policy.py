"""`omnigraph policy` as a process."""

from tests.policy.bundles import BUNDLE

CASES = """
version: 1
cases:
  - {id: team-may-read, actor: ben, action: read, branch: main, expect: allow}
  - {id: main-is-protected, actor: ben, action: change, branch: main, expect: deny}
  - {id: bot-sees-people, actor: bot, action: read, type: Person, expect: allow}
  - {id: bot-runs-salaries, actor: bot, action: invoke_query, query: salaries, expect: allow}
"""


def test_policy_commands(omnigraph):
    (omnigraph.folder / "p.yaml").write_text(BUNDLE)
    (omnigraph.folder / "good.yaml").write_text(CASES)
    (omnigraph.folder / "bad.yaml").write_text(CASES.replace("deny", "allow"))
    assert "ok: graph policy with 9 rules" in omnigraph("policy", "validate", "--policy", "p.yaml").out
    assert "4 of 4" in omnigraph("policy", "test", "--policy", "p.yaml", "--tests", "good.yaml").out
    failed = omnigraph("policy", "test", "--policy", "p.yaml", "--tests", "bad.yaml", code=1).out
    assert "FAIL main-is-protected: expected allow, got deny" in failed
    asked = ["--actor", "ben", "--action", "change", "--branch", "main"]
    said = omnigraph("policy", "explain", "--policy", "p.yaml", *asked).out
    assert "decision: deny" in said
    assert "matched_rule: -" in said
    (omnigraph.folder / "p.yaml").write_text("version: 9\n")
    assert "version: it must be 1" in omnigraph("policy", "validate", "--policy", "p.yaml", code=1).err
