"""Loads as jobs: started, watched, called off."""

from tests.support.eventually import eventually

NDJSON = {"content-type": "application/x-ndjson"}


def start(client, lines, expect=200, **params):
    return client("POST", "/jobs/load", expect, content=lines.encode(), params=params, headers=NDJSON).json()


def over(client, job):
    eventually(lambda: client.get(f"/jobs/{job['job_id']}")["status"] not in ("queued", "running"), "the end of a job")
    return client.get(f"/jobs/{job['job_id']}")


def test_a_job_loads(client):
    lines = "".join(f'{{"type":"Person","data":{{"name":"job{n}"}}}}\n' for n in range(2000))
    job = over(client, start(client, lines, branch="jobs", **{"from": "main"}))
    assert job["status"] == "succeeded", job
    assert job["result"]["total_entities"] == 2000
    assert job["result"]["commit"]["graph_branch"] == "jobs"
    assert job["kind"] == "load"
    assert client.get("/jobs")["jobs"][0]["job_id"] == job["job_id"]
    cancelled = client("DELETE", f"/jobs/{job['job_id']}").json()
    assert cancelled["status"] == "succeeded"


def test_a_job_that_fails_says_why(client):
    job = over(client, start(client, '{"type":"Person","data":{"nam":"x"}}\n'))
    assert job["status"] == "failed"
    assert "line 1" in job["error"]["error"]
    assert start(client, "not json", 400)
    assert start(client, "", 400)
    assert start(client, '{"type":"Person","data":{"name":"x"}}', 400, mode="other")
    assert client("POST", "/jobs/load", 415, content=b"{}")
    assert client.get("/jobs/none", 404)["code"] == "not_found"
    assert client("DELETE", "/jobs/none", 404)


def test_a_job_that_is_called_off_publishes_nothing(client):
    before = client.get("/commits")["commits"][0]["graph_commit_id"]
    lines = "".join(f'{{"type":"Person","data":{{"name":"off{n}"}}}}\n' for n in range(100_000))
    job = start(client, lines)
    client("DELETE", f"/jobs/{job['job_id']}")
    assert over(client, job)["status"] == "cancelled"
    assert client.get("/commits")["commits"][0]["graph_commit_id"] == before
