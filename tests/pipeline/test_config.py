"""Where Spark runs: what is said wins over the environment, which wins over the file."""

from pathlib import Path

import pytest

import omnigraph as og
from omnigraph.model.errors import BadRequest
from omnigraph.pipeline.config import SparkConfig, spark_config


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_nothing_said_is_embedded() -> None:
    config = spark_config(environ={})
    assert (config.master, config.remote, dict(config.conf)) == (None, None, {})


def test_the_caller_over_the_environment_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "omnigraph.toml").write_text(
        '[spark]\nmaster = "spark://file:7077"\n[spark.conf]\n"spark.a" = 1\n"spark.b" = true\n"spark.c" = "file"\n'
    )
    config = spark_config(environ={})
    assert config.master == "spark://file:7077"
    assert config.conf == {"spark.a": "1", "spark.b": "true", "spark.c": "file"}
    environ = {"SPARK_REMOTE": "sc://env:15002", "OMNIGRAPH_SPARK_CONF": "spark.b=false; spark.d = 2"}
    config = spark_config(environ=environ)
    assert (config.master, config.remote) == (None, "sc://env:15002")
    assert config.conf == {"spark.a": "1", "spark.b": "false", "spark.c": "file", "spark.d": "2"}
    config = spark_config("local[2]", ["spark.c=said=so"], environ)
    assert (config.master, config.remote) == ("local[2]", None)
    assert config.conf["spark.c"] == "said=so"
    assert spark_config("sc://said", environ=environ).remote == "sc://said"


def test_a_file_of_another_name(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('[spark]\nremote = "sc://there"\n')
    assert spark_config(environ={"OMNIGRAPH_CONFIG": "other.toml"}).remote == "sc://there"
    with pytest.raises(og.OmniGraphError, match=r"OMNIGRAPH_CONFIG names gone\.toml, which is not there"):
        spark_config(environ={"OMNIGRAPH_CONFIG": "gone.toml"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[spark", "cannot read omnigraph.toml: "),
        ("spark = 3", "spark is a table"),
        ('[spark]\nmater = "local"', r"\[spark\] has no 'mater'"),
        ("[spark]\nmaster = 3", "are strings"),
        ("[spark]\nconf = 3", "a table"),
        ('[spark]\nremote = "host:15002"', "sc://host:15002"),
    ],
)
def test_a_file_that_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "omnigraph.toml").write_text(text)
    with pytest.raises(og.OmniGraphError, match=message):
        spark_config(environ={})


@pytest.mark.parametrize("setting", ["spark.a", "=1", ""])
def test_a_setting_that_is_none(setting: str) -> None:
    with pytest.raises(og.OmniGraphError, match="is not KEY=VALUE"):
        spark_config(conf=[setting], environ={})


@pytest.mark.parametrize("master", ["local", "local[4]", "local[*, 4]", "yarn", "spark://host:7077", "k8s://https://x"])
def test_masters(master: str) -> None:
    assert SparkConfig(master).master == master


@pytest.mark.parametrize("master", ["", "loca[", "local[", "localhost", "7077"])
def test_what_is_no_master(master: str) -> None:
    with pytest.raises(BadRequest, match="no place where Spark runs"):
        SparkConfig(master)
