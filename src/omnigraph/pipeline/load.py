"""A load on Spark: tasks read, type, check and write fragments; the driver holds keys together and publishes once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omnigraph.manifest.intents import INTENTS
from omnigraph.model.errors import BadRequest, OutcomeUnknown
from omnigraph.model.violations import keeping_all
from omnigraph.pipeline.counting import RowCounter
from omnigraph.pipeline.gather import gather
from omnigraph.pipeline.jobs import answered, result_of, run
from omnigraph.pipeline.keys.passes import PassesHere, SparkPasses
from omnigraph.pipeline.session import parallelism, spark_session
from omnigraph.pipeline.slices import travelling_options
from omnigraph.pipeline.splits import files_of, input_size, plan_splits
from omnigraph.pipeline.staging import StagedLoad, TaskReport, drop_files
from omnigraph.pipeline.tasks import TaskPlan, run_frames, run_split
from omnigraph.storage.tables import LanceTables
from omnigraph.write.inputs import kind_of, named_table, type_of_rows
from omnigraph.write.load import LoadOptions, LoadResult, Permits, Target, publish, target_of
from omnigraph.write.progress import announce

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from omnigraph.manifest import Repository
    from omnigraph.pipeline.config import SparkConfig
    from omnigraph.pipeline.keys.passes import Passes
    from omnigraph.pipeline.splits import Split
    from omnigraph.storage.address import Address
    from omnigraph.write.inputs import Input
    from omnigraph.write.progress import Progress

_REPORT = "report binary"
HERE = PassesHere()


@dataclass(frozen=True)
class SparkLoad:
    """A load that was asked for."""

    repository: Repository
    given: Input
    options: LoadOptions
    permits: Permits
    allowed_blobs: tuple[str, ...] = ()
    progress: Progress | None = None
    session: SparkSession | SparkConfig | None = None
    split_bytes: int | None = None


def load_on_spark(asked: SparkLoad) -> LoadResult:
    """Load on Spark: as one commit, or not at all."""
    repository, options = asked.repository, asked.options
    target = target_of(repository, options)
    splits, kind = _splits(asked, target)
    session = spark_session(asked.session)
    plan, store = begin(asked, target, kind, splits), repository.parts.store
    load_id = plan.load_id
    try:
        announce(asked.progress, load_id)
        staged = staged_load(asked, target, plan, _stage(session, plan, asked))
        tables = [table for report in staged.reports for table in report.tables.values()]
        options.limits.check(sum(table.rows for table in tables), sum(table.bytes for table in tables))
        if any(table.remap for report in staged.reports for table in report.tables.values()):
            staged = _respelt(session, asked, target, plan, staged)
        staged.save(store)
        result = publish_staged(asked, target, staged, SparkPasses(session))
    except OutcomeUnknown:
        raise  # it can be settled by its id: what is staged stays
    except BaseException:
        forget(repository, load_id)
        raise
    forget(repository, load_id)
    return result


def begin(asked: SparkLoad, target: Target, kind: str, splits: Sequence[Split] = ()) -> TaskPlan:
    """Note that a load is under way, so that cleanup leaves its files alone, and say what its tasks need to know."""
    repository, options = asked.repository, asked.options
    load_id = repository.parts.runtime.ids.ulid()
    state = repository.base_state(options.base_branch if target.is_new else options.branch, fresh=False)  # type: ignore[arg-type]
    repository.parts.store.put(f"{INTENTS}/{load_id}", f"{state.chain} {state.number}".encode())
    return TaskPlan(
        load_id,
        kind,
        tuple(splits),
        _address(repository),
        target.schema.catalog,
        {key: table.ref for key, table in state.tables.items()},
        options.mode,
        asked.given.strict,
        asked.given.type_name,
        asked.given.mapping,
        _input_options(asked.given, kind),
        asked.allowed_blobs,
        options.skip,
        options.limits,
    )


def publish_staged(asked: SparkLoad, target: Target, staged: StagedLoad, passes: Passes = HERE) -> LoadResult:
    """Check what was staged against the graph, and publish it.

    Also in a process that has no session of Spark, as the one in which Spark commits what a data source has written.
    """
    with keeping_all(staged.skip):
        gathered = gather(asked.repository, target.schema.catalog, staged, passes, is_new=target.is_new)
        return publish(asked.repository, target, gathered, asked.options, asked.progress, asked.permits)


def forget(repository: Repository, load_id: str) -> None:
    """Drop what a load keeps beside the tables; its fragments are garbage, which cleanup collects."""
    drop_files(repository.parts.store, load_id)
    repository.parts.store.delete([f"{INTENTS}/{load_id}"])


# -- what is asked for ---------------------------------------------------------------------------------------


def is_spark_frame(source: object) -> bool:
    """Whether a source is a Spark DataFrame, of a classic session or of Spark Connect."""
    return type(source).__module__.startswith("pyspark.sql") and hasattr(source, "mapInArrow")


def _splits(asked: SparkLoad, target: Target) -> tuple[list[Split], str]:
    """The pieces of the input; none for a Spark DataFrame, which has partitions of its own."""
    given = asked.given
    if is_spark_frame(given.source):
        kind = "frame"
    else:
        kind = kind_of(given)
        if (not isinstance(given.source, str) and not hasattr(given.source, "__fspath__")) or given.source == "-":
            raise BadRequest(
                "Spark loads files, folders, patterns and Spark DataFrames: rows in memory and standard input are for "
                "the local engine"
            )
    if kind == "jsonl":
        if given.type_name is not None or given.mapping:
            raise BadRequest("records name their types themselves: type and mapping are for frames, CSV and Parquet")
    else:
        for name in {type_of_rows(given, file) for file in (files_of(given) if kind != "frame" else [None])}:
            named_table(target.schema.catalog, name)
    if kind == "frame":
        return [], kind
    input_size(given)  # what is missing or not readable is said before anything is started
    session = spark_session(asked.session)
    return plan_splits(given, parallelism(session), split_bytes=asked.split_bytes), kind


def _address(repository: Repository) -> Address:
    """Where tasks find the graph."""
    tables = repository.parts.tables
    if not isinstance(tables, LanceTables):
        raise BadRequest("Spark needs a graph on a disk or in an object store")
    return tables.address


def _input_options(given: Input, kind: str) -> dict[str, str] | None:
    return given.options if kind == "frame" else travelling_options(given.source, given.options)


# -- the pass over the data ----------------------------------------------------------------------------------


def _stage(session: SparkSession, plan: TaskPlan, asked: SparkLoad) -> list[TaskReport]:
    """Every split, on whatever machine: one report for each, however often it was tried."""
    counter = RowCounter(session)
    frame, report = _source(session, plan, asked, counter), counter.report(asked.progress, "loading")
    rows = run(session, frame, plan.load_id, report)
    reports = [TaskReport.from_bytes(result_of(bytes(row.report))) for row in rows]
    return sorted(reports, key=lambda one: one.split)


def _source(session: SparkSession, plan: TaskPlan, asked: SparkLoad, counter: RowCounter) -> DataFrame:
    def counted(report: TaskReport) -> bytes:
        counter.add(report.numbers)
        return report.to_bytes()

    if plan.kind == "frame":
        frame: Any = asked.given.source

        def partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from pyspark import TaskContext

            context = TaskContext.get()
            assert context is not None
            index = context.partitionId()
            yield _answer(answered(lambda: counted(run_frames(plan, index, batches))))

        return frame.mapInArrow(partition, _REPORT)

    def split(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for index in batch.column(0).to_pylist():
                yield _answer(answered(lambda index=index: counted(run_split(plan, index))))

    count = len(plan.splits)
    return session.range(0, count, 1, numPartitions=count).mapInArrow(split, _REPORT)


def _answer(data: bytes) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.record_batch({"report": pa.array([data], pa.binary())})


def staged_load(asked: SparkLoad, target: Target, plan: TaskPlan, reports: list[TaskReport]) -> StagedLoad:
    """What tasks have reported, as one note."""
    options = asked.options
    files: dict[int, str] = {split.file: split.word for split in plan.splits} or {0: "row"}
    return StagedLoad(
        plan.load_id,
        options.branch,
        options.mode.value,
        target.schema_hash,
        tuple(files[index] for index in sorted(files)),
        tuple(reports),
        tuple(split.file for split in plan.splits) or (0,) * len(reports),
        tuple(split.start == 0 for split in plan.splits) or (True,) * len(reports),
        options.base_branch,
        options.actor,
        options.if_commit,
        options.skip,
    )


def _respelt(session: SparkSession, asked: SparkLoad, target: Target, plan: TaskPlan, staged: StagedLoad) -> StagedLoad:
    """Nodes were given by another spelling of their key, which edges of any split may use: a second pass knows it."""
    remaps: dict[str, dict[str, str]] = {}
    for report in staged.reports:
        for key, table in report.tables.items():
            remaps.setdefault(key, {}).update(table.remap)
    return staged_load(asked, target, plan, _stage(session, replace(plan, remaps=remaps), asked))
