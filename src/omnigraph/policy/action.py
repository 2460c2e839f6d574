"""What can be permitted, and by what a rule may narrow it."""

from __future__ import annotations

from enum import StrEnum


class PolicyKind(StrEnum):
    """What a bundle is about: the data of a graph, or the server as a whole."""

    GRAPH = "graph"
    SERVER = "server"


class Action(StrEnum):
    """What somebody wants to do."""

    READ = "read"
    EXPORT = "export"
    CHANGE = "change"
    SCHEMA_APPLY = "schema_apply"
    BRANCH_CREATE = "branch_create"
    BRANCH_DELETE = "branch_delete"
    BRANCH_MERGE = "branch_merge"
    MAINTAIN = "maintain"
    """Upkeep after which every question has the answer it had: optimize. Beyond the contract."""
    ADMIN = "admin"
    """What gives something up for ever: cleanup."""
    INVOKE_QUERY = "invoke_query"
    GRAPH_LIST = "graph_list"

    @property
    def kind(self) -> PolicyKind:
        """Which kind of bundle speaks of it."""
        return PolicyKind.SERVER if self is Action.GRAPH_LIST else PolicyKind.GRAPH


class Scope(StrEnum):
    """Which branches a rule is about."""

    ANY = "any"
    PROTECTED = "protected"
    UNPROTECTED = "unprotected"


ON_BRANCH = frozenset({Action.READ, Action.EXPORT, Action.CHANGE})
"""A rule may narrow these by `branch_scope`, and by the types that are touched."""

ON_TARGET = frozenset({Action.SCHEMA_APPLY, Action.BRANCH_CREATE, Action.BRANCH_DELETE, Action.BRANCH_MERGE})
"""A rule may narrow these by `target_branch_scope`."""

BY_QUERY = frozenset({Action.INVOKE_QUERY, Action.READ, Action.CHANGE})
"""A rule may narrow these to stored queries: read and change then hold inside of those only."""
