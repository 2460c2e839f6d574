"""The protocol: lists tools and resources an actor may use, and calls them off the event loop."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import orjson
from mcp.server.lowlevel import Server
from pydantic import ValidationError

from mcp import types
from omnigraph import __version__
from omnigraph.client.faults import public_document
from omnigraph.mcp.tools import TOOLS, Tool, run_stored
from omnigraph.model.errors import BadRequest, NotFound, OmniGraphError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.context import ServerRequestContext

    from omnigraph.mcp.desk import Desk

SCHEMA_URI = "omnigraph://schema"
QUERIES_URI = "omnigraph://queries"
INSTRUCTIONS = """A versioned property graph. Read get_schema first; ask with query, in the .gq language:
query names($since: I64) {
    match { $p: Person $p knows $q $q.year > $since }
    return { $p.name, count($q) as friends }
    limit 10
}
Change data with mutate or load. To try something out, branch_create, work on that branch, then branch_merge."""
_JSON_TYPES = {
    "string": "string",
    "bool": "boolean",
    "int": "integer",
    "bigint": "integer",
    "float": "number",
    "date": "string",
    "datetime": "string",
    "blob": "string",
    "vector": "array",
    "list": "array",
}


def make_server(desk_of: Callable[[ServerRequestContext[Any, Any]], Desk]) -> Server[Any]:
    """A server whose sessions work at the desk that `desk_of` gives them."""

    async def list_tools(
        ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        del params
        desk = desk_of(ctx)
        entries = await anyio.to_thread.run_sync(desk.catalogue)
        own = [_described(tool) for tool in TOOLS if desk.gate.may_ever(tool.needs)]
        return types.ListToolsResult(tools=[*own, *(_stored_tool(entry) for entry in entries)])

    async def call_tool(
        ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return await anyio.to_thread.run_sync(_called, desk_of(ctx), params.name, params.arguments or {})

    async def list_resources(
        ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        del ctx, params
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=SCHEMA_URI, name="schema", description="The schema (.pg).", mime_type="text/plain"),
                types.Resource(
                    uri=QUERIES_URI, name="queries", description="The stored queries.", mime_type="application/json"
                ),
            ]
        )

    async def read_resource(
        ctx: ServerRequestContext[Any, Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        text, media = await anyio.to_thread.run_sync(_resource, desk_of(ctx), str(params.uri))
        contents = types.TextResourceContents(uri=params.uri, text=text, mime_type=media)
        return types.ReadResourceResult(contents=[contents])

    return Server(
        "omnigraph",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def _resource(desk: Desk, uri: str) -> tuple[str, str]:
    if uri == SCHEMA_URI:
        return _or_denied(partial(desk.schema, None)), "text/plain"
    if uri == QUERIES_URI:
        return orjson.dumps(desk.catalogue()).decode(), "application/json"
    return "there is no such resource", "text/plain"


def _or_denied(read: Callable[[], str]) -> str:
    try:
        return read()
    except OmniGraphError as error:
        return str(public_document(error)["error"])


# -- tools -----------------------------------------------------------------------------------------------


def _described(tool: Tool) -> types.Tool:
    schema = tool.takes.model_json_schema(by_alias=True)
    schema.pop("description", None)
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.reads_only,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.repeats,
            open_world_hint=False,
        ),
    )


def _stored_tool(entry: dict[str, Any]) -> types.Tool:
    properties = {one["name"]: _param_schema(one) for one in entry["params"]}
    properties["@branch"] = {"type": "string", "description": "Branch to work on; main otherwise."}
    required = [one["name"] for one in entry["params"] if not one["nullable"]]
    texts = [str(entry[key]) for key in ("description", "instruction") if entry.get(key)]
    return types.Tool(
        name=tool_name(entry),
        description="\n".join(texts) or f"The stored query {entry['name']}.",
        input_schema={"type": "object", "properties": properties, "required": required, "additionalProperties": False},
        annotations=types.ToolAnnotations(
            read_only_hint=not entry["mutation"],
            destructive_hint=bool(entry["mutation"]),
            idempotent_hint=not entry["mutation"],
            open_world_hint=False,
        ),
    )


def tool_name(entry: dict[str, Any]) -> str:
    """The name of a stored query as a tool; one that is taken by a tool of our own is told apart."""
    name = str(entry["tool_name"])
    return f"stored_{name}" if any(tool.name == name for tool in TOOLS) else name


def _param_schema(param: dict[str, Any]) -> dict[str, Any]:
    kind = _JSON_TYPES.get(param["kind"], "string")
    schema: dict[str, Any] = {"type": [kind, "null"] if param["nullable"] else kind}
    if param["kind"] == "list":
        schema["items"] = {"type": _JSON_TYPES.get(param.get("item_kind", "string"), "string")}
    if param["kind"] == "vector":
        schema["items"] = {"type": "number"}
    return schema


def _called(desk: Desk, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    """Call a tool; what goes wrong is an answer the model can act on."""
    try:
        document = _run(desk, name, arguments)
    except Exception as error:  # noqa: BLE001 - the door: nothing inside gets out
        return _answer(public_document(error), is_error=True)
    return _answer(document, is_error=False)


def _run(desk: Desk, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    tool = next((tool for tool in TOOLS if tool.name == name and desk.gate.may_ever(tool.needs)), None)
    if tool is None:
        entry = next((entry for entry in desk.catalogue() if tool_name(entry) == name), None)
        if entry is None:
            raise NotFound(f"there is no tool {name!r}")
        return run_stored(desk, str(entry["name"]), arguments)
    try:
        given = tool.takes.model_validate(arguments)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False)[:5]]
        raise BadRequest("; ".join(lines)) from None
    return tool.run(desk, given)


def _answer(document: dict[str, Any], *, is_error: bool) -> types.CallToolResult:
    text = orjson.dumps(document, default=str).decode()
    content = types.TextContent(type="text", text=text)
    return types.CallToolResult(content=[content], structured_content=orjson.loads(text), is_error=is_error)
