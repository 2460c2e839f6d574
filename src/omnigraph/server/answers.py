"""Answers: documents as JSON, errors as `ErrorOutput`. The one door through which errors leave."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import orjson
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from omnigraph.client.faults import answer_of, public_document
from omnigraph.model.errors import Cancelled, OmniGraphError, Overloaded
from omnigraph.server.bodies import BodyTooSlow, UnsupportedMedia
from omnigraph.server.observe import record_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI
    from starlette.requests import Request

log = logging.getLogger("omnigraph.server")
_CODES = {404: "not_found", 405: "method_not_allowed"}


def document(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer."""
    return Response(orjson.dumps(content, default=str), status, headers, media_type="application/json")


def install(app: FastAPI) -> None:
    """Every error of every route comes through here."""
    app.add_exception_handler(OmniGraphError, _known)
    app.add_exception_handler(HTTPException, _by_framework)
    app.add_exception_handler(RequestValidationError, _bad_parameters)
    app.add_exception_handler(Exception, _unknown)


async def _known(request: Request, error: Exception) -> Response:
    status, _ = answer_of(error)
    if isinstance(error, UnsupportedMedia):
        status = 415
    elif isinstance(error, BodyTooSlow):
        status = 408
    record_of(request.scope).error = type(error).__name__
    if status >= 500 and not isinstance(error, Cancelled):
        _note(request, error)
    headers: dict[str, str] = {}
    if isinstance(error, Overloaded):
        headers["Retry-After"] = str(error.retry_after_s)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status in (408, 413):
        headers["Connection"] = "close"  # the rest of the body is not read
    return document(public_document(error), status, headers)


async def _by_framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    record_of(request.scope).error = f"Http{error.status_code}"
    content: dict[str, Any] = {"error": str(error.detail).lower()}
    if error.status_code in _CODES:
        content["code"] = _CODES[error.status_code]
    return document(content, error.status_code, error.headers)


async def _bad_parameters(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    record_of(request.scope).error = "BadRequest"
    lines = [f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()[:5]]
    return document({"error": "; ".join(lines), "code": "bad_request"}, 400)


async def _unknown(request: Request, error: Exception) -> Response:
    record_of(request.scope).error = type(error).__name__
    _note(request, error)
    return document(public_document(error), 500)


def _note(request: Request, error: Exception) -> None:
    facts = {"request_id": record_of(request.scope).request_id, "error": str(error)}
    log.error("request failed", extra={"facts": facts}, exc_info=error)
