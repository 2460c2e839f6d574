"""Export: what a graph holds, as texts and files that can be loaded again. Pure reading of one snapshot."""

from omnigraph.export.files import ExportedFile, FilePlan, write_files
from omnigraph.export.lines import graph_lines, json_lines
from omnigraph.export.selection import Selection, select
from omnigraph.export.values import json_values

__all__ = [
    "ExportedFile",
    "FilePlan",
    "Selection",
    "graph_lines",
    "json_lines",
    "json_values",
    "select",
    "write_files",
]
