"""Every example of the README and of the task pages, executed in order; the blocks of a page share a folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.forks import fork_server
from tests.support.pages import has_examples, run_page

ROOT = Path(__file__).parents[2]


def _parameter(page: Path) -> Any:
    """The pages that start Spark find the session of the tests, in the process that has it."""
    marks = [pytest.mark.xdist_group("spark")] if "spark_session()" in page.read_text() else []
    return pytest.param(page, marks=marks, id=page.name)


PAGES = [_parameter(page) for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))] if has_examples(page)]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(
    page: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMNIGRAPH_HOME", str(tmp_path / ".omnigraph"))
    if "spark_session()" in page.read_text():
        request.getfixturevalue("spark")  # it is the session that the page finds
    if page.name == "README.md":
        run_page(page)  # everything as it is for a user; elsewhere commands start quicker
        return
    programs = tmp_path_factory.mktemp("programs")
    run_page(page, programs, (fork_server().program(programs, monkeypatch),))


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"
