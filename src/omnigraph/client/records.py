"""Records of any source as the lines a server takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from omnigraph.write.sources import open_lines

if TYPE_CHECKING:
    from collections.abc import Iterator


def lines_of(source: object) -> Iterator[bytes]:
    """Chunks of whole lines. A source that is not there is known when this returns."""
    found = open_lines(source)

    def chunks() -> Iterator[bytes]:
        for _, chunk in found:
            lines = [one if isinstance(one, bytes) else orjson.dumps(one) for one in chunk]
            yield b"\n".join(lines) + b"\n"

    return chunks()
