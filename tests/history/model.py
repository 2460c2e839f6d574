"""What branching and merging mean, in a few lines of Python: commits are whole graphs in a DAG."""

from __future__ import annotations

from dataclasses import dataclass, field

Entity = tuple[str, str]
"""A table and an id."""
State = dict[Entity, dict[str, object]]


@dataclass(frozen=True)
class Node:
    """A commit."""

    number: int
    state: State
    parents: tuple[int, ...]


@dataclass
class Model:
    """Commits and branches."""

    nodes: list[Node] = field(default_factory=list[Node])
    heads: dict[str, int] = field(default_factory=dict[str, int])

    def commit(self, branch: str, state: State, *parents: int) -> None:
        self.nodes.append(Node(len(self.nodes), state, parents))
        self.heads[branch] = len(self.nodes) - 1

    def state(self, branch: str) -> State:
        return self.nodes[self.heads[branch]].state

    def ancestors(self, number: int) -> set[int]:
        found: set[int] = set()
        waiting = [number]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += self.nodes[one].parents
        return found

    def bases(self, one: int, other: int) -> list[int]:
        common = self.ancestors(one) & self.ancestors(other)
        return sorted(c for c in common if not any(c != d and c in self.ancestors(d) for d in common))

    def merge(self, source: str, target: str) -> tuple[str, set[Entity], State]:
        """Outcome, what is in conflict, and the content afterwards if nothing is."""
        theirs, ours = self.heads[source], self.heads[target]
        bases = self.bases(ours, theirs)
        if bases == [theirs]:
            return "already_up_to_date", set(), self.state(target)
        if bases == [ours]:
            same = self.state(source) == self.state(target)
            return "already_up_to_date" if same else "fast_forward", set(), self.state(source)
        (base,) = bases
        conflicts, state = three_way(self.nodes[base].state, self.state(target), self.state(source))
        return "merged", conflicts, state


def three_way(base: State, ours: State, theirs: State) -> tuple[set[Entity], State]:
    conflicts: set[Entity] = set()
    merged: State = {}
    for entity in base.keys() | ours.keys() | theirs.keys():
        versions = base.get(entity), ours.get(entity), theirs.get(entity)
        old, mine, other = versions
        if mine == other or other == old:
            found = mine
        elif mine == old:
            found = other
        elif mine is None or other is None:
            conflicts.add(entity)
            found = mine
        else:
            before = old or {}
            found = {}
            for name in mine:
                was, we, they = before.get(name), mine[name], other[name]
                if we != they and was not in (we, they):
                    conflicts.add(entity)
                found[name] = they if we == was else we
        if found is not None:
            merged[entity] = found
    for (table, entity_id), row in merged.items():
        if table == "edge:Knows" and any(("node:Person", row[end]) not in merged for end in ("src", "dst")):
            conflicts.add((table, entity_id))
    return conflicts, merged
