"""References to bytes outside of the graph: refused unless allowed, copied in where that is the rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa

from omnigraph.model.errors import OmniGraphError, ResourceLimit
from omnigraph.model.types import blob_uri_column
from omnigraph.model.violations import Violation, ViolationKind, Violations
from omnigraph.write.delta import TableDelta, column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

COPIED_BYTES_MAX = 32 * 2**20
URI_BYTES_MAX = 65_536


@dataclass(frozen=True)
class BlobPolicy:
    """Which references may be stored, by the start of their addresses, and how their bytes are fetched."""

    allowed: tuple[str, ...] = ()
    fetch: Callable[[str, int], bytes] | None = None
    """Gives the bytes at an address, if there are no more than so many."""
    copied_bytes_max: int = COPIED_BYTES_MAX

    def admit(
        self, deltas: Mapping[str, TableDelta], violations: Violations, *, keep_references: bool = False
    ) -> dict[str, TableDelta]:
        """Report references that are not allowed; copy the others in, unless they are to stay references."""
        admitted: dict[str, TableDelta] = {}
        for key, delta in deltas.items():
            for declared in delta.table.properties:
                if declared.type.is_blob and _has_references(delta, declared.name):
                    delta = self._admit(delta, declared.name, violations, keep_references)
            admitted[key] = delta
        return admitted

    def _admit(self, delta: TableDelta, name: str, violations: Violations, keep: bool) -> TableDelta:
        uris = column(delta.rows, blob_uri_column(name)).to_pylist()
        data = column(delta.rows, name).to_pylist()
        copied = 0
        for row, uri in enumerate(uris):
            if uri is None:
                continue
            fault = self._fault(uri)
            if fault is not None:
                self._report(delta, row, name, fault, violations)
            elif not keep:
                data[row] = self._fetch(delta, row, name, uri, violations, self.copied_bytes_max - copied)
                uris[row] = None
                copied += len(data[row] or b"")
        return _replaced(delta, name, data, uris)

    def _fault(self, uri: str) -> str | None:
        if len(uri.encode()) > URI_BYTES_MAX:
            return f"a reference has at most {URI_BYTES_MAX} bytes"
        if any(uri.startswith(base) and not _leads_out(uri[len(base) :]) for base in self.allowed):
            return None
        if not self.allowed:
            return f"the external reference {uri[:200]!r} is not allowed here; give the bytes as base64:…"
        return f"the external reference {uri[:200]!r} is not below an allowed address: {', '.join(self.allowed)}"

    def _fetch(
        self, delta: TableDelta, row: int, name: str, uri: str, violations: Violations, room: int
    ) -> bytes | None:
        try:
            return self.fetch(uri, room) if self.fetch is not None else None
        except ResourceLimit as error:
            actual = self.copied_bytes_max - room + int(str(error.facts["actual"]))
            raise ResourceLimit("external Blob object bytes", limit=self.copied_bytes_max, actual=actual) from None
        except OmniGraphError as error:
            self._report(delta, row, name, f"{uri} cannot be read: {error.message}", violations)
            return None

    @staticmethod
    def _report(delta: TableDelta, row: int, name: str, text: str, violations: Violations) -> None:
        place = delta.places.text(row) if delta.places is not None else None
        position = int(delta.places.numbers[row]) if delta.places is not None else row
        message = f"{delta.table.name}.{name}: {text}"
        entity_id = delta.ids[row].as_py()
        violations.add(Violation(ViolationKind.BLOB, message, delta.table.name, name, entity_id, place, position))


def _leads_out(rest: str) -> bool:
    """Whether the rest of an address may mean a place that is not below its start: who reads it decides that."""
    plain = unquote(unquote(rest))
    return "\\" in plain or any(part in (".", "..") for part in plain.split("/")) or not plain.isprintable()


def _replaced(delta: TableDelta, name: str, data: list[bytes | None], uris: list[str | None]) -> TableDelta:
    rows = delta.rows
    values: dict[str, pa.Array] = {
        name: pa.array(data, rows.schema.field(name).type),
        blob_uri_column(name): pa.array(uris, pa.string()),
    }
    for column_name, array in values.items():
        index = rows.schema.get_field_index(column_name)
        rows = rows.set_column(index, rows.schema.field(index), array)
    return TableDelta(delta.table, rows, delta.mode, delta.removed, delta.places)


def _has_references(delta: TableDelta, name: str) -> bool:
    uri = blob_uri_column(name)
    return uri in delta.rows.schema.names and column(delta.rows, uri).null_count < len(delta.ids)
