"""A generated social network: people who follow each other, where they live, and what they like. Always the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import omnigraph as og
from omnigraph.storage.find import KEY

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = """
node Person { pid: String @key  name: String  age: I32  gender: enum(female, male) }
node City { cid: String @key  name: String }
node Country { name: String @key }
node Interest { name: String @key }
edge Follows: Person -> Person
edge LivesIn: Person -> City
edge InCountry: City -> Country
edge HasInterest: Person -> Interest
"""
INTERESTS = ("tennis", "photography", "fine dining", "chess", "running", "jazz", "sailing", "gardening", "go", "poetry")
COUNTRIES = ("Norway", "Chile", "Kenya", "Japan", "Canada", "France", "Peru", "India")
CITIES = 400
_BATCH = 1.1
"""Some pairs are drawn twice or of one person with himself: so many more are drawn."""


def make_tables(people: int, follows: int, seed: int = 7) -> dict[str, pa.Table]:
    """Rows of every table, keyed as the graph keys them."""
    rng = np.random.default_rng(seed)
    ids = np.array([f"p{n:07}" for n in range(people)], object)
    cities = np.array([f"c{n:04}" for n in range(CITIES)], object)
    ages = rng.integers(16, 90, people).astype(np.int32)
    gender = np.where(rng.random(people) < 0.5, "female", "male")
    nodes = {
        "node:Person": {"pid": ids, "name": [f"Name {n % 5000}" for n in range(people)], "age": ages, "gender": gender},
        "node:City": {"cid": cities, "name": [f"City {n}" for n in range(CITIES)]},
        "node:Country": {"name": list(COUNTRIES)},
        "node:Interest": {"name": list(INTERESTS)},
    }
    follower, followed = _pairs(people, follows, rng)
    lived = rng.zipf(1.3, people) % CITIES
    liked = rng.integers(0, len(INTERESTS), (people, 2))
    distinct = liked[:, 0] != liked[:, 1]
    fans = np.concatenate([np.arange(people), np.flatnonzero(distinct)])
    likes = np.concatenate([liked[:, 0], liked[distinct, 1]])
    edges = {
        "edge:Follows": (ids[follower], ids[followed]),
        "edge:LivesIn": (ids, cities[lived]),
        "edge:InCountry": (cities, np.array(COUNTRIES, object)[np.arange(CITIES) % len(COUNTRIES)]),
        "edge:HasInterest": (ids[fans], np.array(INTERESTS, object)[likes]),
    }
    tables = {key: pa.table({KEY: columns[next(iter(columns))], **columns}) for key, columns in nodes.items()}
    for key, (src, dst) in edges.items():
        names = [f"{key[5].lower()}{n}" for n in range(len(src))]
        tables[key] = pa.table({KEY: names, "src": pa.array(src, pa.string()), "dst": pa.array(dst, pa.string())})
    return tables


def _pairs(people: int, follows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Who follows whom: some are followed by many."""
    drawn = int(follows * _BATCH)
    follower = rng.integers(0, people, drawn)
    followed = np.minimum((rng.random(drawn) ** 1.7 * people).astype(np.int64), people - 1)
    followed = (followed * 7919) % people
    packed = np.unique(follower[follower != followed] * people + followed[follower != followed])
    chosen = np.sort(rng.permutation(len(packed))[:follows])
    return packed[chosen] // people, packed[chosen] % people


def make_graph(folder: Path, tables: dict[str, pa.Table]) -> None:
    """Load the tables into a graph, in one commit."""
    graph = og.init(folder, SCHEMA)

    def prepare(txn):
        for key, rows in tables.items():
            schema = txn.table(key).schema
            txn.append(key, rows.select(schema.names).cast(schema))
        return txn.plan("load")

    graph.write(prepare)


def write_parquet(folder: Path, tables: dict[str, pa.Table]) -> None:
    """Write the tables for the peers."""
    folder.mkdir()
    for key, rows in tables.items():
        pq.write_table(rows, folder / f"{key.partition(':')[2]}.parquet")
