"""The store, or another service, did not do its part."""

from __future__ import annotations

from omnigraph.model.errors.root import OmniGraphError


class Unavailable(OmniGraphError):
    """The store did not do its part; the request itself may be fine."""

    code = "unavailable"


class Overloaded(Unavailable):
    """Too much is asked for at once; nothing was done."""

    code = "too_many_requests"

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.retry_after_s = retry_after_s


class StoreUnavailable(Unavailable):
    """The store did not answer, or answered with a server error."""


class EmbeddingUnavailable(Unavailable):
    """The provider of embeddings did not answer, or its answer cannot be used; try again later."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"no embeddings from {provider}: {reason}", provider=provider, reason=reason)


class StoreUnsafe(Unavailable):
    """The store accepts a second create of one key: commits would be lost silently, so it is refused."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(f"{uri} cannot hold a graph: {reason}", uri=uri, reason=reason)


class SparkUnavailable(Unavailable):
    """Spark or its Java is not installed, or a session could not be started."""


class SparkFailed(Unavailable):
    """A job failed after all attempts of its tasks. Nothing was written."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Spark could not finish the job, nothing was written: {reason}", reason=reason)


class OutcomeUnknown(Unavailable):
    """A publish may or may not have landed; look the commit up by its id before doing it again."""

    def __init__(self, commit: str, cause: str) -> None:
        super().__init__(
            f"the store stopped answering while commit {commit} was published ({cause}); it may or may "
            f"not have landed: 'omnigraph commit show {commit}' tells",
            commit=commit,
        )
        self.commit = commit


class CorruptObject(Unavailable):
    """An object of the graph cannot be decoded."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} is damaged and cannot be read: {reason}", path=path, reason=reason)
