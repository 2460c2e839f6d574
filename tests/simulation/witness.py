"""Checks the rules at every single change of the store, with a small model of what the chains have said so far."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from omnigraph.manifest.codec import decode_entry
from omnigraph.manifest.refs import Refs, decode_refs
from omnigraph.manifest.state import Commit, State, Stripped

from .world import Observer, Violation, World

MANIFESTS, REGISTRY, LINEAGE = "__manifest/", "__refs/", "__lineage/"


class Witness(Observer):
    """Lineage linear, acknowledged commits present, entries immutable, what is published complete and never taken."""

    def __init__(self, world: World) -> None:
        self._objects = world.objects
        self.chains: dict[str, dict[int, State]] = {}
        self.commits: dict[str, set[str]] = {}
        """By chain: what became visible there."""
        self.refs: Refs | None = None
        self.registered: set[str] = set()
        """Chains that were visible at some time: their numbers stay for ever."""

    # -- what happens ----------------------------------------------------------------------------------

    def created(self, path: str, data: bytes) -> None:
        if path.startswith(MANIFESTS):
            entry = decode_entry(data, path)
            if isinstance(entry, Stripped):
                raise Violation(f"{path} was created stripped")
            self._entered(entry)
        elif path.startswith(REGISTRY):
            refs = decode_refs(data, path)
            if isinstance(refs, Stripped):
                raise Violation(f"{path} was created stripped")
            self._registered(refs)

    def replaced(self, path: str, old: bytes, new: bytes) -> None:
        if old == new:
            return
        if path.startswith(REGISTRY):
            after = decode_refs(new, path)
            if not isinstance(after, Stripped) or (self.refs and after.number >= self.refs.number):
                raise Violation(f"{path} was overwritten")
        elif path.startswith(MANIFESTS):
            self._stripped(path, decode_entry(old, path), decode_entry(new, path))
        else:
            raise Violation(f"{path} was overwritten")

    def deleted(self, paths: Sequence[str]) -> None:
        needed = self._needed()
        for path in paths:
            chain = path.split("/")[1] if path.startswith(MANIFESTS) else None
            if path.startswith(REGISTRY) or chain in self.registered:
                raise Violation(f"a number was deleted: {path}")
            if path in needed:
                raise Violation(f"something reachable was deleted: {path}")
            if chain is not None:
                self.chains.pop(chain, None)  # never registered, so nobody saw it; a late PUT may bring it back

    def acknowledged(self, commit: Commit) -> None:
        if commit.id not in self.commits.get(commit.chain, ()):
            raise Violation(f"commit {commit.id} was acknowledged and is nowhere")

    # -- rules -----------------------------------------------------------------------------------------

    def _entered(self, state: State) -> None:
        chain = self.chains.setdefault(state.chain, {})
        if chain:
            last = chain[max(chain)]
            if state.number != last.number + 1:
                raise Violation(f"{state.chain} goes from {last.number} to {state.number}")
            if last.is_closed:
                raise Violation(f"{state.chain} was continued after its end")
            self._continues(last, state)
        chain[state.number] = state
        self.commits.setdefault(state.chain, set()).update(commit.id for commit in state.commits)
        if self.refs is None or state.chain in self.refs.branches:  # others are not visible before they are registered
            self._must_be_there(state)

    def _continues(self, last: State, state: State) -> None:
        parent = last.head
        for commit in state.commits:
            if commit.parent != parent:
                raise Violation(f"{commit.id} is not on top of {parent}")
            if commit.id in self.commits[state.chain]:
                raise Violation(f"{commit.id} was published twice")
            parent = commit.id
        if state.head != parent:
            raise Violation(f"{state.chain}@{state.number} has the head {state.head}, not {parent}")
        if not state.commits and not state.is_closed:
            for key, table in state.tables.items():
                if not table.same_content(last.tables[key]) or table.row_count != last.tables[key].row_count:
                    raise Violation(f"{state.chain}@{state.number} has no commit but changes {key}")

    def _registered(self, refs: Refs) -> None:
        if self.refs is not None and refs.number != self.refs.number + 1:
            raise Violation(f"the registry goes from {self.refs.number} to {refs.number}")
        known, self.refs = self.refs, refs
        self.registered.update(refs.branches)
        for ref in (known.branches if known else {}).keys() - refs.branches.keys():
            if not self.chains[ref][max(self.chains[ref])].is_closed:
                raise Violation(f"chain {ref} was forgotten before its end")
        for ref in refs.live_branches():
            if known is None or ref.id in known.branches:
                continue
            if ref.id not in self.chains:
                raise Violation(f"branch {ref.name} was registered before it was there")
            self._must_be_there(self.chains[ref.id][ref.first])
        for chain_id, number in refs.pins():
            self._must_be_there(self.chains[chain_id][number])

    def _stripped(self, path: str, old: State | Stripped, new: State | Stripped) -> None:
        if not isinstance(new, Stripped) or (old.chain, old.number, old.entry) != (new.chain, new.number, new.entry):
            raise Violation(f"{path} was overwritten with something else")
        if self._is_kept(new.chain, new.number):
            raise Violation(f"{path} was stripped, but it is retained")
        if [commit.id for commit in old.commits] != [commit.id for commit in new.commits]:
            raise Violation(f"{path} lost commits when it was stripped")

    def _is_kept(self, chain: str, number: int) -> bool:
        assert self.refs is not None
        ref = self.refs.branches.get(chain)
        if ref is not None and ref.status == "live" and number == max(self.chains[chain]):
            return True
        return number >= self.refs.kept_from.get(chain, 0) or (chain, number) in self.refs.pins()

    # -- files -----------------------------------------------------------------------------------------

    def _needed(self) -> set[str]:
        """Every file of every state that stays."""
        if self.refs is None:
            return set()
        states = [
            state
            for chain, entries in self.chains.items()
            if chain in self.refs.branches
            for number, state in entries.items()
            if not state.is_closed and self._is_kept(chain, number)
        ]
        return {path for state in states for path in self._files(state)}

    def _must_be_there(self, state: State) -> None:
        for path in self._files(state):
            if path not in self._objects:
                raise Violation(f"{state.chain}@{state.number} was published without {path}")

    def _files(self, state: State) -> Iterable[str]:
        yield from (f"{LINEAGE}{segment.name}" for segment in state.segments)
        tables = {table.ref for table in state.tables.values()}
        tables |= {table.ref for commit in state.commits for table in commit.before or ()}
        for ref in tables:
            version = f"{ref.location}/_versions/{ref.version}"
            yield version
            if version in self._objects:
                yield from (fragment[1] for fragment in json.loads(self._objects[version][0])["fragments"])
