"""A short hash that stays the same for ever: names of folders are made of it."""

from __future__ import annotations


def fnv1a64(text: str) -> int:
    """Hash a text to 64 bits: as a name of fixed length, and safe where case is not significant."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value
