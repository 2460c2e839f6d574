"""What a disk's own clock says: files get its time, which moves in steps of some milliseconds."""

import time
from pathlib import Path
from tempfile import NamedTemporaryFile


def wait_for_tick(folder: Path | str) -> None:
    """Come back when a new file in a folder is newer than all that are there now."""
    first_ns = _now_ns(folder)
    while _now_ns(folder) <= first_ns:
        time.sleep(0.001)


def _now_ns(folder: Path | str) -> int:
    with NamedTemporaryFile(dir=folder) as file:
        return Path(file.name).stat().st_mtime_ns
