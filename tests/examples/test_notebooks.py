"""Each example has a notebook, which runs without anybody looking at it."""

import json
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*/*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.parent.name)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tmp_path / "kernels" / "tested"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "tested", "language": "python"}))
    for variable in ("JUPYTER_PATH", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(variable, str(tmp_path))  # nothing of the user's, and nothing left there
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=300,
        startup_timeout=300,
        kernel_name="tested",
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    assert any("text/html" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
