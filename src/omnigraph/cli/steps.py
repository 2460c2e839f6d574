"""Steps of a migration as a person reads them: what happens to what, and whether stored rows are written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from omnigraph.model.types import PropType

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMING = frozenset({"kind", "type_kind", "type_name", "name", "property_name", "entity", "reason"})
_NOTED = frozenset({"touches_data", "data_check", "code"})


def step_text(step: Mapping[str, Any]) -> str:
    """A step in one line: `change property type of node Person.age: I32? → I64? (writes data)`."""
    kind = str(step["kind"]).replace("_", " ")
    if "reason" in step:
        return f"{kind} of {step['entity']}: {step['reason']}{_notes(step)}"
    facts = ", ".join(filter(None, (_change(step), *_details(step))))
    return f"{kind} of {_subject(step)}{f': {facts}' if facts else ''}{_notes(step)}"


def _subject(step: Mapping[str, Any]) -> str:
    renamed = step["kind"] in ("rename_type", "rename_property")
    name = step.get("type_name") or step.get("name") or (step["from"] if renamed else "")
    inner = step.get("property_name") or (step["from"] if step["kind"] == "rename_property" else None)
    return f"{step['type_kind']} {name}{f'.{inner}' if inner else ''}"


def _change(step: Mapping[str, Any]) -> str | None:
    if "from" not in step and "to" not in step:
        return None
    if step["kind"] in ("rename_type", "rename_property"):
        return f"now {step['to']}"
    return f"{_fact(step.get('from'))} → {_fact(step.get('to'))}"


def _details(step: Mapping[str, Any]) -> list[str]:
    if "constraint" in step:
        return [_written(step["constraint"])]
    hidden = _NAMING | _NOTED | {"from", "to"}
    shown = {key: value for key, value in step.items() if key not in hidden and value not in (None, [], {})}
    return [f"{key.replace('_', ' ')} {_fact(value)}" for key, value in shown.items()]


def _notes(step: Mapping[str, Any]) -> str:
    notes = ["writes data"] if step.get("touches_data") else []
    if step.get("data_check"):
        notes.append(f"checks stored rows: {step['data_check']['check'].replace('_', ' ')}")
    if step.get("code"):
        notes.append(str(step["code"]))
    return f" ({'; '.join(notes)})" if notes else ""


def _fact(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict) and "scalar" in value:
        return str(PropType.from_json(cast("dict[str, object]", value)))
    if isinstance(value, dict) and value.keys() == {"min", "max"}:
        bounds = cast("dict[str, int | None]", value)
        return f"{bounds['min']}..{'' if bounds['max'] is None else bounds['max']}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _written(constraint: dict[str, object]) -> str:
    from omnigraph.schema.constraints import Check, Range, constraint_from_json

    match declared := constraint_from_json(constraint):
        case Range():
            low, high = ("" if bound is None else str(bound) for bound in (declared.minimum, declared.maximum))
            return f"@range({declared.property}, {low}..{high})"
        case Check():
            return f"@check({declared.property}, {json.dumps(declared.pattern, ensure_ascii=False)})"
        case _:
            return f"@{type(declared).__name__.lower()}({', '.join(declared.properties)})"
