"""The prompt: queries and mutations line by line, completed from the schema of the branch."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from omnigraph.cli import render
from omnigraph.cli.queries import parse_params
from omnigraph.cli.results import ReadFormat, print_result
from omnigraph.model.diagnostics import LanguageError, suggest
from omnigraph.model.errors import BadRequest, OmniGraphError
from omnigraph.query import ast, parse_queries
from omnigraph.query.functions import AGGREGATES, FUNCTIONS, SEARCHES

if TYPE_CHECKING:
    from prompt_toolkit.document import Document

    from omnigraph.graph import Graph
    from omnigraph.schema import Catalog

KEYWORDS = (
    "and", "as", "asc", "contains", "delete", "desc", "distinct", "ends_with", "exists", "false", "in", "insert", "is",
    "limit", "match", "not", "null", "offset", "optional", "or", "order", "query", "return", "set", "shortest",
    "starts_with", "true", "update", "where",
)  # fmt: skip
_LEAVE = (".quit", ".exit")
_BARE = re.compile(r"(match|insert|update|delete)\b")

HELP = """\
Write a query, or only what stands between its braces: match { $p: Person } return { $p.name }
It runs when its brackets are closed; Alt-Enter starts a new line, Ctrl-C drops what is written.
  .branch NAME     work on another branch
  .params JSON     parameters for the queries that follow; .params alone drops them
  .format NAME     table, kv, csv, jsonl or json
  .explain QUERY   show how a query would run
  .profile QUERY   run it and show what each step did
  .schema          print the schema
  .quit            leave (Ctrl-D too)"""


class Repl:
    """A conversation with one graph."""

    def __init__(self, graph: Graph, branch: str) -> None:
        self._graph = graph
        self._branch = branch
        self._format = ReadFormat.TABLE
        self._params: dict[str, Any] | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "branch": self._use_branch,
            "params": self._use_params,
            "format": self._use_format,
            "explain": lambda text: self._say(str(self._graph.explain(whole_query(text), branch=self._branch))),
            "profile": lambda text: self._say(
                str(self._graph.profile(whole_query(text), params=self._params, branch=self._branch))
            ),
            "schema": lambda _: self._say(self._graph.schema.at(self._branch).source.rstrip("\n")),
            "help": lambda _: self._say(HELP),
        }

    def run(self) -> bool:
        """Talk until the end of input. False if lines came from no terminal, and something in them went wrong."""
        if not sys.stdin.isatty():
            return self._run_lines(sys.stdin)
        session = PromptSession[str](
            history=_history(),
            completer=WordCompleter(self._graph.schema.at(self._branch).catalog),
            complete_while_typing=False,
            multiline=True,
            key_bindings=_bindings(),
            prompt_continuation="… ",
        )
        self._say(f"{self._graph.uri}: .help tells what can be written here")
        while True:
            try:
                text = session.prompt(f"{self._branch}> ").strip()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return True
            if text in _LEAVE:
                return True
            if text:
                self.answer(text)

    def _run_lines(self, lines: Iterable[str]) -> bool:
        """Answer what a file or another program says, as if it were typed."""
        text, went_well = "", True
        for line in [*lines, "\n"]:
            text += line
            if text.strip() in _LEAVE:
                break
            if text.strip() and is_complete(text.strip()):
                went_well &= self.answer(text.strip())
                text = ""
        else:
            went_well &= not text.strip() or self.answer(text.strip())
        return went_well

    def answer(self, text: str) -> bool:
        """Do what one input says; errors are told, and the conversation goes on. Whether there was none."""
        try:
            if text.startswith("."):
                self._command(text[1:])
            else:
                self._ask(whole_query(text))
        except LanguageError as error:
            render.err.print(f"error: {error.render()}", markup=False)
        except OmniGraphError as error:
            render.err.print(f"error: {error.message}", markup=False)
        except KeyboardInterrupt:
            render.err.print("interrupted", markup=False)
        else:
            return True
        return False

    def _ask(self, source: str) -> None:
        if is_read(source):
            result = self._graph.query(source, params=self._params, branch=self._branch)
            print_result(result, self._format)
            return
        done = self._graph.mutate(source, params=self._params, branch=self._branch)
        commit = f"commit {done.commit.id}" if done.commit is not None else "nothing changed"
        self._say(f"{render.affected(done)}; {commit}")

    # -- commands --------------------------------------------------------------------------------------

    def _command(self, text: str) -> None:
        word, _, rest = text.partition(" ")
        command = self._commands.get(word)
        if command is None:
            hint = suggest(word, self._commands) or ".help lists what there is"
            raise BadRequest(f"there is no command .{word}; {hint}")
        command(rest.strip())

    def _use_branch(self, name: str) -> None:
        self._graph.snapshot(name)
        self._branch = name

    def _use_params(self, text: str) -> None:
        self._params = parse_params(text) if text else None

    def _use_format(self, name: str) -> None:
        try:
            self._format = ReadFormat(name)
        except ValueError:
            raise BadRequest(f"unknown format {name!r}: formats are {', '.join(ReadFormat)}") from None

    def _say(self, text: str) -> None:
        render.out.print(text, markup=False)


def whole_query(text: str) -> str:
    """A whole query, also from what stands between its braces."""
    return f"query repl() {{ {text}\n}}\n" if _BARE.match(text) else f"{text}\n"


def is_read(source: str) -> bool:
    """Tell whether the last query of a text reads."""
    queries = parse_queries(source, "<prompt>").queries
    return bool(queries) and isinstance(queries[-1].body, ast.Read)


# -- the prompt ----------------------------------------------------------------------------------------


def is_complete(text: str) -> bool:
    """Tell whether every bracket that was opened is closed. Brackets in strings and comments do not count."""
    if text.lstrip().startswith(".") and "{" not in text:
        return True
    depth, at, end = 0, 0, len(text)
    while at < end:
        if text[at] == '"':
            at += 1
            while at < end and text[at] != '"':
                at += 2 if text[at] == "\\" else 1
            if at >= end:
                return False
        elif text.startswith("//", at):
            at = text.find("\n", at)
            if at < 0:
                break
        else:
            depth += (text[at] in "{[(") - (text[at] in ")]}")
        at += 1
    return depth <= 0 and not _wants_more(text)


def _wants_more(text: str) -> bool:
    """A pattern without its `return` is half a query."""
    return text.lstrip().startswith("match") and "return" not in text


def _bindings() -> KeyBindings:
    bindings = KeyBindings()

    def enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    def newline(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    bindings.add("enter")(enter)
    bindings.add("escape", "enter")(newline)
    return bindings


def _history() -> History:
    home = Path(os.environ.get("OMNIGRAPH_HOME", "~/.omnigraph")).expanduser()
    try:
        home.mkdir(parents=True, exist_ok=True)
        path = home / "history"
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)


class WordCompleter(Completer):
    """Words of the language, and the types, edges and properties of the schema."""

    def __init__(self, catalog: Catalog) -> None:
        tables = (*catalog.interfaces, *catalog.nodes, *catalog.edges)
        self._properties = sorted({each.name for table in tables for each in table.properties} | {"@id"})
        self._types = sorted(table.name for table in (*catalog.interfaces, *catalog.nodes))
        edges = (edge.name[0].lower() + edge.name[1:] for edge in catalog.edges)
        self._words = sorted({*KEYWORDS, *FUNCTIONS, *AGGREGATES, *SEARCHES, *edges})

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Give what may stand here: properties behind a dot, types behind a colon."""
        del complete_event
        before = document.text_before_cursor
        word = document.get_word_before_cursor()
        word = word if word.replace("_", "").isalnum() else ""
        head = before[: len(before) - len(word)].rstrip()
        if head.endswith("."):
            words = self._properties
        elif head.endswith(":"):
            words = self._types
        else:
            words = [*self._words, *self._types, *self._properties]
        for each in dict.fromkeys(words):
            if each.lower().startswith(word.lower()):
                yield Completion(each, start_position=-len(word))
