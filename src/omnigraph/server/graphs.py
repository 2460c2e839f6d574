"""The graphs of a server: opened once, shared by all requests, handed to each actor through a gate."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnigraph.graph import open_graph
from omnigraph.graph.stored import StoredQueries, read_stored, stamp_of
from omnigraph.model.errors import BadRequest, Denied, OmniGraphError
from omnigraph.policy import OPEN, Action, Gate, Policy, PolicyGate, ReadOnlyGate
from omnigraph.server.admission import Admission
from omnigraph.server.jobs import Jobs
from omnigraph.server.observe import Metrics
from omnigraph.server.settings import AuthMode, Limits, Settings
from omnigraph.server.work import Work

if TYPE_CHECKING:
    from omnigraph.graph import Graph
    from omnigraph.graph.stored import Stamp
    from omnigraph.server.settings import GraphSettings
    from omnigraph.server.tokens import Tokens

log = logging.getLogger("omnigraph.server")
OPEN_AT_ONCE = 4


@dataclass
class ServedGraph:
    """One graph, its policy and its stored queries."""

    settings: GraphSettings
    graph: Graph
    policy: Policy | None
    queries: StoredQueries
    stamp: Stamp = ()

    @property
    def id(self) -> str:
        """The id in paths."""
        return self.settings.id

    def gate_for(self, actor: str | None, mode: AuthMode) -> Gate:
        """What an actor may do here."""
        if mode is AuthMode.OPEN or actor is None:
            return OPEN
        return PolicyGate(self.policy, actor) if self.policy is not None else ReadOnlyGate()

    def reload(self) -> None:
        """Read stored queries again if they changed; keep the old ones if the new ones are wrong."""
        stamp = stamp_of(self.settings.queries)
        if stamp == self.stamp:
            return
        self.stamp = stamp
        try:
            self.queries = read_stored(self.settings.queries, self.graph.schema.catalog)
        except OmniGraphError as error:
            log.warning("stored queries kept as they were", extra={"facts": {"graph": self.id, "error": error.message}})
        else:
            log.info("stored queries read", extra={"facts": {"graph": self.id, "queries": len(self.queries.by_name)}})


@dataclass
class Server:
    """Everything requests share."""

    graphs: dict[str, ServedGraph]
    mode: AuthMode
    tokens: Tokens
    limits: Limits
    policy: Policy | None
    work: Work
    admission: Admission
    exports: asyncio.Semaphore
    metrics: Metrics = field(default_factory=Metrics)
    jobs: Jobs = field(default_factory=Jobs)
    is_stopping: bool = False

    def permit_listing(self, actor: str | None) -> None:
        """Listing graphs takes a policy about the server that allows it, even where everything else is open."""
        if self.policy is None or actor is None:
            raise Denied("listing graphs takes a server policy that allows graph_list", action="graph_list")
        PolicyGate(self.policy, actor).require(Action.GRAPH_LIST)

    def close(self) -> None:
        """Finish what has begun."""
        self.is_stopping = True
        self.jobs.close()
        self.work.close()


def open_server(settings: Settings) -> Server:
    """Open all graphs. One that cannot be opened is left out, unless all are required; none at all is an error."""
    mode = settings.mode
    if not settings.graphs:
        raise BadRequest("there is nothing to serve: give --graph ID=URI, or --config FILE")
    ids = [graph.id for graph in settings.graphs]
    if len(set(ids)) < len(ids):
        raise BadRequest(f"two graphs have the same id: {', '.join(sorted(ids))}")
    with ThreadPoolExecutor(OPEN_AT_ONCE) as pool:
        served = [one for one in pool.map(lambda one: _open(one, settings), settings.graphs) if one is not None]
    if not served:
        raise BadRequest("none of the graphs can be opened")
    policy = Policy(settings.server_policy, "root") if settings.server_policy is not None else None
    limits = settings.limits
    graphs = {one.id: one for one in sorted(served, key=lambda one: one.id)}
    work, admission = Work(limits.threads), Admission(limits)
    return Server(graphs, mode, settings.tokens, limits, policy, work, admission, asyncio.Semaphore(limits.exports_max))


def _open(given: GraphSettings, settings: Settings) -> ServedGraph | None:
    try:
        graph = open_graph(given.uri, storage_options=settings.storage_options, external_blobs=given.external_blobs)
        stamp = stamp_of(given.queries)
        queries = read_stored(given.queries, graph.schema.catalog)
        policy = Policy(given.policy, given.id) if given.policy is not None else None
    except OmniGraphError as error:
        if settings.require_all_graphs or len(settings.graphs) == 1:
            raise
        log.warning("graph left out", extra={"facts": {"graph": given.id, "error": error.message}})
        return None
    return ServedGraph(given, graph, policy, queries, stamp)
