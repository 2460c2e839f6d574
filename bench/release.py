"""What a release must do: the wheel, alone in an empty environment, runs the quickstart. `make release`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main(dist: Path) -> None:
    (wheel,) = dist.resolve().glob("*.whl")
    (sdist,) = dist.resolve().glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        started_s = time.perf_counter()
        venv.create(home / "env", with_pip=True)
        python = str(home / "env" / "bin" / "python")
        _run(python, "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt"), str(wheel))
        print(f"installed {wheel.name} in an empty environment in {time.perf_counter() - started_s:.0f} s")
        _run(python, str(ROOT / "tests" / "support" / "pages.py"), str(ROOT / "docs" / "quickstart.md"), folder=home)
    print(f"the quickstart runs with {wheel.name}; {sdist.name} is beside it")


def _run(*command: str, folder: Path | None = None) -> None:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if subprocess.run(command, cwd=folder, env=clean).returncode:
        raise SystemExit(f"failed: {' '.join(command)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
