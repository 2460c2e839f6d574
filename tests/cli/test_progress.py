"""What is shown of long work: how far it is, how fast it goes, how long it will take."""

from __future__ import annotations

from omnigraph.cli import progress as shown
from omnigraph.cli.progress import Paces, shown_progress
from omnigraph.write.progress import Stage, announce


def test_a_stage_has_a_rate_and_an_end() -> None:
    paces = Paces()
    assert paces.note("loading", 0, None, 10.0).line == "loading: 0 rows"
    assert paces.note("loading", 500, 4000, 10.5).line == "loading: 500 of 4,000 rows (12%)"  # too new to tell
    assert paces.note("loading", 2000, 4000, 12.0).line == "loading: 2,000 of 4,000 rows (50%), 1,000 rows/s, 0:02 left"
    assert paces.note("checking", 4000, 4000, 12.0).line == "checking: 4,000 of 4,000 rows (100%)"
    assert paces.note("loading", 4000, 4000, 110.0).line == "loading: 4,000 of 4,000 rows (100%), 40 rows/s"
    tasks = Stage("staging", "tasks")
    paces.note(tasks, 0, 300, 0.0)
    assert paces.note(tasks, 3, 300, 2.0).line == "staging: 3 of 300 tasks (1%), 1.5 tasks/s, 3:18 left"
    size = Stage("reading", "bytes")
    paces.note(size, 0, 3 << 20, 0.0)
    assert paces.note(size, 2 << 20, 3 << 20, 4.0).line == "reading: 2.0 of 3.0 MiB (67%), 0.5 MiB/s, 0:02 left"


def test_lines_where_there_is_no_terminal(capsys, monkeypatch) -> None:
    monkeypatch.setattr(shown, "QUIET_S", 0.0)
    monkeypatch.setattr(shown, "LINE_EVERY_S", 0.0)
    with shown_progress(quiet=False) as progress:
        announce(progress, "01ABC")
        assert progress is not None
        progress("loading", 1, 2)
    err = capsys.readouterr().err
    assert "load --resume 01ABC" in err
    assert "loading: 1 of 2 rows (50%)" in err
    with shown_progress(quiet=True) as progress:
        announce(progress, "01ABC")
    assert not capsys.readouterr().err


def test_a_bar_on_a_terminal(capsys, monkeypatch) -> None:
    monkeypatch.setattr(shown, "QUIET_S", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with shown_progress(quiet=False) as progress:
        assert progress is not None
        progress("loading", 1, 2)
        progress("loading", 2, 2)
        progress("writing", 2, 2)
    assert capsys.readouterr().out == ""
