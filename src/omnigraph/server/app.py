"""The application: routes, errors, and the layers around them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.responses import Response

from omnigraph import __version__
from omnigraph.server import answers
from omnigraph.server.agents import Agents, session_manager
from omnigraph.server.observe import Observe, record_of
from omnigraph.server.openapi import describe_app
from omnigraph.server.routes import (
    blobs,
    branches,
    changes,
    exports,
    health,
    jobs,
    loads,
    merges,
    mutations,
    queries,
    schema,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.requests import Request

    from omnigraph.server.graphs import Server

OF_A_GRAPH = (schema, queries, mutations, loads, branches, merges, changes, exports, blobs, jobs)
RELOAD_EVERY_S = 1.0


def create_app(server: Server) -> Observe:
    """Put a server's routes together."""
    app = FastAPI(
        title="OmniGraph",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.state.server = server
    app.state.agents = session_manager(server.limits.json_bytes_max)
    app.router.routes.extend(Agents(app.state.agents).routes())
    answers.install(app)
    app.include_router(health.router)
    for module in OF_A_GRAPH:
        app.include_router(module.router, prefix="/graphs/{graph_id}")

    @cache
    def described() -> dict[str, Any]:
        return describe_app(app, with_tokens=bool(server.tokens))

    async def openapi(request: Request) -> Response:
        record_of(request.scope).operation = "openapi"
        return answers.document(described())

    app.add_route("/openapi.json", openapi, methods=["GET"], include_in_schema=False)
    return Observe(app, server.metrics, server.limits.requests_max)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    server: Server = app.state.server
    reloading = asyncio.create_task(_reload(server))
    try:
        async with app.state.agents.run():
            yield
    finally:
        reloading.cancel()
        await asyncio.to_thread(server.close)


async def _reload(server: Server) -> None:
    """Look for changed stored queries now and then."""
    graphs = [one for one in server.graphs.values() if one.settings.queries]
    while graphs:
        await asyncio.sleep(RELOAD_EVERY_S)
        for one in graphs:
            await asyncio.to_thread(one.reload)
