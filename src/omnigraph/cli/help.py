"""What `--help` teaches: commands in groups by task, in the order a newcomer meets them, each with examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

PANELS: dict[str, tuple[str, ...]] = {
    "Start": ("init", "load", "query", "mutate", "repl"),
    "Look": ("snapshot", "explain", "export", "blob", "schema"),
    "History": ("branch", "tag", "commit", "diff", "log", "blame", "revert", "cherry-pick", "changes"),
    "Texts": ("lint", "fmt", "embed"),
    "Upkeep": ("optimize", "index", "cleanup", "repair"),
    "Spark": ("analyze",),
    "Servers": ("serve", "mcp", "login", "logout", "profile", "alias", "graphs", "policy"),
    "More": ("version",),
}

EXAMPLES: dict[str, tuple[str, ...]] = {
    "init": ("omnigraph init --schema people.pg team.omni",),
    "load": (
        "omnigraph load --data people.jsonl --mode append team.omni",
        "omnigraph load --data new.csv --type Person --mode merge --branch review --from main team.omni",
    ),
    "query": (
        'omnigraph query by_name --query people.gq --params \'{"name": "ada"}\' --uri team.omni',
        "omnigraph query -e 'query all() { match { $p: Person } return { $p.name } }' --uri team.omni",
    ),
    "mutate": (
        "omnigraph mutate -e 'query born() { insert Person { name: \"ada\" } }' --uri team.omni",
        "omnigraph mutate hire --query people.gq --params-file ada.json --branch review --uri team.omni",
    ),
    "repl": ("omnigraph repl team.omni",),
    "snapshot": ("omnigraph snapshot team.omni --branch review",),
    "explain": ("omnigraph explain by_name --query people.gq --uri team.omni",),
    "export": ("omnigraph export team.omni --type Person > people.jsonl",),
    "blob get": ("omnigraph blob get node Person ada photo --out ada.png --uri team.omni",),
    "blob stat": ("omnigraph blob stat node Person ada photo --uri team.omni",),
    "schema show": ("omnigraph schema show team.omni",),
    "schema plan": ("omnigraph schema plan team.omni --schema people.pg",),
    "schema apply": ("omnigraph schema apply team.omni --schema people.pg",),
    "branch create": ("omnigraph branch create review/today --from main --uri team.omni",),
    "branch list": ("omnigraph branch list --uri team.omni",),
    "branch merge": (
        "omnigraph branch merge review/today --into main --dry-run --uri team.omni",
        "omnigraph branch merge review/today --into main --delete-branch --uri team.omni",
    ),
    "branch delete": ("omnigraph branch delete review/today --uri team.omni",),
    "tag create": ("omnigraph tag create v1 --uri team.omni", "omnigraph tag create v0 --from COMMIT --uri team.omni"),
    "commit list": ("omnigraph commit list team.omni",),
    "diff": ("omnigraph diff main review/today --uri team.omni",),
    "log": ("omnigraph log Person ada --uri team.omni",),
    "blame": ("omnigraph blame Person ada --uri team.omni",),
    "lint": ("omnigraph lint --schema people.pg --query people.gq",),
    "fmt": ("omnigraph fmt .", "omnigraph fmt --check people.pg people.gq"),
    "optimize": ("omnigraph optimize team.omni",),
    "cleanup": (
        "omnigraph cleanup team.omni --keep 20",
        "omnigraph cleanup team.omni --keep 20 --older-than 7d --confirm",
    ),
    "serve": ("omnigraph serve --graph team=team.omni",),
    "policy validate": ("omnigraph policy validate --policy policy.yaml",),
}


def teach(app: typer.Typer) -> None:
    """Group the commands and add their examples."""
    places = {name: (number, panel) for number, (panel, names) in enumerate(PANELS.items()) for name in names}
    for command in app.registered_commands:
        name = name_of(command)
        command.rich_help_panel = places.get(name, (0, "More"))[1]
    for group in app.registered_groups:
        group.rich_help_panel = places.get(str(group.name), (0, "More"))[1]
        if group.typer_instance is not None:
            _add_examples(group.typer_instance, f"{group.name} ")
    _add_examples(app, "")
    order = {name: number for number, name in enumerate(places)}
    app.registered_commands.sort(key=lambda command: order.get(name_of(command), len(order)))


def _add_examples(app: typer.Typer, prefix: str) -> None:
    for command in app.registered_commands:
        examples = EXAMPLES.get(prefix + name_of(command))
        if examples:
            command.epilog = "\n\n".join(("Examples:" if len(examples) > 1 else "Example:", *examples))


def name_of(command: object) -> str:
    """What a command is called by."""
    name = getattr(command, "name", None)
    callback = getattr(command, "callback", None)
    return str(name or getattr(callback, "__name__", "")).replace("_", "-")
