"""What only a remote graph has: addresses, retries, stored queries, the asynchronous form."""

import asyncio

import httpx
import pyarrow as pa
import pytest

import omnigraph as og
from omnigraph.client.graph import RemoteGraph, Sender
from omnigraph.client.records import PIECE_BYTES, PIECE_ROWS, lines_of
from omnigraph.client.transport import place_of
from omnigraph.model.errors import BadRequest, Conflict, Denied, NotFound, StoreUnavailable, Unavailable
from omnigraph.write.inputs import Input

INSERT = "query add($name: String) { insert Person { name: $name } }"
NAMES = "query names() { match { $p: Person } return { $p.name } order { $p.name } }"


def test_stored_queries(remote):
    assert [entry["name"] for entry in remote.stored_queries()] == ["add", "people"]
    done = remote.invoke("add", {"name": "ivy"})
    assert done.affected_nodes == 1
    assert {"p.name": "ivy"} in remote.invoke("people").rows
    with pytest.raises(NotFound):
        remote.invoke("nothing")
    with pytest.raises(BadRequest):
        remote.invoke("add", {"name": "x"}, expect_mutation=False)


def test_the_asynchronous_form(served):
    async def use():
        async with await og.connect_async(served.url, graph="g") as graph:
            done = await graph.load([{"type": "Person", "data": {"name": f"p{n}"}} for n in range(5000)])
            assert done.total_entities == 5000
            assert (await graph.load(pa.table({"name": ["arrow"]}), type="Person")).total_entities == 1
            await graph.mutate(INSERT, params={"name": "amy"})
            await graph.branches.create("async")
            names, branches, commits = await asyncio.gather(
                graph.query(NAMES), graph.branches.list(), graph.commits.list()
            )
            assert {"p.name": "amy"} in names.rows
            assert "async" in [ref.name for ref in branches]
            assert (await graph.commits.show(commits[0].id)).id == commits[0].id
            await graph.mutate('query q() { delete Person where name = "amy" }', branch="async")
            await graph.mutate('query q() { update Person set { age: 5 } where name = "amy" }')
            tried = await graph.branches.merge("async", dry_run=True)
            assert [one.kind for one in tried.conflicts] == ["delete_vs_update"]
            head = (await graph.commits.list())[0].id
            done = await graph.branches.merge("async", resolution=lambda _: "ours", if_commit=head)
            assert done.outcome == "merged"
            await graph.branches.delete("async")
            async with graph.exported(types=["Person"]) as chunks:
                lines = b"".join([chunk async for chunk in chunks]).splitlines()
            assert len(lines) > 5000
            assert "node Person" in await graph.schema.source()
            assert (await graph.invoke("people")).rows
            assert await graph.stored_queries()
            assert (await graph.snapshot()).branch == "main"
            with pytest.raises(NotFound):
                await graph.blobs.read("node", "Person", "amy", "photo")

    asyncio.run(use())


@pytest.mark.parametrize("url", ["ftp://x", "x", "http://", "http://a/graphs/a b"])
def test_bad_addresses(url):
    with pytest.raises(BadRequest):
        og.connect(url, graph=None if "graphs" in url else "g")


def test_an_address_may_name_the_graph(served):
    with og.connect(f"{served.url}/graphs/g") as graph:
        assert graph.uri == f"{served.url}/graphs/g"
    with pytest.raises(BadRequest):
        og.connect(f"{served.url}/graphs/g", graph="h")
    with pytest.raises(Denied):  # which graphs there are is not for everybody
        og.connect(served.url)
    with pytest.raises(BadRequest):
        og.connect(served.url, token="two words", graph="g")


def test_nobody_answers():
    with pytest.raises(StoreUnavailable, match="does not answer"):
        og.connect("http://127.0.0.1:9", graph="g").mutate(INSERT, params={"name": "x"})


class Flaky(httpx.BaseTransport):
    """Fails as it is told, then answers."""

    def __init__(self, *faults) -> None:
        self.faults = list(faults)
        self.seen = 0

    def handle_request(self, request):
        self.seen += 1
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, Exception):
            raise fault
        return httpx.Response(fault or 200, json={"branches": ["main"]} if fault is None else {"error": "later"})


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr("omnigraph.client.graph.pause_s", lambda _: 0)


def flaky(*faults) -> tuple[RemoteGraph, Flaky]:
    transport = Flaky(*faults)
    return RemoteGraph(
        Sender(place_of("http://x", None, "g"), httpx.Client(base_url="http://x", transport=transport))
    ), transport


def test_reads_are_sent_again():
    graph, wire = flaky(httpx.ReadError("gone"), 503)
    assert [ref.name for ref in graph.branches.list()] == ["main"]
    assert wire.seen == 3
    graph, wire = flaky(*[503] * 9)
    with pytest.raises(Unavailable):
        graph.branches.list()
    assert wire.seen == 4
    graph, wire = flaky(409)
    with pytest.raises(Conflict):
        graph.branches.list()
    assert wire.seen == 1


def test_writes_are_sent_again_only_if_they_never_left():
    for fault in (httpx.ReadError("gone"), httpx.ReadTimeout("slow"), 503):
        graph, wire = flaky(fault)
        with pytest.raises(Unavailable):
            graph.mutate(INSERT, params={"name": "x"})
        assert wire.seen == 1
    graph, wire = flaky(httpx.ConnectError("refused"), 429)
    with pytest.raises(Unavailable):
        graph.branches.delete("x")
    assert wire.seen == 2


def test_frames_are_written_a_piece_at_a_time():
    """Whoever sends them holds one batch and one piece, however many there are."""
    taken = []

    def batches():
        for number in range(5):
            taken.append(number)
            names = [f"{number}-{row}" for row in range(3 * PIECE_ROWS)]
            yield pa.record_batch({"name": names, "text": ["x" * 2000] * len(names)})

    reader = pa.RecordBatchReader.from_batches(pa.schema([("name", pa.string()), ("text", pa.string())]), batches())
    schema = "node Note { name: String @key\n text: String }"
    lines = 0
    for chunk in lines_of(Input(reader, "Note"), schema):
        assert len(chunk) < 2 * PIECE_BYTES
        lines += chunk.count(b"\n")
        assert len(taken) <= lines // (3 * PIECE_ROWS) + 2
    assert lines == 15 * PIECE_ROWS
