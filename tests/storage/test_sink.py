"""Files of an export: there when they are complete, and not before."""

from __future__ import annotations

import pyarrow as pa
import pytest

from omnigraph.storage.sink import is_empty_folder, write_file


@pytest.fixture(params=["disk", pytest.param("objects", marks=pytest.mark.s3)])
def folder(request: pytest.FixtureRequest, tmp_path, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "disk":
        return str(tmp_path / "out")
    server = request.getfixturevalue("seaweed")
    for name, value in server.env.items():
        monkeypatch.setenv(name, value)
    return f"s3://{server.bucket()}/out"


def test_what_is_closed_by_whoever_writes_is_complete_all_the_same(folder: str) -> None:
    with write_file(f"{folder}/a") as file, pa.PythonFile(file, mode="w") as sink:
        sink.write(b"hello")
        assert is_empty_folder(folder) or not folder.startswith("s3:")
    assert not is_empty_folder(folder)


def test_what_fails_leaves_nothing(folder: str) -> None:
    def fail() -> None:
        with write_file(f"{folder}/a") as file, pa.PythonFile(file, mode="w") as sink:
            sink.write(b"hello")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert is_empty_folder(folder)
