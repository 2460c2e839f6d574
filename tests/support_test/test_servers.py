"""The servers that other tests stand on: real ones hold conditions and survive, the careless one does not."""

import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import obstore
import pytest
from obstore.exceptions import AlreadyExistsError

from tests.support import CarelessServer, CountingProxy, S3Endpoint, SeaweedServer
from tests.support.careless import Stored
from tests.support.servers import wait_until

pytestmark = pytest.mark.s3

ROOT = Path(__file__).parents[2]
STARTS_A_SERVER = """
import time
from tests.support import MinistackServer
server = MinistackServer().start()
print(server.port, server.folder, flush=True)
time.sleep(3600)
"""


def test_the_second_create_is_refused_by_real_servers(s3_server: S3Endpoint, s3_bucket: str) -> None:
    store = s3_server.store(s3_bucket)
    obstore.put(store, "chain/1", b"first", mode="create")
    with pytest.raises(AlreadyExistsError):
        obstore.put(store, "chain/1", b"second", mode="create")
    assert obstore.get(store, "chain/1").bytes() == b"first"


def test_the_careless_server_accepts_the_second_create(careless: CarelessServer) -> None:
    store = careless.store(careless.bucket())
    obstore.put(store, "chain/1", b"first", mode="create")
    obstore.put(store, "chain/1", b"second", mode="create")
    assert obstore.get(store, "chain/1").bytes() == b"second"


def test_the_careless_server_does_the_rest_of_s3(careless: CarelessServer) -> None:
    bucket = careless.bucket()
    store = careless.store(bucket)
    names = [f"a/{number:04d} &ü" for number in range(1500)]
    careless.buckets[bucket] = dict.fromkeys(names, Stored(b"any", datetime.now(UTC)))
    obstore.put(store, "b", b"0123456789")

    assert [found["path"] for found in obstore.list(store, "a").collect()] == names
    assert [found["path"] for found in obstore.list(store, "a", offset=names[1397]).collect()] == names[1398:]
    top = obstore.list_with_delimiter(store)
    assert list(top["common_prefixes"]) == ["a"]
    assert [found["path"] for found in top["objects"]] == ["b"]
    assert obstore.head(store, "b")["size"] == 10
    assert obstore.get(store, "b").meta["last_modified"].tzinfo
    assert obstore.get_range(store, "b", start=2, end=5) == b"234"
    obstore.delete(store, [names[0], "b"])
    with pytest.raises(FileNotFoundError):
        obstore.get(store, "b")
    assert len(obstore.list(store).collect()) == len(names) - 1


def test_acknowledged_puts_survive_a_kill_beside_another_server(seaweed: SeaweedServer) -> None:
    with SeaweedServer() as server:
        assert server.port != seaweed.port
        bucket = server.bucket()
        store = server.store(bucket)
        for number in range(50):
            obstore.put(store, f"chain/{number}", b"%d" % number, mode="create")
        endpoint = server.endpoint
        server.kill()
        assert not listens(server.port)
        server.restart()

        assert server.endpoint == endpoint
        wait_until(lambda: readable(store, "chain/0"), lambda: "its volumes did not come back", timeout_s=300)
        assert [obstore.get(store, f"chain/{number}").bytes() for number in range(50)] == [
            b"%d" % number for number in range(50)
        ]
        with pytest.raises(AlreadyExistsError):
            obstore.put(store, "chain/49", b"again", mode="create")
        obstore.put(store, "chain/50", b"50", mode="create")
        with pytest.raises(FileNotFoundError):
            obstore.get(seaweed.store(seaweed.bucket()), "chain/49")
        port, folder = server.port, server.folder
    assert not listens(port)
    assert not folder.exists()


def test_a_bucket_for_each_test_does_not_exhaust_seaweed(seaweed: SeaweedServer) -> None:
    log = (seaweed.folder / "log").read_text()
    assert "Free Volumes:     10000" in log


def test_a_killed_process_leaves_no_server_behind() -> None:
    command = [sys.executable, "-c", STARTS_A_SERVER]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout
        port, folder = owner.stdout.readline().split()
        assert listens(int(port))
        owner.send_signal(signal.SIGKILL)
    wait_until(lambda: not listens(int(port)), lambda: "the server outlived its owner", timeout_s=300)
    wait_until(lambda: not Path(folder).exists(), lambda: "the data outlived its owner", timeout_s=300)


def test_storage_options_and_environment_name_the_same_place(s3_server: S3Endpoint, proxy: CountingProxy) -> None:
    for place in (s3_server, proxy):
        assert place.storage_options["aws_endpoint"] == place.env["AWS_ENDPOINT_URL"] == place.endpoint


def test_a_client_configured_by_the_environment(s3_env: dict[str, str], s3_bucket: str) -> None:
    store = obstore.store.from_url(f"s3://{s3_bucket}/graph")
    obstore.put(store, "key", b"value")
    assert obstore.get(store, "key").bytes() == b"value"


def readable(store: obstore.store.S3Store, path: str) -> bool:
    """A restarted server says it is up before it has found where its volumes are."""
    try:
        obstore.get(store, path).bytes()
    except obstore.exceptions.GenericError:
        return False
    return True


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
