"""A bundle with every kind of rule, and the plain reading of rules that Cedar is compared with."""

from omnigraph.policy import Action, Ask, Bundle

BUNDLE = """
version: 1
kind: graph
groups:
  team: [ada, ben]
  leads: [ada]
  agents: [bot]
  mergers: [mel]
protected_branches: [main, release]
rules:
  - id: team-read
    allow: {actors: {group: team}, actions: [read, export], branch_scope: any}
  - id: team-change
    allow: {actors: {group: team}, actions: [change], branch_scope: unprotected}
  - id: leads-change
    allow: {actors: {group: leads}, actions: [change], branch_scope: protected}
  - id: team-branches
    allow: {actors: {group: team}, actions: [branch_create, branch_delete], target_branch_scope: unprotected}
  - id: leads-everywhere
    allow: {actors: {group: leads}, actions: [branch_merge, schema_apply], target_branch_scope: any}
  - id: mergers-merge
    allow: {actors: {group: mergers}, actions: [branch_merge], target_branch_scope: any}
  - id: invoke
    allow: {actors: {group: team}, actions: [invoke_query]}
  - id: bot-people
    allow: {actors: {group: agents}, actions: [read], types: [Person, "edge:Knows"]}
  - id: bot-query
    allow: {actors: {group: agents}, actions: [invoke_query, read], queries: [salaries]}
"""


def plain_reading(bundle: Bundle, ask: Ask) -> bool:
    """What the rules say, read by hand."""
    return all(_some_rule(bundle, ask, name) for name in ask.types or (None,))


def _some_rule(bundle: Bundle, ask: Ask, type_name: str | None) -> bool:
    def fits(rule) -> bool:
        branches = ((rule.branch_scope, ask.branch), (rule.target_branch_scope, ask.target_branch))
        for scope, branch in branches:
            is_protected = branch in bundle.protected_branches
            if scope in ("protected", "unprotected") and (branch is None or is_protected != (scope == "protected")):
                return False
        if rule.types and (type_name is None or not {type_name, type_name.partition(":")[2]} & set(rule.types)):
            return False
        return not rule.queries or ask.query in rule.queries

    return any(
        ask.actor in bundle.groups[rule.group] and ask.action in rule.actions and fits(rule) for rule in bundle.rules
    )


ACTORS = ("ada", "ben", "bot", "mel", "nobody")
ACTIONS = tuple(action for action in Action if action is not Action.GRAPH_LIST)
