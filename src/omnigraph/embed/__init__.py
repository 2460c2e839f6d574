"""Texts become vectors: providers of embeddings, and records that get theirs filled in."""

from omnigraph.embed.embedder import Embedder, Purpose, embedder_from_environment
from omnigraph.embed.settings import EmbedSettings

__all__ = ["EmbedSettings", "Embedder", "Purpose", "embedder_from_environment"]
