"""Help that teaches: every command stands with those of its task, and examples name flags that exist."""

import shlex
import sys

import pytest
import typer
from typer.main import get_command

from omnigraph.cli import app as cli
from omnigraph.cli.help import EXAMPLES, PANELS

ROOT = get_command(cli.app)


def command_of(words: list[str]) -> typer.core.TyperCommand:
    found = ROOT
    for word in words:
        found = found.commands[word]
    return found


def test_every_command_belongs_to_a_task() -> None:
    visible = {name for name, command in ROOT.commands.items() if not command.hidden}
    assert visible == {name for names in PANELS.values() for name in names}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_name_flags_that_exist(name: str) -> None:
    command = command_of(name.split())
    flags = {flag for parameter in command.params for flag in parameter.opts}
    for example in EXAMPLES[name]:
        words = shlex.split(example.partition(" > ")[0])
        assert words[: 1 + len(name.split())] == ["omnigraph", *name.split()]
        assert {word for word in words if word.startswith("-")} <= flags


def test_a_defect_is_one_line_unless_debug(monkeypatch, capsys) -> None:
    broken = typer.Typer(pretty_exceptions_enable=False)

    @broken.command("init")
    @broken.command("version")
    def fail() -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(cli, "app", broken)
    monkeypatch.setattr(sys, "argv", ["omnigraph", "version"])
    with pytest.raises(SystemExit) as exit_info:
        cli.main()
    assert exit_info.value.code == 1
    assert "RuntimeError: boom" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["omnigraph", "version", "--debug"])
    with pytest.raises(RuntimeError):
        cli.main()
