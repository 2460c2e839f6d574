"""The model's history: branches, the commits of each, and what cleanup leaves of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.stateful.model import State, copied


@dataclass
class Line:
    """The commits that one branch made itself, oldest first; a branch made again is another one."""

    commits: list[str] = field(default_factory=list)
    live: bool = True


@dataclass
class Branch:
    state: State
    line: Line
    lineage: list[str]
    """All commits, oldest first, those before the fork included."""
    fork: str | None = None


@dataclass
class History:
    branches: dict[str, Branch] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    snapshots: dict[str, State] = field(default_factory=dict)
    """Every commit that can be read, as it has to be."""
    reclaimed: set[str] = field(default_factory=set)

    def start(self, commit: str, state: State) -> None:
        line = Line([commit])
        self.lines.append(line)
        self.branches["main"] = Branch(state, line, [commit])
        self.snapshots[commit] = copied(state)

    def commit(self, name: str, commit: str, state: State) -> None:
        branch = self.branches[name]
        branch.state = state
        branch.line.commits.append(commit)
        branch.lineage.append(commit)
        self.snapshots[commit] = copied(state)

    def fork(self, name: str, source: str) -> None:
        """From a branch, or from a commit."""
        if source in self.branches:
            state, lineage = self.branches[source].state, self.branches[source].lineage
        else:
            state = self.snapshots[source]
            lineage = next(b.lineage for b in self.branches.values() if source in b.lineage)
            lineage = lineage[: lineage.index(source) + 1]
        line = Line()
        self.lines.append(line)
        self.branches[name] = Branch(copied(state), line, list(lineage), lineage[-1])

    def delete(self, name: str) -> set[str]:
        """Gives the commits that no live branch has any longer."""
        self.branches.pop(name).line.live = False
        lost = {commit for commit in self.snapshots if commit not in self.reachable()}
        for commit in lost:
            del self.snapshots[commit]
        self.reclaimed &= self.reachable()
        return lost

    def reachable(self) -> set[str]:
        return {commit for branch in self.branches.values() for commit in branch.lineage}

    def clean(self, keep: int) -> None:
        """Each branch keeps its last own commits; heads and fork points stay in any case."""
        stay = {commit for line in self.lines if line.live for commit in line.commits[-keep:]}
        stay |= {branch.lineage[-1] for branch in self.branches.values()}
        stay |= {branch.fork for branch in self.branches.values() if branch.fork is not None}
        for commit in self.snapshots.keys() - stay:
            del self.snapshots[commit]
            self.reclaimed.add(commit)
