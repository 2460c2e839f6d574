"""The OpenAPI document: what the routes say of themselves, and nothing they do not do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from omnigraph import __version__
from omnigraph.client import wire
from omnigraph.client.wire import Wire

if TYPE_CHECKING:
    from fastapi import FastAPI

_FREE = ("/healthz", "/readyz", "/openapi.json")
_TEMPLATE = "#/components/schemas/{model}"


def describe_app(app: FastAPI, *, with_tokens: bool) -> dict[str, Any]:
    """Build the document."""
    spec = get_openapi(title="OmniGraph", version=__version__, routes=app.routes, description="Graphs over HTTP.")
    components = spec.setdefault("components", {}).setdefault("schemas", {})
    components.pop("HTTPValidationError", None)
    components.pop("ValidationError", None)
    for operation in (one for path in spec["paths"].values() for one in path.values()):
        if "HTTPValidationError" in str(operation["responses"].get("422", "")):
            del operation["responses"]["422"]
    components |= _models()
    if with_tokens:
        spec["components"]["securitySchemes"] = {"bearer_token": {"type": "http", "scheme": "bearer"}}
        for path, operations in spec["paths"].items():
            if path not in _FREE:
                for operation in operations.values():
                    operation["security"] = [{"bearer_token": []}]
    return spec


def _models() -> dict[str, Any]:
    models = [one for one in vars(wire).values() if isinstance(one, type) and issubclass(one, Wire) and one is not Wire]
    _, schemas = models_json_schema([(one, "validation") for one in models], ref_template=_TEMPLATE)
    return schemas["$defs"]
