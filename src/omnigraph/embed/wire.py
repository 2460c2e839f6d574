"""What providers are asked, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from omnigraph.embed.settings import Provider

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnigraph.embed.settings import EmbedSettings

BATCH_TEXTS = 128


class Purpose(StrEnum):
    """What a vector is for; some models make a difference."""

    QUERY = "RETRIEVAL_QUERY"
    DOCUMENT = "RETRIEVAL_DOCUMENT"


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a provider."""

    url: str
    body: dict[str, Any]
    headers: dict[str, str] = field(repr=False, default_factory=dict[str, str])


def batch_size(settings: EmbedSettings) -> int:
    """How many texts one request can have."""
    return 1 if settings.provider is Provider.GEMINI else BATCH_TEXTS


def call_for(settings: EmbedSettings, texts: Sequence[str], dimension: int, purpose: Purpose) -> Call:
    """The request for some texts."""
    if settings.provider is Provider.GEMINI:
        (text,) = texts
        body: dict[str, Any] = {
            "model": f"models/{settings.model}",
            "content": {"parts": [{"text": text}]},
            "taskType": purpose.value,
            "outputDimensionality": dimension,
        }
        headers = {"x-goog-api-key": settings.api_key} if settings.api_key else {}
        return Call(f"{settings.base_url}/models/{settings.model}:embedContent", body, headers)
    headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    body = {"model": settings.model, "input": list(texts), "dimensions": dimension}
    return Call(f"{settings.base_url}/embeddings", body, headers)


def vectors_in(settings: EmbedSettings, answer: object) -> list[list[float]]:
    """The vectors of an answer, in the order of the texts. ValueError if there are none."""
    try:
        document = cast("dict[str, Any]", answer)
        if settings.provider is Provider.GEMINI:
            return [_numbers(document["embedding"]["values"])]
        items = cast("list[dict[str, Any]]", document["data"])
        ordered = sorted(enumerate(items), key=lambda pair: pair[1].get("index", pair[0]))
        return [_numbers(item["embedding"]) for _, item in ordered]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("it is no list of embeddings") from error


def _numbers(values: Any) -> list[float]:
    return [float(value) for value in values]
