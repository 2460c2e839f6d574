"""Texts become vectors of length 1."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from omnigraph.embed.mock import mock_vector
from omnigraph.embed.settings import EmbedSettings, Provider, key_variable, read_settings
from omnigraph.embed.wire import Purpose, batch_size, call_for, vectors_in
from omnigraph.model.errors import BadRequest, EmbeddingUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnigraph.embed.client import Deadline, ProviderClient

    Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]

_AT_ONCE = 4
_REMEMBERED = 1024


class Embedder:
    """One provider and one model. Nothing is sent before `embed` is called. Safe between threads."""

    def __init__(self, settings: EmbedSettings, **client: Any) -> None:
        self.settings = settings
        self._how = client
        self._client: ProviderClient | None = None
        self._lock = threading.Lock()
        self._asked: dict[tuple[str, int], np.ndarray[tuple[int], np.dtype[np.float32]]] = {}

    @property
    def model(self) -> str:
        """The model's name, as people see it."""
        return self.settings.model or "mock"

    def check_model(self, recorded: str | None, where: str) -> None:
        """Refuse to compare vectors of two models."""
        if recorded is not None and self.settings.model is not None and recorded != self.settings.model:
            raise BadRequest(
                f"{where} holds vectors of model {recorded!r}, and {self.settings.model!r} is configured: "
                "vectors of two models cannot be compared; set OMNIGRAPH_EMBED_MODEL",
                recorded=recorded,
                configured=self.settings.model,
            )

    def embed(self, texts: Sequence[str], dimension: int, purpose: Purpose = Purpose.DOCUMENT) -> Vectors:
        """Give the vector of each text."""
        if not texts:
            return np.empty((0, dimension), np.float32)
        if self.settings.provider is Provider.MOCK:
            return _normalised(np.stack([mock_vector(text, dimension) for text in texts]), "mock")
        client = self._connected()
        size = batch_size(self.settings)
        # Who waits for a turn has not begun: then the deadline is that of each request.
        deadline = None if self.settings.requests_per_minute else client.deadline()
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]

        def one(batch: Sequence[str]) -> Vectors:
            return self._ask(client, batch, dimension, purpose, deadline)

        if len(batches) == 1:
            return one(batches[0])
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return np.concatenate(list(pool.map(one, batches)))

    def embed_query(self, text: str, dimension: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        """Give the vector of a text that is looked for. The last ones are remembered: a question may be asked again."""
        key = text, dimension
        with self._lock:
            known = self._asked.get(key)
        if known is None:
            known = self.embed([text], dimension, Purpose.QUERY)[0]
            with self._lock:
                self._asked[key] = known
                if len(self._asked) > _REMEMBERED:
                    del self._asked[next(iter(self._asked))]
        return known

    def _ask(
        self, client: ProviderClient, batch: Sequence[str], dimension: int, purpose: Purpose, deadline: Deadline | None
    ) -> Vectors:
        answer = client.ask(call_for(self.settings, batch, dimension, purpose), deadline)
        base = self.settings.base_url
        try:
            found = vectors_in(self.settings, answer)
        except ValueError as error:
            raise EmbeddingUnavailable(base, f"its answer cannot be read: {error}") from error
        if len(found) != len(batch):
            raise EmbeddingUnavailable(base, f"it gave {len(found)} vectors for {len(batch)} texts")
        wrong = next((len(vector) for vector in found if len(vector) != dimension), None)
        if wrong is not None:
            raise BadRequest(
                f"model {self.model!r} gave a vector of {wrong} dimensions, the property has {dimension}",
                expected=dimension,
                actual=wrong,
            )
        return _normalised(np.array(found, np.float64), base)

    def _connected(self) -> ProviderClient:
        if self.settings.needs_key:
            name = self.settings.provider.value
            raise BadRequest(
                f"embeddings need a provider: {name} has no key in {key_variable(self.settings)}; set it, or choose "
                "another with OMNIGRAPH_EMBED_PROVIDER or OMNIGRAPH_EMBED_BASE_URL"
            )
        with self._lock:
            if self._client is None:
                from omnigraph.embed.client import ProviderClient

                self._client = ProviderClient(self.settings, **self._how)
            return self._client


def _normalised(vectors: np.ndarray[Any, Any], base: str) -> Vectors:
    """Vectors of length 1; what has no direction is refused."""
    wide = vectors.astype(np.float64)
    if not np.isfinite(wide).all():
        raise EmbeddingUnavailable(base, "it gave a vector with numbers that are not finite")
    lengths = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    if not (lengths > 0).all():
        raise EmbeddingUnavailable(base, "it gave a vector of zeros")
    return (wide / lengths).astype(np.float32)


_from_environment: dict[EmbedSettings, Embedder] = {}
_lock = threading.Lock()


def embedder_from_environment(environment: Mapping[str, str] | None = None) -> Embedder:
    """The embedder the environment describes; the same one while it stays the same."""
    settings = read_settings(os.environ if environment is None else environment)
    with _lock:
        return _from_environment.setdefault(settings, Embedder(settings))
