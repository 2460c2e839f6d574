"""One pass over all keys: read, cut by key, brought together once, judged unit by unit; only verdicts come back."""

from __future__ import annotations

import base64
import pickle
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import orjson

from omnigraph.model.errors import OmniGraphError, Unavailable
from omnigraph.model.violations import Violations, keeping_all
from omnigraph.pipeline.jobs import answered, each, result_of, run
from omnigraph.pipeline.keys import facts
from omnigraph.pipeline.keys.facts import FACTS, Fact, from_batches, to_batches
from omnigraph.pipeline.keys.scatter import split_facts, stored_facts
from omnigraph.pipeline.keys.second_look import lost_ends, missing_ends
from omnigraph.pipeline.keys.units import judge_unit
from omnigraph.pipeline.keys.verdict import Findings, UnitReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import SparkSession

    from omnigraph.pipeline.keys.plan import KeyPlan

    Files = Mapping[str, Sequence[str]]
    """Files with ids, by the table of their nodes."""

_REPORT = "report binary"


class Passes(Protocol):
    """Goes over the keys of a load, here or elsewhere."""

    def verdicts(self, plan: KeyPlan) -> list[UnitReport]:
        """What all units say."""
        ...

    def look_again(self, plan: KeyPlan, missing: Files, lost: Files) -> Findings:
        """Which edges of the load, and which of the graph, end at ids that are not there."""
        ...


class SparkPasses:
    """In tasks."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def verdicts(self, plan: KeyPlan) -> list[UnitReport]:
        """What all units say: the keys are shuffled once, as packed tables."""
        sources = len(plan.splits) + len(plan.stored)

        def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield from to_batches(_facts(plan, number))

        def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import pyarrow as pa

            for given in from_batches(batches):
                answer = answered(lambda given=given: _judged(plan, given))
                yield pa.record_batch({"report": pa.array([answer], pa.binary())})

        numbers = self._session.range(0, sources, 1, numPartitions=sources)
        by_unit = numbers.mapInArrow(read, FACTS).repartition(plan.partitions, "unit").sortWithinPartitions("unit")
        rows = run(self._session, by_unit.mapInArrow(judge, _REPORT), plan.load_id)
        kept_max = Violations().kept_max
        return [UnitReport.from_bytes(result_of(bytes(row.report)), kept_max) for row in rows]

    def look_again(self, plan: KeyPlan, missing: Files, lost: Files) -> Findings:
        """Which edges of the load, and which of the graph, end at ids that are not there."""
        sources = len(plan.splits) + len(plan.stored)

        def look(number: int) -> bytes:
            with keeping_all(plan.skip):
                return orjson.dumps(_look(plan, number, missing, lost).to_json())

        kept_max = Violations().kept_max
        whole = Findings(kept_max)
        for part in each(self._session, sources, look, plan.load_id):
            whole.merge([Findings.from_json(orjson.loads(part), kept_max)])
        return whole


class PassesHere:
    """In this process, where there is no session: keys come together in files, and one unit is in memory at a time."""

    def verdicts(self, plan: KeyPlan) -> list[UnitReport]:
        """What all units say."""
        with tempfile.TemporaryDirectory(prefix="omnigraph-keys-") as folder:
            for number in range(len(plan.splits) + len(plan.stored)):
                for fact in _facts(plan, number):
                    with Path(folder, f"{fact.unit:06d}").open("ab") as file:
                        pickle.dump(fact, file)
            return [judge_unit(plan, list(_unpickled(path))) for path in sorted(Path(folder).iterdir())]

    def look_again(self, plan: KeyPlan, missing: Files, lost: Files) -> Findings:
        """Which edges of the load, and which of the graph, end at ids that are not there."""
        whole = Findings(Violations().kept_max)
        for number in range(len(plan.splits) + len(plan.stored)):
            whole.merge([_look(plan, number, missing, lost)])
        return whole


def _unpickled(path: Path) -> Iterator[Fact]:
    with path.open("rb") as file:
        while True:
            try:
                yield _checked(pickle.load(file))  # noqa: S301 - written above
            except EOFError:
                return


def _facts(plan: KeyPlan, number: int) -> Iterator[Fact]:
    """What a source has to say. An error that trying again would not mend travels to the driver as a fact."""
    splits = len(plan.splits)
    try:
        if number < splits:
            yield from split_facts(plan, plan.splits[number])
        else:
            yield from stored_facts(plan, plan.stored[number - splits], number - splits)
    except Unavailable:
        raise
    except OmniGraphError as error:
        yield Fact(plan.units, facts.ERROR, number, base64.b64encode(pickle.dumps(error)))


def _judged(plan: KeyPlan, given: list[Fact]) -> bytes:
    with keeping_all(plan.skip):
        return judge_unit(plan, [_checked(fact) for fact in given]).to_bytes()


def _checked(fact: Fact) -> Fact:
    if fact.name == facts.ERROR:
        raise pickle.loads(base64.b64decode(fact.data))  # noqa: S301 - our own task has written it
    return fact


def _look(plan: KeyPlan, number: int, missing: Files, lost: Files) -> Findings:
    splits = len(plan.splits)
    if number < splits:
        return missing_ends(plan, plan.splits[number], missing)
    return lost_ends(plan, number - splits, plan.stored[number - splits], lost)
