"""How Spark is set where data is small: what pays off after minutes only costs time here."""

from __future__ import annotations

import os
from pathlib import Path

from omnigraph.pipeline.session import LOGGING

ROOT = Path(__file__).parents[2]


def spark_conf() -> dict[str, str]:
    """Workers see these sources and the tests; few partitions, no compiling of what runs once."""
    return {
        "spark.executorEnv.PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": f"{LOGGING} -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    }
