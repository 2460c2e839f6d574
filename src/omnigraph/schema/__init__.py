"""The schema language: `.pg` text in, a typed catalog out. No I/O."""

from omnigraph.schema.arrow import arrow_type, property_fields, table_key, table_schema, table_schemas
from omnigraph.schema.catalog import Catalog, EdgeType, InterfaceType, NodeType, Property, TypeKind
from omnigraph.schema.check import check, compile_schema
from omnigraph.schema.codec import decode_catalog, encode_catalog, schema_hash
from omnigraph.schema.evolve import MigrationPlan, plan_migration
from omnigraph.schema.format import format_schema
from omnigraph.schema.keys import derive_ids
from omnigraph.schema.lint import lint_schema
from omnigraph.schema.parse import parse
from omnigraph.schema.printer import print_schema

__all__ = [
    "Catalog",
    "EdgeType",
    "InterfaceType",
    "MigrationPlan",
    "NodeType",
    "Property",
    "TypeKind",
    "arrow_type",
    "check",
    "compile_schema",
    "decode_catalog",
    "derive_ids",
    "encode_catalog",
    "format_schema",
    "lint_schema",
    "parse",
    "plan_migration",
    "print_schema",
    "property_fields",
    "schema_hash",
    "table_key",
    "table_schema",
    "table_schemas",
]
