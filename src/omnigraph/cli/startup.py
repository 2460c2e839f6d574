"""What keeps the start of a command short."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING

from omnigraph.cli.help import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    import typer


class _NotForArrow(MetaPathFinder):
    """Arrow loads pandas, if it is installed, to ask whether the first scalar it makes is one of its columns.

    That takes longer than most commands, none of which has such a column. Whoever imports pandas for itself gets it.
    """

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Find nothing, and say that there is nothing while Arrow is being loaded."""
        del path, target
        if name == "pandas":
            loading = sys.modules.get("pyarrow.dataset")
            if loading is not None and not hasattr(loading, "write_dataset"):
                raise ModuleNotFoundError("pandas is not needed yet", name=name)
        return None


def only_what_is_asked_for(app: typer.Typer, arguments: Sequence[str]) -> None:
    """Leave out the commands that are not called: making all of them ready takes longer than most of them."""
    asked = arguments[0] if arguments else ""
    names = [name_of(command) for command in app.registered_commands]
    groups = [str(group.name) for group in app.registered_groups]
    if asked not in (*names, *groups):
        return  # help, a completion, or a word that is near to one of them
    kept = {asked, *names[:2]}  # with one alone, its name would not be expected
    app.registered_commands[:] = [command for command in app.registered_commands if name_of(command) in kept]
    app.registered_groups[:] = [group for group in app.registered_groups if group.name == asked]


def leave_pandas_for_later() -> None:
    """Have pandas loaded only by what asks for it. For a process that is ours alone: others may mix it with Arrow."""
    sys.meta_path.insert(0, _NotForArrow())
