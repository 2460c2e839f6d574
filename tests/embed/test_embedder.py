"""Providers: what they are asked, what becomes of their answers, and what happens when they fail."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from omnigraph.embed import Embedder, Purpose, embedder_from_environment
from omnigraph.embed.mock import mock_vector
from omnigraph.embed.settings import Provider, read_settings, settings_for
from omnigraph.model.errors import BadRequest, Denied, EmbeddingUnavailable
from tests.embed.provider import openai_answer, provider


def embedder(base_url: str, kind: str = "openai-compatible", **how: Any) -> tuple[Embedder, list[float]]:
    """An embedder that does not sleep, but says how long it would have."""
    slept: list[float] = []
    settings = replace(settings_for(kind, base_url=base_url, api_key="secret"), **how)
    return Embedder(settings, sleep=slept.append), slept


def test_the_mock_is_the_formula() -> None:
    seed = 0xCBF29CE484222325
    for byte in b"graph":
        seed = ((seed ^ byte) * 0x100000001B3) % 2**64
    expected = []
    for _ in range(3):
        seed = (seed ^ (seed << 13)) % 2**64
        seed ^= seed >> 7
        seed = (seed ^ (seed << 17)) % 2**64
        expected.append(np.float32(float(seed) / float(2**64 - 1)) * np.float32(2) - np.float32(1))
    assert mock_vector("graph", 3).tolist() == expected
    (found,) = embedder("", "mock")[0].embed(["graph"], 3)
    assert found.dtype == np.float32
    assert np.linalg.norm(found) == pytest.approx(1, abs=1e-6)
    assert found.tolist() == pytest.approx((np.array(expected) / np.linalg.norm(expected)).tolist())


def test_texts_are_asked_for_in_batches_and_vectors_come_in_order() -> None:
    with provider() as fake:
        texts = ["x" * n for n in range(1, 301)]
        found = embedder(fake.base_url)[0].embed(texts, 4)
        assert sorted(len(body["input"]) for _, _, body in fake.calls) == [44, 128, 128]
        path, headers, body = fake.calls[0]
    assert path == "/embeddings"
    assert headers["Authorization"] == "Bearer secret"
    assert body["model"] == "openai/text-embedding-3-large"
    assert body["dimensions"] == 4
    assert (found[:, 0] / found[:, 1]).tolist() == pytest.approx(list(range(1, 301)), rel=1e-5)
    assert np.linalg.norm(found, axis=1).tolist() == pytest.approx([1] * 300, abs=1e-6)


def test_gemini_speaks_its_own_language() -> None:
    def answer(path: str, body: dict[str, Any]) -> tuple[int, object]:
        return 200, {"embedding": {"values": [0, float(len(body["content"]["parts"][0]["text"]))]}}

    with provider(answer) as fake:
        asked = embedder(fake.base_url, "gemini")[0]
        assert asked.embed(["a", "bb"], 2).tolist() == [[0, 1], [0, 1]]
        assert asked.embed_query("q", 2).tolist() == [0, 1]
        assert {path for path, _, _ in fake.calls} == {"/models/gemini-embedding-2:embedContent"}
        _, headers, body = fake.calls[-1]
    assert {name.lower(): value for name, value in headers.items()}["x-goog-api-key"] == "secret"
    assert body["taskType"] == Purpose.QUERY.value
    assert fake.calls[0][2]["taskType"] == Purpose.DOCUMENT.value
    assert body["outputDimensionality"] == 2


def test_a_question_is_asked_once() -> None:
    with provider() as fake:
        asked = embedder(fake.base_url)[0]
        assert asked.embed_query("again", 2).tolist() == asked.embed_query("again", 2).tolist()
        assert len(fake.calls) == 1


def test_requests_are_spaced() -> None:
    """A request has its turn, and its deadline begins with it."""
    with provider() as fake:
        slept: list[float] = []
        settings = settings_for("openai-compatible", base_url=fake.base_url, api_key="secret")
        paced = replace(settings, requests_per_minute=30, deadline_ms=1000)
        asked = Embedder(paced, clock=lambda: 0.0, sleep=slept.append)
        assert len(asked.embed(["x"] * 300, 4)) == 300
        assert len(asked.embed(["x"], 4)) == 1
    assert sorted(slept) == [2, 4, 6]


def test_a_provider_that_wants_to_be_left_alone_is() -> None:
    answers = iter([(429, {}), (200, None)])

    def answer(path: str, body: dict[str, Any]) -> tuple[int, object]:
        status, document = next(answers)
        return (status, document) if document is not None else openai_answer(path, body)

    with provider(answer) as fake:
        fake.headers["Retry-After"] = "7"
        asked, slept = embedder(fake.base_url)
        asked.embed(["a"], 4)
    assert slept == [7]


def test_what_may_pass_is_tried_again() -> None:
    answers = iter([(503, {"error": "busy"}), (429, {}), (200, b"<html>")])

    def answer(path: str, body: dict[str, Any]) -> tuple[int, object]:
        return next(answers, None) or openai_answer(path, body)

    with provider(answer) as fake:
        asked, slept = embedder(fake.base_url)
        assert len(asked.embed(["a"], 2)) == 1
        assert len(fake.calls) == 4
    assert len(slept) == 3
    assert slept[0] <= 0.2
    assert slept[2] <= 0.8


def test_who_never_answers_is_unavailable() -> None:
    with provider(lambda *_: (500, {"error": "broken pipe"})) as fake:
        asked, slept = embedder(fake.base_url, attempts=2)
        with pytest.raises(EmbeddingUnavailable, match=r"broken pipe.*2 attempts"):
            asked.embed(["a"], 2)
        assert len(fake.calls) == 2
    asked, slept = embedder(fake.base_url)  # nobody listens there any more
    with pytest.raises(EmbeddingUnavailable, match="cannot be reached"):
        asked.embed(["a"], 2)
    assert len(slept) == 3


def test_the_deadline_is_over_all_attempts() -> None:
    now = [0.0]

    def sleep(pause_s: float) -> None:
        now[0] += pause_s

    with provider(lambda *_: (503, {})) as fake:
        settings = replace(settings_for("openai", base_url=fake.base_url), deadline_ms=500, attempts=100)
        with pytest.raises(EmbeddingUnavailable, match="deadline of 500 ms"):
            Embedder(settings, clock=lambda: now[0], sleep=sleep).embed(["a"], 2)
        assert 1 < len(fake.calls) < 8


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        ((401, {"error": "no such key"}), Denied, "no such key"),
        ((400, {"error": "unknown model"}), BadRequest, "unknown model"),
        ((200, {"data": [{"embedding": [1, 2, 3]}]}), BadRequest, "3 dimensions, the property has 2"),
        ((200, {"data": [{"embedding": [0, 0]}]}), EmbeddingUnavailable, "zeros"),
        ((200, b'{"data": [{"embedding": [NaN, 1]}]}'), EmbeddingUnavailable, "not finite"),
        ((200, {"data": []}), EmbeddingUnavailable, "0 vectors for 1 texts"),
        ((200, {"other": []}), EmbeddingUnavailable, "no list of embeddings"),
        ((200, [1]), EmbeddingUnavailable, "no list of embeddings"),
    ],
)
def test_what_cannot_be_used_is_refused(answer: tuple[int, object], error: type[Exception], text: str) -> None:
    with provider(lambda *_: answer) as fake:
        asked, slept = embedder(fake.base_url)
        with pytest.raises(error, match=text):
            asked.embed(["a"], 2)
        assert len(fake.calls) == 1
        assert slept == []


def test_the_environment_chooses() -> None:
    default = read_settings({"OPENROUTER_API_KEY": "k"})
    assert (default.provider, default.base_url) == (Provider.OPENAI_COMPATIBLE, "https://openrouter.ai/api/v1")
    assert (default.deadline_ms, default.timeout_ms, default.attempts, default.backoff_ms) == (60_000, 30_000, 4, 200)
    assert default.api_key == "k"
    assert "k)" not in repr(default)
    chosen = read_settings(
        {
            "OMNIGRAPH_EMBED_PROVIDER": "gemini",
            "OMNIGRAPH_EMBED_MODEL": "m",
            "OMNIGRAPH_EMBED_BASE_URL": "http://here/",
            "OMNIGRAPH_EMBED_DEADLINE_MS": "0",
            "OMNIGRAPH_EMBED_RETRY_ATTEMPTS": "1",
        }
    )
    assert (chosen.provider, chosen.model, chosen.base_url) == (Provider.GEMINI, "m", "http://here")
    assert (chosen.deadline_ms, chosen.attempts) == (0, 1)
    mock = read_settings({"OMNIGRAPH_EMBED_PROVIDER": "openai", "OMNIGRAPH_EMBEDDINGS_MOCK": "1"})
    assert mock.provider is Provider.MOCK
    assert read_settings({"OMNIGRAPH_EMBEDDINGS_MOCK": "false"}).provider is Provider.OPENAI_COMPATIBLE
    with pytest.raises(BadRequest, match="did you mean 'openai'"):
        read_settings({"OMNIGRAPH_EMBED_PROVIDER": "opena"})
    with pytest.raises(BadRequest, match="OMNIGRAPH_EMBED_RETRY_ATTEMPTS"):
        read_settings({"OMNIGRAPH_EMBED_RETRY_ATTEMPTS": "0"})


def test_without_a_key_nobody_is_asked() -> None:
    with pytest.raises(BadRequest, match="OPENROUTER_API_KEY"):
        embedder_from_environment({}).embed(["a"], 2)


def test_models_are_not_mixed() -> None:
    asked = Embedder(settings_for("openai"))
    asked.check_model(None, "Note.v")
    asked.check_model("text-embedding-3-large", "Note.v")
    with pytest.raises(BadRequest, match=r"Note\.v holds vectors of model 'other'"):
        asked.check_model("other", "Note.v")
    Embedder(settings_for("mock")).check_model("other", "Note.v")
    with pytest.raises(BadRequest):
        Embedder(settings_for("mock", model="tiny")).check_model("other", "Note.v")
