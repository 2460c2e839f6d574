"""The page of errors is made from the classes: `python -m tests.docs.errors_page` writes it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

import omnigraph
from omnigraph.model import errors
from omnigraph.policy.decide import PolicyFailed

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
WHAT_TO_DO = {
    errors.BadRequest: "Change the request: the same one will never succeed. The message says what, and where.",
    errors.NotFound: "Check the name. The message lists what is there, or the nearest names.",
    errors.Conflict: "Somebody else was first. Look again, then try again.",
    errors.PreconditionFailed: "Your own condition does not hold any more. Look again, and decide anew.",
    errors.Denied: "Ask for permission, or check the credentials.",
    errors.ResourceLimit: "Ask for less at once, or raise the limit that the message names.",
    errors.Cancelled: "Nothing: somebody called the work off, and nothing was changed.",
    errors.Unavailable: "Wait and try again. A commit in doubt is named by its id: look it up before you repeat it.",
    PolicyFailed: "An operator has to look at the policy. Nothing is permitted until then.",
}
HEAD = """# Errors

Every error this package raises on purpose is an `og.OmniGraphError`. Below it there are {count} groups, by what you can
do. Each error carries its facts: `error.facts` is a dictionary, and the text is made from it. `error.code` is what the
server answers and what `--json` prints.

```python
import omnigraph as og

try:
    og.open("nowhere.omni")
except og.OmniGraphError as error:
    assert error.code == "bad_request"
    assert error.facts["uri"].endswith("nowhere.omni")
```

On the command line every error is one message on standard error and exit code 1; a wrong use of a command is 2, a lost
`--if-commit` is 4. A traceback is a defect of ours.
"""


def every_error() -> list[type[errors.OmniGraphError]]:
    """All classes of the tree, wherever they are defined."""
    for module in pkgutil.walk_packages(omnigraph.__path__, "omnigraph."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return _below(errors.OmniGraphError)


def _below(kind: type[errors.OmniGraphError]) -> list[type[errors.OmniGraphError]]:
    return [found for each in kind.__subclasses__() for found in (each, *_below(each))]


def page() -> str:
    """The text of the page."""
    public = sorted({each for each in every_error() if each.__name__[0] != "_"}, key=lambda each: each.__name__)
    parts = [HEAD.format(count=len(WHAT_TO_DO))]
    for group, advice in WHAT_TO_DO.items():
        parts.append(f"## {group.__name__}\n\n{_meaning(group)} Code `{group.code}`. **What to do:** {advice}\n")
        members = [each for each in public if issubclass(each, group) and each is not group]
        if members:
            rows = [f"| `{each.__name__}` | `{each.code}` | {_meaning(each)} |" for each in members]
            parts.append("\n".join(["| error | code | meaning |", "| --- | --- | --- |", *rows]) + "\n")
    return "\n".join(parts)


def _meaning(kind: type[errors.OmniGraphError]) -> str:
    return " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page())
