"""The query a command runs: its text and its parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from omnigraph.model.errors import BadRequest
from omnigraph.model.files import read_text

NameArgument = Annotated[str | None, typer.Argument(help="Query to run, if the text has several.")]
QueryOption = Annotated[Path | None, typer.Option("--query", help="Query file (.gq).")]
TextOption = Annotated[str | None, typer.Option("-e", "--query-string", help="Query text.")]
ParamsOption = Annotated[str | None, typer.Option("--params", help="Parameters as a JSON object.")]
ParamsFileOption = Annotated[Path | None, typer.Option("--params-file", help="File with the parameters.")]


def source_of(path: Path | None, text: str | None) -> str | Path:
    """The text of a query, or the file it is in."""
    if (path is None) == (text is None):
        raise BadRequest("give the query once: --query FILE or -e TEXT")
    return path if path is not None else f"{text}\n"


def read_params(text: str | None, path: Path | None) -> dict[str, Any] | None:
    """The parameters of a query."""
    if text is not None and path is not None:
        raise BadRequest("give the parameters once: --params JSON or --params-file FILE")
    if path is not None:
        text = read_text(path)
    return parse_params(text) if text is not None else None


def parse_params(text: str) -> dict[str, Any]:
    """Parameters as people write them: one JSON object."""
    try:
        params = json.loads(text)
    except ValueError as error:
        raise BadRequest(f"the parameters are no JSON: {error}") from None
    if not isinstance(params, dict):
        raise BadRequest('the parameters are a JSON object: {"name": value}')
    return params
