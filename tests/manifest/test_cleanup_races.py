"""Cleanup beside others: a branch or a tag that is being made, a reader that takes its time."""

from __future__ import annotations

import pytest

from omnigraph.manifest import Repository, Retention
from omnigraph.model import errors
from tests.support.graphs import PERSON, append, clean, ids_of, make, reopen


@pytest.fixture
def repo(tmp_path) -> Repository:
    repo = make(tmp_path / "g.omni")
    for key in "abc":
        append(repo, key)
    return repo


def clean_before_the_registry_is_written(repo: Repository, tmp_path, monkeypatch) -> None:
    """Another process cleans up when everything is prepared and only the registry entry is missing."""
    append_entry = repo.registry.append
    done: list[bool] = []

    def late(value):
        if not done:
            done.append(True)
            clean(reopen(tmp_path / "g.omni"), dry_run=False)
        return append_entry(value)

    monkeypatch.setattr(repo.registry, "append", late)


@pytest.mark.parametrize("make_ref", ["create_branch", "create_tag"])
def test_a_point_that_cleanup_gave_up_meanwhile_is_refused(repo, tmp_path, monkeypatch, make_ref) -> None:
    old = list(repo.commits())[2]
    clean_before_the_registry_is_written(repo, tmp_path, monkeypatch)
    with pytest.raises(errors.SnapshotReclaimed):
        getattr(repo, make_ref)("late", old.id)
    fresh = reopen(tmp_path / "g.omni")
    assert [ref.name for ref in fresh.branches()] == ["main"]
    assert fresh.tags() == []


@pytest.mark.parametrize("make_ref", ["create_branch", "create_tag"])
def test_a_point_that_stays_is_kept_whole(repo, tmp_path, monkeypatch, make_ref) -> None:
    clean_before_the_registry_is_written(repo, tmp_path, monkeypatch)
    getattr(repo, make_ref)("late")
    append(repo, "d")
    append(repo, "e")
    clean(reopen(tmp_path / "g.omni"), dry_run=False)
    fresh = reopen(tmp_path / "g.omni")
    state = fresh.resolve("late", fresh.registry.head())
    assert fresh.parts.tables.open(state.table(PERSON).ref).scan(["id"]).column("id").to_pylist() == ["a", "b", "c"]
    assert ids_of(fresh) == list("abcde")


def test_a_branch_being_deleted_while_cleanup_runs_takes_no_half_writes(repo, tmp_path) -> None:
    """It takes writes until its chain is closed, so the collect record has to be there as well."""
    repo.create_branch("work")
    writer = reopen(tmp_path / "g.omni")
    append(writer, "w", branch="work")

    def mark_deleting(refs):
        from dataclasses import replace

        ref = refs.live("work")
        return refs.with_branch(replace(ref, status="deleting"))

    txn = writer.begin("work")
    txn.append(PERSON, txn.table(PERSON).scan().slice(0, 0))
    plan = txn.plan("late")
    cleaner = reopen(tmp_path / "g.omni")
    finish = cleaner.finish_delete
    cleaner.finish_delete = lambda ref: None  # type: ignore[method-assign]
    cleaner.registry.update(mark_deleting)
    clean(cleaner, dry_run=False)
    with pytest.raises(errors.OmniGraphError):
        writer.publish(plan)
    finish(cleaner.registry.head().live("work"))
    assert [ref.name for ref in reopen(tmp_path / "g.omni").branches()] == ["main"]


def test_a_long_reader_goes_on_within_the_grace_and_is_told_after_it(repo, tmp_path) -> None:
    snapshot = reopen(tmp_path / "g.omni").snapshot()
    append(repo, "d")
    clean(repo, Retention(keep=1), dry_run=False)
    assert sorted(snapshot.table(PERSON).scan().column("id").to_pylist()) == ["a", "b", "c"]
    late = reopen(tmp_path / "g.omni").snapshot()
    append(repo, "e")
    clean(repo, dry_run=False)
    with pytest.raises(errors.SnapshotReclaimed):
        late.table(PERSON).scan()
