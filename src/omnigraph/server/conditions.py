"""A write that insists on the commit its branch is at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omnigraph.client.calls import CONDITION
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from starlette.requests import Request

_COMMIT_ID = re.compile(r"[0-9A-Za-z]{1,64}")


def condition_of(request: Request) -> str:
    """The commit a conditional write insists on: exactly one raw id."""
    given = request.headers.getlist(CONDITION)
    if len(given) != 1:
        raise BadRequest(f"this route takes the header {CONDITION} once, with a commit id")
    if _COMMIT_ID.fullmatch(given[0]) is None:
        raise BadRequest(f"{CONDITION} is one commit id as it is: no quotes, no list, no *")
    return given[0]


def refuse_condition(request: Request) -> None:
    """A condition that would not be looked at is a mistake."""
    if CONDITION in request.headers:
        raise BadRequest(f"{CONDITION} belongs to the route with /if-graph-commit")
