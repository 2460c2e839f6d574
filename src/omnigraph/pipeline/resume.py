"""A load whose driver died after everything was staged: published after all, or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.manifest.intents import INTENTS
from omnigraph.model.errors import NotFound, ReadSetConflict
from omnigraph.pipeline.load import SparkLoad, forget, publish_staged
from omnigraph.pipeline.staging import StagedLoad, staged_ids
from omnigraph.write.inputs import Input
from omnigraph.write.load import LoadOptions, LoadResult, Permits, target_of
from omnigraph.write.modes import LoadMode

if TYPE_CHECKING:
    from omnigraph.manifest import Commit, Repository
    from omnigraph.write.progress import Progress


def resume(
    repository: Repository,
    load_id: str,
    permits: Permits,
    *,
    drop: bool = False,
    progress: Progress | None = None,
) -> LoadResult | None:
    """Publish a staged load by its id, at most once; or drop it. Its fragments are used as they are."""
    staged = StagedLoad.find(repository.parts.store, load_id)
    if staged is None:
        if repository.parts.store.stat(f"{INTENTS}/{load_id}") is not None:
            raise NotFound(f"load {load_id} was not staged to its end: start it again", load=load_id)
        waiting = staged_ids(repository.parts.store)
        hint = f"; staged loads: {', '.join(waiting)}" if waiting else "; there is none"
        raise NotFound(f"there is no staged load {load_id!r}{hint}", load=load_id)
    if drop:
        forget(repository, load_id)
        return None
    options = LoadOptions(
        LoadMode(staged.mode),
        staged.branch,
        staged.base_branch,
        staged.actor,
        staged.if_commit,
        skip=staged.skip,
    )
    asked = SparkLoad(repository, Input(None), options, permits, progress=progress)
    landed = _landed(repository, staged)
    if landed is None:
        target = target_of(repository, options)
        if target.schema_hash != staged.schema_hash:
            raise ReadSetConflict("schema", expected=staged.schema_hash, actual=target.schema_hash)
        if repository.parts.store.stat(f"{INTENTS}/{load_id}") is None:
            raise NotFound(f"load {load_id} has expired and its files may be gone; start it again", load=load_id)
        result = publish_staged(asked, target, staged)
    else:
        result = LoadResult(
            staged.branch, staged.base_branch, False, options.mode, {}, {}, staged.actor, landed, "spark"
        )
    forget(repository, load_id)
    return result


def _landed(repository: Repository, staged: StagedLoad) -> Commit | None:
    """Its commit, if the driver died after it was published: the commit's id is the load's."""
    if not any(ref.name == staged.branch for ref in repository.branches()) and staged.branch != "main":
        return None
    return repository.lineage.find(repository.head_state(staged.branch), staged.load_id)
