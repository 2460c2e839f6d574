"""The tables that are shipped beside the grammars are those of the grammars.

`UPDATE_CASES=1 pytest tests/model/test_grammar.py` makes them anew.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from lark import Lark

from omnigraph.model import grammar as grammar_module
from omnigraph.model.grammar import GRAMMAR, TABLES, GrammarFile

NAMES = ("query", "schema")
GRAMMARS: list[GrammarFile] = [importlib.import_module(f"omnigraph.{name}.parse").GRAMMAR for name in NAMES]
EACH = pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda each: each.package)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which parsers were made of their grammars."""
    packages: list[str] = []
    plainly = GrammarFile.made

    def counted(self: GrammarFile, text: str | None = None) -> Lark:
        packages.append(self.package)
        return plainly(self, text)

    monkeypatch.setattr(GrammarFile, "made", counted)
    return packages


def moves(parser: Lark) -> dict[int, dict[str, tuple[str, Any]]]:
    """What a parser does, its states numbered in the order in which they are come to: how others number them varies."""
    table = parser.parser.parser._parse_table  # what Lark has no public name for
    start = table.start_states[parser.options.start[0]]
    numbers, waiting = {start: 0}, [start]
    found: dict[int, dict[str, tuple[str, Any]]] = {}
    for state in waiting:
        row = found[numbers[state]] = {}
        for token, (action, value) in sorted(table.states[state].items()):
            if str(action) == "Shift":
                if value not in numbers:
                    numbers[value] = len(numbers)
                    waiting.append(value)
                row[token] = "shift", numbers[value]
            else:
                row[token] = "reduce", said(value)
    return found


def terminals(parser: Lark) -> dict[str, tuple[Any, ...]]:
    return {one.name: (one.pattern.to_regexp(), sorted(one.pattern.flags), one.priority) for one in parser.terminals}


def said(rule: Any) -> tuple[Any, ...]:
    """A rule with all that decides what is made of it."""
    expansion = [(str(symbol.name), getattr(symbol, "filter_out", None)) for symbol in rule.expansion]
    return str(rule.origin.name), expansion, rule.alias, rule.order, vars_of(rule.options)


def vars_of(thing: Any) -> dict[str, Any]:
    """As JSON has it, where a tuple is a list."""
    return json.loads(json.dumps(vars(thing)))


@EACH
def test_the_tables_are_those_of_the_grammar(grammar: GrammarFile, made: list[str]) -> None:
    if os.environ.get("UPDATE_CASES"):
        Path(str(files(grammar.package).joinpath(TABLES))).write_text(grammar.tables(), encoding="utf-8")
    made.clear()
    shipped = grammar.parser()
    assert not made, "the grammar has changed: UPDATE_CASES=1 pytest tests/model/test_grammar.py"
    fresh = grammar.made()
    assert moves(shipped) == moves(fresh)
    assert terminals(shipped) == terminals(fresh)
    assert sorted(map(said, shipped.rules), key=repr) == sorted(map(said, fresh.rules), key=repr)
    assert {**shipped.options.options} == {**fresh.options.options}


def test_tables_of_another_grammar_are_not_used(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (grammar, _) = GRAMMARS
    other = replace(grammar, options={**grammar.options, "maybe_placeholders": False})
    assert other.parser().options.maybe_placeholders is False
    assert made == ["omnigraph.query"]
    monkeypatch.setattr(grammar_module.lark, "__version__", "0")
    grammar.parser()
    assert made == ["omnigraph.query"] * 2


def test_without_tables_the_grammar_is_read(tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "plain_grammar"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / GRAMMAR).write_text('start: "a"+\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    grammar = GrammarFile("plain_grammar")
    assert len(grammar.parser().parse("aaa").children) == 0
    (package / TABLES).write_text(grammar.tables())
    made.clear()
    assert len(grammar.parser().parse("aaa").children) == 0
    assert not made
    (package / GRAMMAR).write_text('start: "b"+\n')
    assert len(grammar.parser().parse("bb").children) == 0
    assert made == ["plain_grammar"]


@EACH
def test_tables_do_not_depend_on_the_order_of_a_process(grammar: GrammarFile) -> None:
    """The numbers in the file may; what a parser does by them does not."""
    script = f"from {grammar.package}.parse import GRAMMAR; print(GRAMMAR.tables())"
    module = importlib.import_module(f"{grammar.package}.parse")
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert moves(module.GRAMMAR.loaded(json.loads(run.stdout))) == moves(grammar.made())
