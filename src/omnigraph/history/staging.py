"""Taking tables as another state of the graph has them: files are shared, so it costs no more than naming them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnigraph.history.views import pair_sides
from omnigraph.storage.staged import ALL_ASPECTS

if TYPE_CHECKING:
    from omnigraph.history.views import View
    from omnigraph.manifest import WriteTxn
    from omnigraph.storage.staged import Aspect

ASPECTS: tuple[Aspect, ...] = ("added", "removed", "changed")


def stage_states(txn: WriteTxn, ours: View, theirs: View, *, same_line: bool) -> list[str]:
    """Make our side what theirs is; gives the tables that change.

    With `same_line` theirs follows ours along first parents: then counters tell what happened since, and folds on
    either side are none of it. What came by a merge has the numbers of another chain.

    The outcome is right only as a whole, so it depends on the content of every table.
    """
    changed: list[str] = []
    for old, new in pair_sides(ours, theirs):
        if old is not None and new is not None and old.state.location == new.state.location:
            same = old.state.ref == new.state.ref or (same_line and old.state.same_content(new.state))
            if not same:
                counted: list[Aspect] = [one for one in ASPECTS if new.state.counter(one) != old.state.counter(one)]
                txn.adopt(new.key, new.state, counted if same_line else ALL_ASPECTS, old.key)
            elif old.key != new.key:
                txn.rename(old.key, new.key)
            else:
                continue
        else:
            if old is not None:
                txn.drop(old.key)
            if new is not None:
                txn.adopt(new.key, new.state, ALL_ASPECTS)
        changed += [side.key for side in (old, new) if side is not None]
    for key in txn.base.tables:
        txn.depends_on(key, *ASPECTS)
    return list(dict.fromkeys(changed))
