"""What a session of an agent works on: a graph in its actor's hands, what it may do there, and its stored queries."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from omnigraph.graph.stored import StoredQueries
from omnigraph.graph.visible import permit_text, require_something, sees_all, visible_schema
from omnigraph.model.errors import NotFound
from omnigraph.model.names import MAIN
from omnigraph.policy import OPEN, Action, Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnigraph.client.graph import RemoteGraph
    from omnigraph.execute.result import Result
    from omnigraph.graph import Graph
    from omnigraph.write.load import LoadResult
    from omnigraph.write.mutate import MutationResult

QUERY_TIMEOUT_S = 60.0


class Desk(Protocol):
    """What tools call."""

    @property
    def graph(self) -> Graph | RemoteGraph:
        """The graph."""
        ...

    @property
    def gate(self) -> Gate:
        """What the actor may do."""
        ...

    def schema(self, branch: str | None) -> str:
        """The schema, as far as the actor sees it."""
        ...

    def query(
        self, text: str, name: str | None, params: Mapping[str, Any] | None, branch: str | None, snapshot: str | None
    ) -> Result:
        """Run a query that reads."""
        ...

    def mutate(
        self, text: str, name: str | None, params: Mapping[str, Any] | None, branch: str, if_commit: str | None
    ) -> MutationResult:
        """Run a query that writes."""
        ...

    def load(self, records: list[dict[str, Any]], mode: str, branch: str, base: str | None) -> LoadResult:
        """Load records."""
        ...

    def catalogue(self) -> list[dict[str, Any]]:
        """The stored queries the actor may run."""
        ...

    def invoke(self, name: str, params: Mapping[str, Any], branch: str | None) -> Result | MutationResult:
        """Run a stored query."""
        ...


@dataclass(frozen=True)
class LocalDesk:
    """A graph in this process."""

    graph: Graph
    gate: Gate = OPEN
    stored: StoredQueries = field(default_factory=StoredQueries)
    admitted: Callable[[], AbstractContextManager[None]] = nullcontext

    def schema(self, branch: str | None) -> str:
        """The schema, as far as the actor sees it."""
        return visible_schema(self.gate, self.graph, branch)

    def query(
        self, text: str, name: str | None, params: Mapping[str, Any] | None, branch: str | None, snapshot: str | None
    ) -> Result:
        """Run a query that reads."""
        return self._read(self.gate, text, name, params, branch, snapshot)

    def _read(
        self,
        gate: Gate,
        text: str,
        name: str | None,
        params: Mapping[str, Any] | None,
        branch: str | None,
        snapshot: str | None,
    ) -> Result:
        scope = None if snapshot is not None else branch or MAIN
        permit_text(gate, self.graph, Action.READ, text, name, scope, snapshot)
        target = branch if snapshot is not None else scope
        return self.graph.query(text + "\n", name, params, branch=target, snapshot=snapshot, timeout_s=QUERY_TIMEOUT_S)

    def mutate(
        self, text: str, name: str | None, params: Mapping[str, Any] | None, branch: str, if_commit: str | None
    ) -> MutationResult:
        """Run a query that writes."""
        return self._write(self.gate, text, name, params, branch, if_commit)

    def _write(
        self,
        gate: Gate,
        text: str,
        name: str | None,
        params: Mapping[str, Any] | None,
        branch: str,
        if_commit: str | None,
    ) -> MutationResult:
        graph = self.graph.with_gate(gate)
        permit_text(gate, graph, Action.CHANGE, text, name, branch)
        with self.admitted():
            return graph.mutate(text + "\n", name, params, branch=branch, if_commit=if_commit)

    def load(self, records: list[dict[str, Any]], mode: str, branch: str, base: str | None) -> LoadResult:
        """Load records."""
        if not sees_all(self.gate, Action.CHANGE, branch):
            require_something(self.gate, Action.CHANGE, branch)
        with self.admitted():
            return self.graph.load(records, mode=mode, branch=branch, base=base, engine="local")

    def catalogue(self) -> list[dict[str, Any]]:
        """The stored queries the actor may run."""
        return [entry for entry in self.stored.entries() if self._may_invoke(str(entry["name"]))]

    def _may_invoke(self, name: str) -> bool:
        return sees_all(self.gate.within(name), Action.INVOKE_QUERY, None)

    def invoke(self, name: str, params: Mapping[str, Any], branch: str | None) -> Result | MutationResult:
        """Run a stored query; whether it is there is not for those who may not run it."""
        found = self.stored.by_name.get(name)
        if found is None or not self._may_invoke(name):
            raise NotFound("stored query not found")
        gate = self.gate.within(name)
        if found.is_mutation:
            return self._write(gate, found.text, name, params, branch or MAIN, None)
        return self._read(gate, found.text, name, params, branch, None)


@dataclass(frozen=True)
class RemoteDesk:
    """A graph on a server: what is allowed is decided there."""

    graph: RemoteGraph
    gate: Gate = OPEN

    def schema(self, branch: str | None) -> str:
        """The schema, as far as the actor sees it."""
        return self.graph.schema.at(branch).source

    def query(
        self, text: str, name: str | None, params: Mapping[str, Any] | None, branch: str | None, snapshot: str | None
    ) -> Result:
        """Run a query that reads."""
        return self.graph.query(text + "\n", name, params, branch=branch, snapshot=snapshot, timeout_s=QUERY_TIMEOUT_S)

    def mutate(
        self, text: str, name: str | None, params: Mapping[str, Any] | None, branch: str, if_commit: str | None
    ) -> MutationResult:
        """Run a query that writes."""
        return self.graph.mutate(text + "\n", name, params, branch=branch, if_commit=if_commit)

    def load(self, records: list[dict[str, Any]], mode: str, branch: str, base: str | None) -> LoadResult:
        """Load records."""
        return self.graph.load(records, mode=mode, branch=branch, base=base)

    def catalogue(self) -> list[dict[str, Any]]:
        """The stored queries the actor may run."""
        return self.graph.stored_queries()

    def invoke(self, name: str, params: Mapping[str, Any], branch: str | None) -> Result | MutationResult:
        """Run a stored query."""
        return self.graph.invoke(name, params, branch=branch)
