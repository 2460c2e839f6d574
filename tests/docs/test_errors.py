"""Every error has its line on the page of errors, and belongs to a group that says what to do."""

from tests.docs.errors_page import PAGE, WHAT_TO_DO, every_error, page

SIGNALS = {"MustRestage", "NotScalar", "RebaseRefused"}
"""Between layers of ours, caught there: no user ever meets them."""


def test_the_page_lists_every_error() -> None:
    assert PAGE.read_text() == page(), "run: python -m tests.docs.errors_page"


def test_every_error_says_what_can_be_done_about_it() -> None:
    outside = {each.__name__ for each in every_error() if not issubclass(each, tuple(WHAT_TO_DO))}
    assert outside == SIGNALS
