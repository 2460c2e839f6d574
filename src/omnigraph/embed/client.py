"""Requests to a provider, with a deadline over all attempts."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnigraph.model.errors import BadRequest, Denied, EmbeddingUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from omnigraph.embed.settings import EmbedSettings
    from omnigraph.embed.wire import Call

_PASSING = frozenset((408, 409, 425, 429))
_GIST = 300


@dataclass(frozen=True)
class Deadline:
    """When all attempts have to be over; None: never."""

    end: float | None
    clock: Callable[[], float] = time.monotonic

    def left_s(self, wanted_s: float) -> float:
        """As much of a time as is left."""
        return wanted_s if self.end is None else max(0.0, min(wanted_s, self.end - self.clock()))


class Pace:
    """Spaces requests evenly, so that there are never more than so many in a minute."""

    def __init__(self, per_minute: float, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._gap_s = 60 / per_minute if per_minute > 0 else 0.0
        self._clock = clock
        self._sleep = sleep
        self._next_s = clock()
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Wait for one's turn."""
        if not self._gap_s:
            return
        with self._lock:
            now_s = self._clock()
            turn_s = max(now_s, self._next_s)
            self._next_s = turn_s + self._gap_s
        if turn_s > now_s:
            self._sleep(turn_s - now_s)


@dataclass(frozen=True)
class Trouble:
    """Why there is no answer yet, and how long the provider asks to be left alone."""

    text: str
    pause_s: float = 0.0


class ProviderClient:
    """Sends requests, not too many, and repeats those that failed in passing."""

    def __init__(
        self,
        settings: EmbedSettings,
        *,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        import httpx

        self._settings = settings
        self._clock = clock
        self._sleep = sleep
        self._pace = Pace(settings.requests_per_minute, clock, sleep)
        self._http = httpx.Client(transport=transport, follow_redirects=False)

    def deadline(self) -> Deadline:
        """The deadline of what begins now."""
        limit_ms = self._settings.deadline_ms
        return Deadline(self._clock() + limit_ms / 1000 if limit_ms else None, self._clock)

    def ask(self, call: Call, deadline: Deadline | None = None) -> Any:
        """Give the answer to a request. Without a deadline it has its own, from the time when it may be sent."""
        attempts = self._settings.attempts
        for attempt in range(attempts):
            self._pace.wait()
            deadline = deadline or self.deadline()
            timeout_s = deadline.left_s(self._settings.timeout_ms / 1000)
            if timeout_s <= 0:
                raise self._late()
            answer, trouble = self._try(call, timeout_s)
            if trouble is None:
                return answer
            pause_s = max(trouble.pause_s, self._settings.backoff_ms / 1000 * 2**attempt * random.uniform(0.5, 1.0))
            if attempt + 1 == attempts:
                raise self._unavailable(f"{trouble.text} ({attempts} attempts)")
            if deadline.left_s(pause_s) < pause_s:
                raise self._late(trouble.text)
            self._sleep(pause_s)
        raise AssertionError("there is at least one attempt")

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _try(self, call: Call, timeout_s: float) -> tuple[Any, Trouble | None]:
        """The answer; or what may be over the next time."""
        import httpx

        try:
            response = self._http.post(call.url, json=call.body, headers=call.headers, timeout=timeout_s)
        except httpx.TimeoutException:
            return None, Trouble("it did not answer in time")
        except httpx.TransportError as error:
            return None, Trouble(f"it cannot be reached: {error}")
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise BadRequest(f"{call.url!r} is no address of an embedding provider: {error}") from error
        if response.status_code in _PASSING or response.status_code >= 500:
            said = f"it answered {response.status_code}: {_gist(response.text)}"
            return None, Trouble(said, _asked_pause_s(response.headers.get("Retry-After")))
        if response.status_code in (401, 403):
            raise Denied(f"{self._who()} refused the key: {response.status_code}: {_gist(response.text)}")
        if not response.is_success:
            raise BadRequest(f"{self._who()} refused the request: {response.status_code}: {_gist(response.text)}")
        try:
            return response.json(), None
        except ValueError:
            return None, Trouble("its answer is no JSON")

    def _who(self) -> str:
        return f"the embedding provider at {self._settings.base_url}"

    def _unavailable(self, reason: str) -> EmbeddingUnavailable:
        return EmbeddingUnavailable(self._settings.base_url, reason)

    def _late(self, trouble: str | None = None) -> EmbeddingUnavailable:
        end = f"the deadline of {self._settings.deadline_ms} ms was over"
        return self._unavailable(end if trouble is None else f"{trouble}; {end}")


def _asked_pause_s(text: str | None) -> float:
    """`Retry-After` in seconds; a date is left to the usual pauses."""
    return float(text) if text and text.isdecimal() else 0.0


def _gist(text: str) -> str:
    return " ".join(text.split())[:_GIST]
