"""The durable half on a local disk: writes, branches, tags, time travel, conflicts, cleanup."""

from __future__ import annotations

import threading
import time

import pytest

from omnigraph.manifest import Repository, Retention
from omnigraph.manifest.maintain import Maintenance
from omnigraph.manifest.naming import write_first_entry
from omnigraph.model import errors
from omnigraph.storage.tiers import fragments_bound
from tests.support.forks import forking
from tests.support.graphs import PERSON, append, clean, delete, ids_of, make, parts, reopen, rows, upsert


@pytest.fixture
def repo(tmp_path) -> Repository:
    return make(tmp_path / "g.omni")


def test_a_commit_is_visible_whole_and_to_other_processes(repo, tmp_path) -> None:
    first = append(repo, "a", "b")
    upsert(repo, "b", "c", v=7)
    other = reopen(tmp_path / "g.omni")
    assert ids_of(other) == ["a", "b", "c"]
    assert ids_of(other, commit=first.commit.id) == ["a", "b"]
    delete(other, "a")
    assert ids_of(repo) == ["b", "c"]
    assert [commit.operation for commit in repo.commits()] == ["mutate", "mutate", "load", "init"]


def test_no_change_makes_no_commit(repo) -> None:
    before = repo.head_state("main").number
    assert delete(repo, "nobody") is None
    assert repo.head_state("main").number == before


def test_staged_content_can_be_read_before_publish(repo) -> None:
    txn = repo.begin()
    txn.append(PERSON, rows("x"))
    assert txn.table(PERSON).row_count == 1
    assert ids_of(repo) == []


def test_branches_fork_from_branch_tag_and_commit(repo) -> None:
    first = append(repo, "a")
    append(repo, "b")
    repo.create_tag("v1", first.commit.id)
    repo.create_branch("team/work")
    repo.create_branch("team", first.commit.id)  # no restriction between a name and its prefix
    repo.create_branch("from-tag", "v1")
    append(repo, "c", branch="team/work")
    assert ids_of(repo, "team/work") == ["a", "b", "c"]
    assert ids_of(repo, "team") == ids_of(repo, "from-tag") == ["a"]
    assert ids_of(repo) == ["a", "b"]
    assert [commit.operation for commit in repo.commits("team/work")] == ["load", "load", "load", "init"]


def test_a_commit_read_through_a_fork_does_not_hide_its_branch(repo, tmp_path) -> None:
    append(repo, "1")
    repo.create_branch("work")
    made = append(repo, "2", branch="work")
    repo.create_branch("early", "work")
    fresh = reopen(tmp_path / "g.omni")
    fresh.snapshot(commit=made.commit.id)  # found in the lineage of "early", which comes first
    assert ids_of(fresh, "work") == ["1", "2"]


def test_a_deleted_branch_refuses_its_writers_and_can_be_made_again(repo, tmp_path) -> None:
    repo.create_branch("b")
    other = reopen(tmp_path / "g.omni")
    append(other, "x", branch="b")
    txn = other.begin("b")
    txn.append(PERSON, rows("y"))
    repo.delete_branch("b")
    with pytest.raises(errors.BranchNotFound):
        other.publish(txn.plan("load"))
    repo.create_branch("b")
    assert ids_of(other, "b") == []


@pytest.mark.parametrize("name", ["", "a b", "../x", "a//b", "__x", "-x", "a\x00b", "a:b", "x" * 201, "a\ud800"])
def test_garbage_names_are_refused(repo, name) -> None:
    with pytest.raises(errors.InvalidName):
        repo.create_branch(name)


def test_bad_names_say_what_is_wrong(repo) -> None:
    with pytest.raises(errors.InvalidName, match="main"):
        repo.create_branch("main")
    with pytest.raises(errors.InvalidName, match="main"):
        repo.delete_branch("main")
    with pytest.raises(errors.BranchNotFound, match="branches here: main"):
        repo.delete_branch("nope")
    repo.create_branch("b")
    with pytest.raises(errors.AlreadyExists):
        repo.create_branch("b")
    with pytest.raises(errors.CommitNotFound):
        repo.create_branch("c", "01ARZ3NDEKTSV4RRFFQ69G5FAV")


def test_a_folder_that_is_no_graph(tmp_path) -> None:
    (tmp_path / "stuff").mkdir()
    (tmp_path / "stuff" / "notes.txt").write_text("hello")
    with pytest.raises(errors.NotAGraph, match="omnigraph init"):
        reopen(tmp_path / "stuff")
    assert [path.name for path in (tmp_path / "stuff").iterdir()] == ["notes.txt"]


def test_init_refuses_an_existing_graph(repo, tmp_path) -> None:
    append(repo, "a")
    with pytest.raises(errors.AlreadyExists):
        make(tmp_path / "g.omni")
    assert ids_of(repo) == ["a"]


@pytest.mark.parametrize("size", [0, 100])
def test_a_manifest_cut_short_is_a_typed_error(repo, tmp_path, size) -> None:
    append(repo, "a")
    path = tmp_path / "g.omni" / repo.main().chain.path(1)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(errors.CorruptObject):
        ids_of(reopen(tmp_path / "g.omni"))


def test_a_damaged_manifest_is_a_typed_error(repo, tmp_path) -> None:
    """Or the damage is in padding, and nothing depends on it."""
    append(repo, "a")
    path = tmp_path / "g.omni" / repo.main().chain.path(1)
    whole = path.read_bytes()
    expected, refused = repo.head_state("main"), 0
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            assert reopen(tmp_path / "g.omni").head_state("main") == expected
        except (errors.CorruptObject, errors.FormatTooNew):
            refused += 1
    assert refused > 10


def test_a_newer_format_is_refused(repo, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("omnigraph.manifest.rows.FORMAT", 99)
    append(repo, "a")
    monkeypatch.undo()
    with pytest.raises(errors.FormatTooNew, match="upgrade omnigraph first"):
        reopen(tmp_path / "g.omni")


# -- conflicts -------------------------------------------------------------------------------------------


def test_crossing_read_sets_one_must_lose(repo) -> None:
    one, two = repo.begin(), repo.begin()
    one.depends_on("node:City", "added")
    one.append(PERSON, rows("p"))
    two.depends_on(PERSON, "added")
    two.append("node:City", rows("c"))
    repo.publish(one.plan("load"))
    with pytest.raises(errors.ReadSetConflict) as caught:
        repo.publish(two.plan("load"))
    assert caught.value.member == "node:Person.added"
    assert (caught.value.expected, caught.value.actual) == (0, 1)


def test_an_append_is_rebased_and_an_unrelated_read_survives(repo) -> None:
    txn = repo.begin()
    txn.depends_on(PERSON, "removed")
    txn.append(PERSON, rows("late"))
    append(repo, "early")
    assert repo.publish(txn.plan("load")).commit.number == 2
    assert ids_of(repo) == ["early", "late"]


def test_a_staged_upsert_on_a_moved_base_never_resurrects_or_doubles(repo) -> None:
    append(repo, "a", "b")
    txn = repo.begin()
    txn.change(PERSON, rows("a", v=2))
    delete(repo, "a")
    with pytest.raises(errors.TableConflict) as caught:
        repo.publish(txn.plan("mutate"))
    assert caught.value.table_key == PERSON
    assert ids_of(repo) == ["b"]
    txn = repo.begin()
    txn.change(PERSON, rows("new"))
    append(repo, "new")
    with pytest.raises(errors.TableConflict, match="added since"):
        repo.publish(txn.plan("mutate"))
    assert ids_of(repo) == ["b", "new"]


def test_a_staged_upsert_rebases_over_what_it_does_not_touch(repo) -> None:
    append(repo, "a")
    txn = repo.begin()
    txn.change(PERSON, rows("a", "n", v=5))
    append(repo, "b")
    repo.publish(txn.plan("mutate"))
    assert ids_of(repo) == ["a", "b", "n"]


def test_if_commit_holds_or_fails(repo) -> None:
    head = append(repo, "a").commit.id
    txn = repo.begin()
    txn.append(PERSON, rows("b"))
    repo.publish(txn.plan("load", if_commit=head))
    txn = repo.begin()
    txn.append(PERSON, rows("c"))
    with pytest.raises(errors.HeadMoved) as caught:
        repo.publish(txn.plan("load", if_commit=head))
    assert caught.value.expected == head
    assert ids_of(repo) == ["a", "b"]


def test_epoch_shuts_out_writers_that_opened_before(repo, tmp_path) -> None:
    repo.create_branch("b")
    old = reopen(tmp_path / "g.omni")
    append(old, "x", branch="b")
    repo.raise_epoch()
    for branch in ("main", "b"):
        with pytest.raises(errors.Fenced):
            append(old, "y", branch=branch)
    append(repo, "z")
    append(reopen(tmp_path / "g.omni"), "w", branch="b")


def test_maintenance_does_not_conflict_with_strict_writers(tmp_path) -> None:
    quiet = make(tmp_path / "g.omni", auto_fold=False)
    for number in range(8):
        append(quiet, f"k{number}")
    waiting = quiet.begin()
    waiting.depends_on(PERSON, "added", "removed", "changed")
    waiting.append("node:City", rows("mine"))
    appending = quiet.begin()
    appending.append(PERSON, rows("tail"))
    folder = reopen(tmp_path / "g.omni")
    before = folder.head_state("main")
    keeper = Maintenance(
        folder.main(), folder.parts.tables, folder.lineage, folder.parts.runtime, folder.parts.durability
    )
    folded = keeper.after_write(before, [PERSON])
    assert folded is not None
    assert (folded.kind, folded.head, folded.number) == ("neutral", before.head, before.number + 1)
    assert len(folder.snapshot().table(PERSON).fragments()) == 1
    quiet.publish(waiting.plan("load"))
    quiet.publish(appending.plan("load"))
    assert len(ids_of(folder)) == 9


def test_a_strict_change_whose_fragments_were_folded_is_staged_again_not_refused(tmp_path) -> None:
    quiet = make(tmp_path / "g.omni", auto_fold=False)
    for number in range(8):
        append(quiet, f"k{number}")
    attempts: list[int] = []

    def prepare(txn):
        attempts.append(1)
        txn.change(PERSON, rows("k3", v=9))
        if len(attempts) == 1:
            folder = reopen(tmp_path / "g.omni")
            parts = folder.parts
            keeper = Maintenance(folder.main(), parts.tables, folder.lineage, parts.runtime, parts.durability)
            assert keeper.after_write(folder.head_state("main"), [PERSON]) is not None
        return txn.plan("mutate")

    assert quiet.write(prepare, strict=True) is not None
    assert len(attempts) == 2
    assert len(ids_of(quiet)) == 8


def test_fragments_stay_logarithmic_and_rows_stay_exact(repo) -> None:
    for number in range(150):
        append(repo, f"k{number:03}")
    assert ids_of(repo) == [f"k{number:03}" for number in range(150)]
    fragments = len(repo.snapshot().table(PERSON).fragments())
    assert fragments <= fragments_bound(150)
    assert sum(commit.operation == "load" for commit in repo.commits()) == 150


def test_lineage_folds_and_every_commit_stays_openable(repo, monkeypatch) -> None:
    monkeypatch.setattr("omnigraph.manifest.lineage.RECENT_MAX", 6)
    monkeypatch.setattr("omnigraph.manifest.lineage.RECENT_KEPT", 2)
    commits = [append(repo, f"k{number:02}").commit.id for number in range(40)]
    repo.create_branch("b", commits[10])
    append(repo, "tail", branch="b")
    assert [commit.id for commit in repo.commits()][:40] == commits[::-1]
    assert len(list(repo.commits("b"))) == 13
    for number, commit in enumerate(commits):
        assert len(ids_of(repo, commit=commit)) == number + 1


# -- threads and processes -------------------------------------------------------------------------------


def test_group_commit_gives_each_plan_its_own_commit_and_snapshot(repo) -> None:
    results = {}

    def work(name: str) -> None:
        results[name] = append(repo, name)

    threads = [threading.Thread(target=work, args=(f"t{number:02}",)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ids_of(repo) == sorted(results)
    numbers = {published.commit.number for published in results.values()}
    assert len(numbers) < 24, "waiting plans shared chain entries"
    seen: set[str] = set()
    for commit in reversed(list(repo.commits())[:-1]):
        now = set(ids_of(repo, commit=commit.id))
        assert len(now - seen) == 1
        assert seen < now
        seen = now


def _race(uri: str, worker: int, commits: int, out, branch: str = "main") -> None:
    repository = reopen(uri)
    slowest = 0.0
    losses = 0
    for number in range(commits):
        started = time.perf_counter()
        published = append(repository, f"{worker:02}-{number:02}", branch=branch)
        slowest = max(slowest, time.perf_counter() - started)
        losses += published.losses
        out.put(("commit", published.commit.id, f"{worker:02}-{number:02}"))
    out.put(("done", slowest, losses))


def race(uri: str, workers: int, commits: int, branches: list[str]) -> tuple[dict[str, str], float, int]:
    context = forking()
    out = context.Queue()
    processes = [
        context.Process(target=_race, args=(uri, worker, commits, out, branches[worker % len(branches)]))
        for worker in range(workers)
    ]
    for process in processes:
        process.start()
    acknowledged: dict[str, str] = {}
    slowest, losses, done = 0.0, 0, 0
    while done < workers:
        kind, first, second = out.get(timeout=300)
        if kind == "commit":
            assert first not in acknowledged
            acknowledged[first] = second
        else:
            done, slowest, losses = done + 1, max(slowest, first), losses + second
    for process in processes:
        process.join()
        assert process.exitcode == 0
    return acknowledged, slowest, losses


@pytest.mark.slow
@pytest.mark.xdist_group("race")
def test_sixteen_processes_on_one_branch_on_disk(tmp_path, figure) -> None:
    uri = str(tmp_path / "g.omni")
    repository = make(uri)
    acknowledged, slowest, losses = race(uri, 16, 25, ["main"])
    assert len(acknowledged) == 400
    assert ids_of(repository) == sorted(acknowledged.values())
    lineage = [commit.id for commit in repository.commits()][:-1]
    assert sorted(lineage) == sorted(acknowledged)
    figure(f"16 processes x 25 commits to one branch on disk: slowest commit {slowest:.2f} s, races lost {losses}")


@pytest.mark.slow
@pytest.mark.xdist_group("race")
def test_sixteen_processes_on_sixteen_branches_never_retry(tmp_path) -> None:
    uri = str(tmp_path / "g.omni")
    repository = make(uri)
    names = [f"agent/{number}" for number in range(16)]
    for name in names:
        repository.create_branch(name)
    acknowledged, _, losses = race(uri, 16, 5, names)
    assert (len(acknowledged), losses) == (80, 0)


# -- cleanup ---------------------------------------------------------------------------------------------


def test_cleanup_previews_then_reclaims_and_keeps_what_is_reachable(repo, tmp_path) -> None:
    commits = [upsert(repo, "a", f"n{number}", v=number).commit.id for number in range(12)]
    repo.create_tag("keep", commits[3])
    repo.create_branch("b", commits[5])
    preview = clean(repo)
    assert preview.dry_run
    assert preview.versions_stripped > 0
    assert len(ids_of(repo, commit=commits[0])) == 2
    done = clean(repo, dry_run=False)
    assert done.bytes > 0
    fresh = reopen(tmp_path / "g.omni")
    assert len(ids_of(fresh)) == 13
    assert len(ids_of(fresh, "b")) == 7
    assert len(fresh.resolve("keep", fresh.registry.head()).tables) == 2
    with pytest.raises(errors.SnapshotReclaimed):
        ids_of(fresh, commit=commits[0])
    with pytest.raises(errors.SnapshotReclaimed):
        fresh.create_branch("late", commits[0])
    assert len(list(fresh.commits())) == 13, "lineage outlives cleanup"
    append(fresh, "after")
    assert "after" in ids_of(fresh)


def test_cleanup_within_the_grace_touches_nothing(repo) -> None:
    commits = [append(repo, f"k{number}").commit.id for number in range(5)]
    done = clean(repo, Retention(keep=1), dry_run=False)
    assert (done.versions_stripped, done.files) == (0, {})
    assert len(ids_of(repo, commit=commits[0])) == 1


@pytest.mark.parametrize("traffic", [False, True])
def test_a_parked_writer_that_wakes_after_cleanup_stages_again(repo, tmp_path, traffic) -> None:
    append(repo, "a")
    parked = reopen(tmp_path / "g.omni")
    attempts = []

    def prepare(txn):
        txn.append(PERSON, rows("parked"))
        attempts.append(1)
        if len(attempts) == 1:
            if traffic:
                append(repo, "other")
            clean(repo, dry_run=False)
        return txn.plan("load")

    parked.write(prepare)
    assert len(attempts) == 2
    assert "parked" in ids_of(repo)
    clean(repo, dry_run=False)
    assert "parked" in ids_of(reopen(tmp_path / "g.omni"))


def test_an_intent_that_the_record_lists_may_publish(repo, tmp_path) -> None:
    repo.parts.store.put("__intents/job1", b"")
    txn = repo.begin(intent="job1")
    txn.append(PERSON, rows("long"))
    clean(repo, dry_run=False)
    repo.publish(txn.plan("load"))
    assert ids_of(reopen(tmp_path / "g.omni")) == ["long"]


def test_a_writer_that_slept_over_a_cleanup_cannot_fork_history(repo, tmp_path) -> None:
    sleeper = reopen(tmp_path / "g.omni")
    sleeper.head_state("main")
    for number in range(20):
        append(repo, f"k{number}")
    clean(repo, dry_run=False)
    append(sleeper, "z")
    assert len(ids_of(repo)) == 21
    assert len(list(repo.commits())) == 22


def test_a_deleted_branch_leaves_only_what_forks_need(repo, tmp_path) -> None:
    repo.create_branch("b")
    for number in range(3):
        append(repo, f"b{number}", branch="b")
    repo.create_branch("c", "b")
    repo.delete_branch("b")
    clean(repo, dry_run=False)
    assert ids_of(reopen(tmp_path / "g.omni"), "c") == ["b0", "b1", "b2"]
    with pytest.raises(errors.BranchNotFound):
        ids_of(repo, "b")


def test_deleted_branches_do_not_stay_in_the_registry(repo, tmp_path) -> None:
    """Nor do their writers come back to life: the numbers of their chains stay."""
    writer = reopen(tmp_path / "g.omni")
    repo.create_branch("gone")
    append(writer, "a", branch="gone")
    parked = writer.begin("gone")
    parked.append(PERSON, rows("late"))
    plan = parked.plan("late")
    for number in range(20):
        repo.create_branch(f"agents/{number}")
        repo.delete_branch(f"agents/{number}")
    repo.delete_branch("gone")
    for _ in range(3):
        clean(repo, dry_run=False)
    refs = reopen(tmp_path / "g.omni").registry.head()
    assert refs.branches.keys() == {"main"}
    assert refs.kept_from.keys() <= {"main"}
    with pytest.raises(errors.BranchNotFound):
        writer.publish(plan)


def test_a_half_made_branch_is_collected(repo) -> None:
    state = repo.head_state("main")
    write_first_entry(repo, "ghost", state, repo.registry.head(), None)
    done = clean(repo, dry_run=False)
    assert any(path.startswith("__manifest/") for path in done.files)
    repo.create_branch("ghost")


def test_fsync_durability_writes_and_reads(tmp_path) -> None:
    repository = make(tmp_path / "g.omni", durability="fsync")
    append(repository, "a")
    upsert(repository, "a", v=3)
    assert ids_of(reopen(tmp_path / "g.omni")) == ["a"]
    assert parts(tmp_path / "g.omni", durability="fsync").store.create(repository.main().chain.path(0), b"") is False
