"""Where Spark runs and how it is set: `omnigraph.toml`, the environment, and what a caller says, which wins."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from omnigraph.model.errors import BadRequest, NotFound
from omnigraph.model.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CONFIG_FILE = "omnigraph.toml"
_KEYS = {"master", "remote", "conf"}
_MASTER = re.compile(r"local(\[[^\]]+\])?|local-cluster\[[^\]]+\]|yarn|[a-z0-9+.-]+://.+")


@dataclass(frozen=True)
class SparkConfig:
    """How to get a session. Without master and remote it is embedded in this process."""

    master: str | None = None
    """`local[4]`, `spark://host:7077`, `yarn`, …"""

    remote: str | None = None
    """A Spark Connect address: `sc://host:15002`."""

    conf: Mapping[str, str] = field(default_factory=dict[str, str])
    """Spark's own settings, on top of what OmniGraph sets."""

    def __post_init__(self) -> None:
        """Refuse what is no address at all: Java would start first, and answer with a page of its own."""
        if self.master is not None and not _MASTER.fullmatch(self.master):
            known = "local[4], yarn, spark://host:7077, k8s://… or sc://host:15002"
            raise BadRequest(f"{self.master!r} is no place where Spark runs: use {known}", master=self.master)

    def over(self, other: SparkConfig) -> SparkConfig:
        """This, and the other's words where this has none."""
        master, remote = self.master, self.remote
        if master is None and remote is None:
            master, remote = other.master, other.remote
        return SparkConfig(master, remote, {**other.conf, **self.conf})


def spark_config(
    master: str | None = None, conf: Iterable[str] = (), environ: Mapping[str, str] = os.environ
) -> SparkConfig:
    """What was asked for, over the environment, over `omnigraph.toml`. `conf` are settings as KEY=VALUE."""
    asked = _placed(master, dict(_setting(each) for each in conf))
    return asked.over(_from_environment(environ)).over(_from_file(environ))


def _placed(address: str | None, conf: Mapping[str, str]) -> SparkConfig:
    """One word says where: `sc://…` is Spark Connect, all else a master."""
    if address is not None and address.startswith("sc://"):
        return SparkConfig(remote=address, conf=conf)
    return SparkConfig(master=address, conf=conf)


def _setting(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise BadRequest(f"the Spark setting {text!r} is not KEY=VALUE")
    return key.strip(), value.strip()


def _from_environment(environ: Mapping[str, str]) -> SparkConfig:
    conf = dict(_setting(each) for each in environ.get("OMNIGRAPH_SPARK_CONF", "").split(";") if each.strip())
    address = environ.get("OMNIGRAPH_SPARK_MASTER") or environ.get("SPARK_REMOTE") or environ.get("MASTER")
    return _placed(address or None, conf)


def _from_file(environ: Mapping[str, str]) -> SparkConfig:
    named = environ.get("OMNIGRAPH_CONFIG")
    path = Path(named) if named else Path(CONFIG_FILE)
    try:
        document = tomllib.loads(read_text(path))
    except NotFound:
        if named:
            raise BadRequest(f"OMNIGRAPH_CONFIG names {named}, which is not there") from None
        return SparkConfig()
    except ValueError as error:
        raise BadRequest(f"cannot read {path}: {error}") from None
    return _read_section(document.get("spark", {}), path)


def _read_section(section: object, path: Path) -> SparkConfig:
    if not isinstance(section, dict):
        raise BadRequest(f"{path}: spark is a table: [spark]")
    given = cast("dict[str, Any]", section)
    unknown = sorted(given.keys() - _KEYS)
    if unknown:
        raise BadRequest(f"{path}: [spark] has no {unknown[0]!r}; use master, remote and [spark.conf]")
    if str(given.get("remote", "sc://")).partition("://")[0] != "sc":
        raise BadRequest(f"{path}: [spark] remote is the address of Spark Connect: sc://host:15002")
    conf = given.get("conf", {})
    places = [given.get("master"), given.get("remote")]
    if not isinstance(conf, dict) or not all(one is None or isinstance(one, str) for one in places):
        raise BadRequest(f"{path}: [spark] master and remote are strings, [spark.conf] a table")
    settings = {key: _text(value) for key, value in cast("dict[str, Any]", conf).items()}
    return SparkConfig(places[0], places[1], settings)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
