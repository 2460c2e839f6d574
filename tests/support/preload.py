"""Importing this imports what processes of tests need, and starts nothing: a process that did it may be forked.

What the pipeline and the server need is left out: their processes are few, and Spark must not meet a fork.
"""

import importlib
import pkgutil
import warnings

import omnigraph

LEFT_OUT = ("omnigraph.__main__", "omnigraph.pipeline", "omnigraph.server", "omnigraph.mcp")
OTHERS = ("duckdb", "httpx", "lance", "numpy", "obstore", "sqlglot", "tests.support.graphs", "tests.support.social")

# Lance warns before each fork, because its threads would be missing in the child. Here it has none yet.
warnings.filterwarnings("ignore", message="lance is not fork-safe")
for module in pkgutil.walk_packages(omnigraph.__path__, "omnigraph."):
    if not module.name.startswith(LEFT_OUT):
        importlib.import_module(module.name)
for name in OTHERS:
    importlib.import_module(name)
