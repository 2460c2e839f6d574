"""Every example of the README and of the task pages, executed in order; the blocks of a page share a folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/branches-and-history.md", "docs/writing.md", "docs/operations.md"]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text()
    blocks = list(BLOCK.finditer(text))
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        language, source = block.groups()
        if source.startswith("make "):
            continue  # the two commands: this is one of them
        line = text[: block.start()].count("\n") + 2
        if language == "python":
            exec(compile("\n" * (line - 1) + source, page, "exec"), names)
        else:
            _shell(source, f"{page}:{line}")


def _shell(source: str, where: str) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", source],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"{where}\n{done.stdout}\n{done.stderr}"


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"
