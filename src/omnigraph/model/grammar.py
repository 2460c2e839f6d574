"""A parser from a grammar, by way of tables that were made before and lie beside it.

Making the tables takes longer than most queries, so they are shipped. Nothing is written where they are used: an
install may be read-only, and processes of several versions may share a machine. Tables of another grammar, or of
another release of the library, are not used: then the parser is made of the grammar, which is slower and not wrong.
`UPDATE_CASES=1 pytest tests/model/test_grammar.py` makes them anew.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lark.lexer import Lexer

GRAMMAR = "grammar.lark"
TABLES = "grammar.tables.json"
_OURS = ("lexer", "transformer")
"""Options that are classes and objects of ours: they are put in when tables are read."""


@dataclass(frozen=True)
class GrammarFile:
    """The grammar of a package, and how it is to be read."""

    package: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    lexer: type[Lexer] | str = "contextual"
    transformer: Any = None

    def parser(self) -> Lark:
        """The parser, from tables if they are of this grammar."""
        text = self._text()
        try:
            tables = json.loads(files(self.package).joinpath(TABLES).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return self.made(text)
        return self.loaded(tables) if tables["made_of"] == self._made_of(text) else self.made(text)

    def made(self, text: str | None = None) -> Lark:
        """The parser, made of the grammar."""
        grammar = self._text() if text is None else text
        return Lark(grammar, parser="lalr", lexer=self.lexer, transformer=self.transformer, **self.options)  # type: ignore[arg-type]

    def tables(self) -> str:
        """The tables to ship beside the grammar."""
        data, memo = self.made().memo_serialize([TerminalDef, Rule])
        data["options"] = {name: value for name, value in data["options"].items() if name not in _OURS}
        data["parser"]["lexer_conf"]["lexer_type"] = None
        return json.dumps({"made_of": self._made_of(self._text()), "data": data, "memo": memo}, separators=(",", ":"))

    def loaded(self, tables: Any) -> Lark:
        """The parser of tables."""
        data = tables["data"]
        data["options"] |= {"lexer": self.lexer, "transformer": self.transformer}
        data["parser"]["lexer_conf"]["lexer_type"] = self.lexer
        moves = data["parser"]["parser"]
        moves["tokens"] = _numbered(moves["tokens"])
        moves["states"] = {number: _numbered(row) for number, row in _numbered(moves["states"]).items()}
        return Lark.load({"data": data, "memo": _numbered(tables["memo"])})

    def _text(self) -> str:
        return files(self.package).joinpath(GRAMMAR).read_text(encoding="utf-8")

    def _made_of(self, text: str) -> str:
        """What tables depend on, in short."""
        parts = (lark.__version__, repr(sorted(self.options.items())), text)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _numbered(found: Mapping[str, Any]) -> dict[int, Any]:
    """JSON has texts for keys where there were numbers."""
    return {int(key): value for key, value in found.items()}
