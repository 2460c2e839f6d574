"""The one publisher: plans of a process for one branch become one chain entry, created by one compare-and-swap."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omnigraph.manifest.compose import Applied, apply_plan
from omnigraph.manifest.stacking import stack
from omnigraph.model.errors import Contention, OmniGraphError, OutcomeUnknown, SnapshotReclaimed
from omnigraph.storage.chain import AppendInDoubt

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnigraph.manifest.branch import Branch
    from omnigraph.manifest.lineage import Lineage
    from omnigraph.manifest.plan import PublishPlan
    from omnigraph.manifest.state import Commit, State
    from omnigraph.model.clock import Locks, Runtime
    from omnigraph.storage.durable import Durability
    from omnigraph.storage.interface import Tables

LOSSES_MAX = 256
GROUP_MAX = 64
PATIENT_LOSSES = 6
"""After this many lost races a writer no longer waits before it tries again; newcomers still do."""

ATTEMPT_S_MIN, ATTEMPT_S_MAX = 0.001, 0.5
CROWD_MAX = 16


@dataclass(frozen=True)
class Published:
    """An acknowledged commit: it is in the lineage, and the state that has it."""

    commit: Commit
    state: State
    losses: int
    """Races lost before this one was won."""


@dataclass
class _Ticket:
    plan: PublishPlan
    called: Locks
    """Held until the plan is settled, or it is its thread's turn to publish."""
    leads: bool = False
    result: Published | None = None
    error: BaseException | None = None

    @property
    def is_done(self) -> bool:
        return self.result is not None or self.error is not None


def no_upkeep(entry: State) -> None:
    """Leave tables as they are."""
    del entry


class Publisher:
    """Publishes plans on one branch. Threads that come while another publishes are taken along in its next entry.

    One thread leads: it publishes groups until its own plan is settled, does the upkeep that was due, and hands over
    to whoever has waited longest. The others sleep until they are settled, and go on at once: what they write next
    is in time for the next group.
    """

    def __init__(
        self,
        branch: Branch,
        lineage: Lineage,
        tables: Tables,
        runtime: Runtime,
        durability: Durability,
        upkeep: Callable[[State], None] = no_upkeep,
    ) -> None:
        self._branch = branch
        self._lineage = lineage
        self._tables = tables
        self._runtime = runtime
        self._durability = durability
        self._upkeep = upkeep
        """Told of every entry, before the next: what it publishes cannot lose against writers of this process."""
        self._crowd = 0
        """Races lost for the last entry: others are at it as well."""
        self.races_lost = 0
        """Over the life of this publisher: how often it had to try again."""
        self._attempt_s = ATTEMPT_S_MIN
        self._waiting: list[_Ticket] = []
        self._is_led = False
        self._waiting_lock = threading.Lock()

    def publish(self, plan: PublishPlan) -> Published:
        """Make a plan visible, or say why not. Returns when acknowledged; a plan published again counts once."""
        ticket = _Ticket(plan, self._runtime.lock())
        ticket.called.acquire()
        with self._waiting_lock:
            self._waiting.append(ticket)
            ticket.leads, self._is_led = not self._is_led, True
        if not ticket.leads:
            self._await_call(ticket)
        if ticket.leads:
            self._lead(ticket)
        if ticket.error is not None:
            raise ticket.error
        assert ticket.result is not None
        return ticket.result

    def _await_call(self, ticket: _Ticket) -> None:
        try:
            ticket.called.acquire()
        except BaseException:  # whoever is called and does not come must not keep the others waiting
            with self._waiting_lock:
                if ticket in self._waiting:
                    self._waiting.remove(ticket)
                is_lost = ticket.leads
            if is_lost:
                self._hand_over()
            raise

    def _lead(self, ticket: _Ticket) -> None:
        try:
            while not ticket.is_done:
                self._publish_group(self._next_group())
        finally:
            self._hand_over()

    def _hand_over(self) -> None:
        with self._waiting_lock:
            self._is_led = bool(self._waiting)
            if self._waiting:
                self._waiting[0].leads = True
                self._waiting[0].called.release()

    def _next_group(self) -> list[_Ticket]:
        """Those who wait, in order. A plan with a precondition on the head, or with a schema, can only come first."""
        with self._waiting_lock:
            size = 0
            for ticket in self._waiting[:GROUP_MAX]:
                alone = ticket.plan.if_commit is not None or ticket.plan.is_exclusive
                if size and alone:
                    break
                size += 1
                if ticket.plan.is_exclusive:
                    break
            group, self._waiting = self._waiting[:size], self._waiting[size:]
        return group

    def _publish_group(self, group: list[_Ticket]) -> None:
        entry: State | None = None
        try:
            entry = self._race(group)
        except AppendInDoubt as doubt:
            for ticket in group:
                self._fail([ticket], OutcomeUnknown(ticket.plan.commit_id, doubt.message))
        except OmniGraphError as error:
            self._fail(group, error)
        except BaseException as error:
            self._fail(group, error)
            raise
        finally:
            for ticket in group:
                if not ticket.leads:
                    ticket.called.release()
        if entry is not None:
            self._upkeep(entry)

    @staticmethod
    def _fail(group: list[_Ticket], error: BaseException) -> None:
        for ticket in group:
            if not ticket.is_done:
                ticket.error = error

    def _race(self, group: list[_Ticket]) -> State | None:
        """Publish a group: the entry it came to be in, or None if nothing was left to publish."""
        state = self._first_base()
        losses = 0
        while True:
            self._settle_already_published(group, state, losses)
            applied = self._compose(group, state)
            if not applied:
                return None
            entry = _sealed(applied[-1][1].state)
            self._durability.before_publish([staged for _, one in applied for staged in one.staged.values()])
            newer = self._attempt(entry)
            if newer is None:
                self._crowd = losses
                for ticket, one in applied:
                    commit = next(commit for commit in entry.commits if commit.id == one.commit.id)
                    ticket.result = Published(commit, entry.at(commit.id), losses)
                return entry
            losses += 1
            self.races_lost += 1
            if losses >= LOSSES_MAX:
                self._fail(group, Contention(self._branch.name, losses))
                return None
            self._wait_fairly(losses)
            state = newer

    def _first_base(self) -> State:
        """Whoever had to fight for its last entry lets those go first who still fight for theirs, then looks anew."""
        if not self._crowd:
            return self._branch.head_to_append()
        self._runtime.clock.sleep(self._runtime.ids.random() * min(self._crowd, CROWD_MAX) * self._attempt_s)
        return self._branch.head()

    def _attempt(self, entry: State) -> State | None:
        started_us = self._runtime.clock.now_us()
        newer = self._branch.append(entry)
        took_s = (self._runtime.clock.now_us() - started_us) / 1e6
        self._attempt_s = min(max(took_s, ATTEMPT_S_MIN), ATTEMPT_S_MAX)
        return newer

    def _compose(self, group: list[_Ticket], state: State) -> list[tuple[_Ticket, Applied]]:
        """Put the plans on top of each other. One that fails is told so and left out; the others go on."""
        building = state.next("commit", self._runtime.ids.ulid())
        applied: list[tuple[_Ticket, Applied]] = []
        waiting = [ticket for ticket in group if not ticket.is_done]
        stacked = stack(state, [ticket.plan for ticket in waiting], self._tables)
        for ticket in waiting:
            base = building if applied else _not_closed(state, building)
            try:
                one = apply_plan(base, ticket.plan, self._tables, stacked)
            except OmniGraphError as error:
                ticket.error = error
                continue
            building = one.state
            applied.append((ticket, one))
        return applied

    def _settle_already_published(self, group: list[_Ticket], state: State, losses: int) -> None:
        """A lost answer may hide a win, and a caller left in doubt may publish a plan again: look for its commit id."""
        for ticket in group:
            found = None if ticket.is_done else self._lineage.find(state, ticket.plan.commit_id)
            if found is not None:
                ticket.result = self._published_before(found, state, losses)

    def _published_before(self, commit: Commit, state: State, losses: int) -> Published:
        try:
            entry = self._branch.state_at(commit.number)
        except SnapshotReclaimed:  # long ago: it counts, but only later states can be read
            return Published(commit, state, losses)
        whole = next(one for one in entry.commits if one.id == commit.id)
        return Published(whole, entry.at(commit.id), losses)

    def _wait_fairly(self, losses: int) -> None:
        """Those who lost often go at once, newcomers give way: nobody starves."""
        patience = max(0, PATIENT_LOSSES - losses) / PATIENT_LOSSES
        if patience:
            self._runtime.clock.sleep(self._runtime.ids.random() * patience * self._attempt_s * 2)


def _not_closed(state: State, building: State) -> State:
    """Checks must see a closed branch as closed."""
    return replace(building, kind=state.kind) if state.is_closed else building


def _sealed(state: State) -> State:
    """What only a group needs is left out of an entry with one commit."""
    if len(state.commits) > 1:
        return state
    return replace(state, commits=tuple(replace(commit, before=None) for commit in state.commits))
