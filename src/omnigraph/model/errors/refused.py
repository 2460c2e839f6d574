"""A condition, a permission, a limit or a person says no."""

from __future__ import annotations

from omnigraph.model.errors.root import OmniGraphError


class PreconditionFailed(OmniGraphError):
    """A condition the caller set does not hold; never retried for them."""

    code = "precondition_failed"


class HeadMoved(PreconditionFailed):
    """`if_commit` names another commit than the branch's head."""

    def __init__(self, branch: str, *, expected: str, found: str) -> None:
        super().__init__(
            f"branch {branch!r} is at commit {found}, not at {expected}; nothing was written",
            branch=branch,
            expected=expected,
            found=found,
        )
        self.expected, self.found = expected, found


class Fenced(PreconditionFailed):
    """An operator raised the epoch: writers that opened before are shut out."""

    def __init__(self, branch: str, *, opened_at: int, current: int) -> None:
        super().__init__(
            f"writers of {branch!r} that opened before epoch {current} are shut out (this one opened at "
            f"{opened_at}); open the graph again",
            branch=branch,
            opened_at=opened_at,
            current=current,
        )


class Denied(OmniGraphError):
    """No permission, or the credentials are wrong."""

    code = "forbidden"


class Unauthenticated(Denied):
    """There is no token, or nobody knows it."""

    code = "unauthorized"


class ResourceLimit(OmniGraphError):
    """A configured limit was exceeded; nothing was written."""

    code = "resource_limit"

    def __init__(self, resource: str, *, limit: int, actual: int) -> None:
        super().__init__(
            f"{resource}: {actual} exceeds the limit of {limit}",
            resource=resource,
            limit=limit,
            actual=actual,
        )


class TimedOut(ResourceLimit):
    """A query took longer than it was allowed to."""

    def __init__(self, timeout_s: float) -> None:
        OmniGraphError.__init__(
            self,
            f"the query took longer than {timeout_s:g} s: make it more selective, or allow it more time",
            resource="query time in seconds",
            limit=timeout_s,
            actual=timeout_s,
        )


class Cancelled(OmniGraphError):
    """The work was called off before it was done; nothing was changed."""

    code = "cancelled"

    def __init__(self) -> None:
        super().__init__("the query was cancelled")
