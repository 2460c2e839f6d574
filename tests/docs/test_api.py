"""The page of the Python API is the code's own account of itself, and every public thing on it says what it does."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import omnigraph as og
from omnigraph.client import aio, nouns
from omnigraph.client.graph import RemoteGraph
from omnigraph.graph import blobs, changes, history, schema
from tests.docs.api_page import PAGE, page

REMOTE_ONLY = {"invoke", "stored_queries", "exported", "close"}
"""Stored queries are a server's, and connections are closed."""
ASKED = {(aio.AsyncSchema, "source")}
"""A property of an embedded graph; what waits for an answer has to be called."""


def test_the_page_says_what_the_code_says() -> None:
    assert PAGE.read_text() == page(), "run: python -m tests.docs.api_page"


def test_the_names_of_the_package_are_those_we_promise() -> None:
    names = ["Canceller", "Graph", "OmniGraphError", "__version__", "connect", "connect_async", "init", "open"]
    assert og.__all__ == names
    assert all(getattr(og, name) for name in names)


def _methods(kind: type) -> dict[str, inspect.Signature]:
    found = inspect.getmembers(kind, inspect.isfunction)
    return {name: inspect.signature(each) for name, each in found if not name.startswith("_")}


@pytest.mark.parametrize(
    ("remote", "embedded"),
    [
        (RemoteGraph, og.Graph),
        (nouns.Branches, history.Branches),
        (nouns.Commits, history.Commits),
        (nouns.Changes, changes.Changes),
        (nouns.Schema, schema.Schema),
        (nouns.Blobs, blobs.Blobs),
        (aio.AsyncRemoteGraph, og.Graph),
        (aio.AsyncBranches, history.Branches),
        (aio.AsyncCommits, history.Commits),
        (aio.AsyncChanges, changes.Changes),
        (aio.AsyncSchema, schema.Schema),
        (aio.AsyncBlobs, blobs.Blobs),
    ],
)
def test_what_a_remote_graph_takes_an_embedded_one_takes_too(remote: type, embedded: type) -> None:
    here, there = _methods(embedded), _methods(remote)
    assert there
    for name in there.keys() - REMOTE_ONLY:
        if (remote, name) in ASKED:
            continue
        assert name in here, f"only a remote graph has {name}"
        assert _shape(there[name]).items() <= _shape(here[name]).items(), f"{remote.__name__}.{name}"


def _shape(signature: inspect.Signature) -> dict[str, tuple[Any, Any]]:
    given = signature.parameters.items()
    return {name: (each.kind, each.default) for name, each in given if each.kind is not each.VAR_KEYWORD}
