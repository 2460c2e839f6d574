"""Files to write to, wherever they are: what is exported need not be part of a graph."""

from __future__ import annotations

import io
import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import obstore

from omnigraph.model.errors import BadRequest, Denied, StoreUnavailable
from omnigraph.model.files import gist
from omnigraph.storage import meter
from omnigraph.storage.address import parse_address
from omnigraph.storage.store import connect, connect_to_object, store_errors

if TYPE_CHECKING:
    from collections.abc import Generator

    from obstore import WritableFile


@contextmanager
def write_file(uri: str, options: dict[str, str] | None = None) -> Generator[IO[bytes]]:
    """Write a file that has its name only when it is complete: whoever fails leaves none."""
    address = parse_address(uri, options)
    if address.is_local:
        with _local(Path(address.prefix)) as file:
            yield file
        return
    backend, name = connect_to_object(address)
    with store_errors(f"write {uri}"):
        writer = obstore.open_writer(backend, name)
        yield cast("IO[bytes]", _Open(writer))
        writer.close()  # only now is there an object: a writer that is not closed leaves none
        meter.count("put")


class _Open(io.RawIOBase):
    """What is written to an object. Those who write through it close it when they fail, too: that ends nothing."""

    def __init__(self, writer: WritableFile) -> None:
        self._writer = writer

    def writable(self) -> bool:
        """Tell that this is for writing."""
        return True

    def write(self, data: Any, /) -> int:
        """Hand bytes on."""
        return self._writer.write(bytes(data))


@contextmanager
def _local(path: Path) -> Generator[IO[bytes]]:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            yield file
        draft.replace(path)
    except PermissionError:
        raise Denied(f"no permission to write {path}", path=str(path)) from None
    except (FileExistsError, FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise BadRequest(f"cannot write {path}: {gist(error)}", path=str(path)) from None
    except OSError as error:
        raise StoreUnavailable(f"cannot write {path}: {gist(error)}") from error
    finally:
        if draft.parent.is_dir():
            draft.unlink(missing_ok=True)


def is_empty_folder(uri: str, options: dict[str, str] | None = None) -> bool:
    """Whether nothing is there yet."""
    address = parse_address(uri, options)
    if address.is_local:
        path = Path(address.prefix)
        return not path.exists() or (path.is_dir() and not any(path.iterdir()))
    return not connect(address).first_page("")
