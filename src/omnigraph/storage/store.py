"""Objects by path: the few calls everything above needs, over obstore.

Foreign exceptions cross one door, `store_errors`. Every call is counted by the meter.
"""

from __future__ import annotations

import contextlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import obstore
from obstore import exceptions
from obstore.store import AzureStore, GCSStore, LocalStore, S3Store

from omnigraph.model.errors import Denied, InvalidUri, NotFound, StoreUnavailable
from omnigraph.storage import meter

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from obstore.store import ClientConfig, ObjectStore, RetryConfig

    from omnigraph.storage.address import Address

PAGE_KEYS = 1000


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What a listing tells about an object; the time is the store's own."""

    path: str
    size: int
    modified_us: int


class Store(Protocol):
    """Objects by path."""

    @property
    def lists_in_order(self) -> bool:
        """Whether one LIST page is cheap and holds the smallest names."""
        ...

    def get(self, path: str) -> bytes | None:
        """Read an object; None if there is none."""
        ...

    def stat(self, path: str) -> ObjectInfo | None:
        """Look at an object without reading it."""
        ...

    def create(self, path: str, data: bytes) -> bool:
        """Create an object if there is none; False if there is. StoreUnavailable means: nobody knows."""
        ...

    def put(self, path: str, data: bytes) -> None:
        """Write an object, whatever was there."""
        ...

    def first_page(self, prefix: str) -> list[ObjectInfo]:
        """The first objects under a folder, by name: one request."""
        ...

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Every object under a folder, in no particular order."""
        ...

    def delete(self, paths: Sequence[str]) -> None:
        """Delete objects; one that is not there is no error."""
        ...


@contextmanager
def store_errors(what: str) -> Generator[None]:
    """Turn the object store library's exceptions into ours."""
    try:
        yield
    except exceptions.PermissionDeniedError as error:
        raise Denied(f"no permission: the store refused to {what} ({_gist(error)})") from error
    except exceptions.UnauthenticatedError as error:
        raise Denied(f"wrong or missing credentials: the store refused to {what} ({_gist(error)})") from error
    except PermissionError as error:
        raise Denied(f"no permission to {what} ({_gist(error)})") from error
    except (exceptions.BaseError, OSError) as error:
        raise _translate(error, what) from error


def _translate(error: BaseException, what: str) -> Exception:
    text = str(error)
    if "NoSuchBucket" in text or "ContainerNotFound" in text or "bucket does not exist" in text:
        return NotFound(f"the bucket does not exist: could not {what}")
    if any(sign in text for sign in ("AccessDenied", "SignatureDoesNotMatch", "InvalidAccessKeyId", "403 Forbidden")):
        return Denied(f"no permission or wrong credentials: the store refused to {what} ({_gist(error)})")
    if "Permission denied" in text or "Read-only file system" in text:
        return Denied(f"no permission to {what} ({_gist(error)})")
    return StoreUnavailable(f"the store could not {what}: {_gist(error)}")


def _gist(error: BaseException) -> str:
    """The first line of a library's message; the rest is for its authors."""
    return str(error).strip().split("\n", 1)[0][:300]


class ObjectStoreStore:
    """A store on S3, GCS, Azure or a local disk."""

    def __init__(self, backend: ObjectStore, *, lists_in_order: bool) -> None:
        self.backend = backend
        self._lists_in_order = lists_in_order

    @property
    def lists_in_order(self) -> bool:
        """Whether one LIST page is cheap and holds the smallest names."""
        return self._lists_in_order

    def get(self, path: str) -> bytes | None:
        """Read an object; None if there is none."""
        with store_errors(f"read {path}"):
            meter.count("get")
            try:
                data = bytes(obstore.get(self.backend, path).bytes())
            except FileNotFoundError as error:
                if "NoSuchBucket" in str(error):
                    raise NotFound(f"the bucket does not exist: could not read {path}") from error
                return None
            meter.count_bytes(len(data))
            return data

    def stat(self, path: str) -> ObjectInfo | None:
        """Look at an object without reading it."""
        with store_errors(f"look at {path}"):
            meter.count("head")
            try:
                return _info(obstore.head(self.backend, path))
            except FileNotFoundError:
                return None

    def create(self, path: str, data: bytes) -> bool:
        """Create an object if there is none; False if there is. StoreUnavailable means: nobody knows."""
        with store_errors(f"create {path}"):
            meter.count("put")
            meter.count_bytes(len(data))
            try:
                obstore.put(self.backend, path, data, mode="create", use_multipart=False)
            except (exceptions.AlreadyExistsError, exceptions.PreconditionError):
                return False
            return True

    def put(self, path: str, data: bytes) -> None:
        """Write an object, whatever was there."""
        with store_errors(f"write {path}"):
            meter.count("put")
            meter.count_bytes(len(data))
            obstore.put(self.backend, path, data, use_multipart=False)

    def first_page(self, prefix: str) -> list[ObjectInfo]:
        """The first objects under a folder, by name: one request."""
        with store_errors(f"list {prefix}"):
            meter.count("list")
            for chunk in obstore.list(self.backend, prefix, chunk_size=PAGE_KEYS):
                return [_info(entry) for entry in chunk]
            return []

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Every object under a folder, in no particular order."""
        with store_errors(f"list {prefix}"):
            for chunk in obstore.list(self.backend, prefix or None, chunk_size=PAGE_KEYS):
                meter.count("list")
                yield from (_info(entry) for entry in chunk)

    def delete(self, paths: Sequence[str]) -> None:
        """Delete objects; one that is not there is no error."""
        for start in range(0, len(paths), PAGE_KEYS):
            page = list(paths[start : start + PAGE_KEYS])
            with store_errors(f"delete {page[0]} and {len(page) - 1} more"):
                meter.count("delete")
                try:
                    obstore.delete(self.backend, page)
                except FileNotFoundError:
                    self._delete_one_by_one(page)

    def _delete_one_by_one(self, paths: Sequence[str]) -> None:
        """A local disk stops at the first missing file; somebody else deleted it, so go on."""
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                obstore.delete(self.backend, path)


def _info(entry: obstore.ObjectMeta) -> ObjectInfo:
    modified = entry["last_modified"]
    return ObjectInfo(entry["path"], entry["size"], int(modified.timestamp() * 1_000_000))


def make_folder(address: Address) -> None:
    """Make the folder of a new graph; an object store needs none."""
    if not address.is_local:
        return
    with store_errors(f"make the folder {address.uri}"):
        try:
            Path(address.prefix).mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InvalidUri(address.uri, "a file is where its folder would be") from None


def connect(address: Address, *, timeout_s: float = 30.0) -> ObjectStoreStore:
    """Open the store an address names. Says nothing about whether a graph is there."""
    retry: RetryConfig = {"max_retries": 3, "retry_timeout": timedelta(seconds=timeout_s * 2)}
    client: ClientConfig = {"timeout": timedelta(seconds=timeout_s), "connect_timeout": timedelta(seconds=5)}
    if address.options.get("allow_http") == "true":
        client["allow_http"] = True
    with store_errors(f"open {address.uri}"):
        if address.scheme == "file":
            return ObjectStoreStore(LocalStore(address.prefix, mkdir=False), lists_in_order=False)
        config = {key: value for key, value in address.options.items() if key != "allow_http"}
        kind = {"s3": S3Store, "gs": GCSStore, "az": AzureStore}[address.scheme]
        backend = kind(
            address.bucket,
            prefix=address.prefix or None,
            config=config,  # type: ignore[arg-type]
            client_options=client,
            retry_config=retry,
        )
        return ObjectStoreStore(backend, lists_in_order=True)


def connect_to_object(address: Address) -> tuple[ObjectStore, str]:
    """Open the folder that an object is in, and give its name there."""
    folder, _, name = address.prefix.rpartition("/")
    return connect(replace(address, prefix=folder)).backend, name
