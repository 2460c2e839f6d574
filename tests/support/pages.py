"""Runs the examples of a page of documentation, in order, in one folder. Only the standard library: a release uses it
with an environment that has nothing but the wheel."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SHELL_TIMEOUT_S = 300


def has_examples(page: Path) -> bool:
    return BLOCK.search(page.read_text()) is not None


def run_page(page: Path, programs: Path | None = None, descriptors: tuple[int, ...] = ()) -> None:
    """Run the blocks in the current folder. What Python blocks define, later ones see.

    In shells, `programs` come first, and find some descriptors open.
    """
    before = dict(os.environ)
    try:
        _run_blocks(page, programs, descriptors)
    finally:  # what an example exports is for the page's later blocks, not for whoever reads the next one
        os.environ.clear()
        os.environ.update(before)


def _run_blocks(page: Path, programs: Path | None, descriptors: tuple[int, ...]) -> None:
    text = page.read_text()
    names: dict[str, object] = {}
    for block in BLOCK.finditer(text):
        language, source = block.groups()
        if source.startswith("make "):
            continue  # the two commands: whoever runs this came by one of them
        line = text[: block.start()].count("\n") + 2
        if language == "python":
            exec(compile("\n" * (line - 1) + source, page.name, "exec"), names)
        else:
            _shell(source, f"{page.name}:{line}", programs, descriptors)


def _shell(source: str, where: str, programs: Path | None, descriptors: tuple[int, ...]) -> None:
    folders = [*([programs] if programs else []), Path(sys.executable).parent, os.environ["PATH"]]
    path = os.pathsep.join(map(str, folders))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", source],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=SHELL_TIMEOUT_S,
        pass_fds=descriptors,
    )
    assert done.returncode == 0, f"{where}\n{done.stdout}\n{done.stderr}"


if __name__ == "__main__":
    run_page(Path(sys.argv[1]))
