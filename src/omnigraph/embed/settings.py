"""Which provider makes embeddings, and how patient we are with it. Read from the environment."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from omnigraph.model.diagnostics import suggest
from omnigraph.model.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIX = "OMNIGRAPH_EMBED_"
_FALSE = frozenset(("", "0", "false", "no", "off"))


class Provider(StrEnum):
    """Who makes embeddings."""

    OPENAI_COMPATIBLE = "openai-compatible"
    OPENAI = "openai"
    GEMINI = "gemini"
    MOCK = "mock"


_BASES = {
    Provider.OPENAI_COMPATIBLE: "https://openrouter.ai/api/v1",
    Provider.OPENAI: "https://api.openai.com/v1",
    Provider.GEMINI: "https://generativelanguage.googleapis.com/v1beta",
    Provider.MOCK: "",
}
_MODELS = {
    Provider.OPENAI_COMPATIBLE: "openai/text-embedding-3-large",
    Provider.OPENAI: "text-embedding-3-large",
    Provider.GEMINI: "gemini-embedding-2",
    Provider.MOCK: None,
}
_KEYS: dict[Provider, tuple[str, ...]] = {
    Provider.OPENAI_COMPATIBLE: ("OPENROUTER_API_KEY", "OPENAI_API_KEY"),
    Provider.OPENAI: ("OPENAI_API_KEY",),
    Provider.GEMINI: ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    Provider.MOCK: (),
}


@dataclass(frozen=True, slots=True)
class EmbedSettings:
    """One provider and one model. A mock without a model stands for any."""

    provider: Provider
    model: str | None = None
    base_url: str = ""
    api_key: str | None = None
    deadline_ms: int = 60_000
    """Time for everything one call asks for; 0 is any time."""
    timeout_ms: int = 30_000
    attempts: int = 4
    backoff_ms: int = 200
    requests_per_minute: float = 0
    """More are never sent; 0 is any number."""

    def __repr__(self) -> str:
        return f"EmbedSettings({self.provider.value}, {self.model}, {self.base_url})"  # never the key

    @property
    def needs_key(self) -> bool:
        """Whether the provider is known to refuse who has none. A server of one's own may do without."""
        return self.api_key is None and self.base_url in _BASES.values() and self.provider is not Provider.MOCK


def settings_for(provider: str, **given: str | None) -> EmbedSettings:
    """Settings of a provider by its name; what is not given has the provider's defaults."""
    if provider not in list(Provider):
        known = [each.value for each in Provider]
        raise BadRequest(
            f"unknown embedding provider {provider!r}; {suggest(provider, known) or 'use ' + ', '.join(known)}"
        )
    chosen = Provider(provider)
    base = given.get("base_url") or _BASES[chosen]
    return EmbedSettings(chosen, given.get("model") or _MODELS[chosen], base.rstrip("/"), given.get("api_key"))


def read_settings(environment: Mapping[str, str]) -> EmbedSettings:
    """Settings as the environment has them."""
    is_mock = environment.get("OMNIGRAPH_EMBEDDINGS_MOCK", "").strip().lower() not in _FALSE
    named = environment.get(_PREFIX + "PROVIDER", "").strip() or Provider.OPENAI_COMPATIBLE.value
    chosen = settings_for(Provider.MOCK.value if is_mock else named)
    names = (_PREFIX + "API_KEY", *_KEYS[chosen.provider])
    found = settings_for(
        chosen.provider.value,
        model=environment.get(_PREFIX + "MODEL"),
        base_url=environment.get(_PREFIX + "BASE_URL"),
        api_key=next((environment[name] for name in names if environment.get(name)), None),
    )
    return EmbedSettings(
        found.provider,
        found.model,
        found.base_url,
        found.api_key,
        _number(environment, "DEADLINE_MS", 60_000, least=0),
        _number(environment, "TIMEOUT_MS", 30_000),
        _number(environment, "RETRY_ATTEMPTS", 4),
        _number(environment, "RETRY_BACKOFF_MS", 200, least=0),
        _number(environment, "REQUESTS_PER_MINUTE", 0, least=0),
    )


def key_variable(settings: EmbedSettings) -> str:
    """The variable a provider's key is usually kept in."""
    return _KEYS[settings.provider][0]


def _number(environment: Mapping[str, str], name: str, default: int, least: int = 1) -> int:
    text = environment.get(_PREFIX + name, "").strip()
    if not text:
        return default
    if not text.isdecimal() or int(text) < least:
        raise BadRequest(f"{_PREFIX}{name} is {text!r}: give a whole number of at least {least}")
    return int(text)
