"""What should be on a screen, and whether it is: an address, a title, or black."""

from datetime import datetime

from msgspec import Struct

from shared.clients.screens_rules import SeenPage
from shared.vocabulary import ExpectationScope, GlassKind, ScreenHealthStatus
from shared.words.sentences import Sentence, sentence


class ExpectedPage(Struct, frozen=True):
    """Patterns with `*` for any text; None expects nothing. `black`: whether a black screen is meant."""

    address: str | None
    title: str | None
    black: bool


class Expectation(ExpectedPage, frozen=True, kw_only=True):
    """What should be on the screens of a display, of a tag or of a site: the first of these counts."""

    id: int
    scope: ExpectationScope
    target: str
    set_at: datetime
    set_by: str


@sentence
def pages_expected(*, matching: int, seen: int, any_page: bool) -> Sentence: ...


def judged(
    screen: ScreenHealthStatus | None, page: SeenPage | None, expected: ExpectedPage
) -> ScreenHealthStatus | None:
    """How a screen is, by what its display reports and by what is expected. Where nobody sees the page it stays."""
    if screen is ScreenHealthStatus.BLACK and expected.black:
        return ScreenHealthStatus.OK
    if screen in {ScreenHealthStatus.OK, ScreenHealthStatus.UNKNOWN, None} and is_right(page, expected) is False:
        return ScreenHealthStatus.WRONG_PAGE
    return screen


def is_right(page: SeenPage | None, expected: ExpectedPage) -> bool | None:
    """Whether this is the expected page; None: nobody sees it, or its address is not told yet."""
    if page is None or page.kind is not GlassKind.PAGE or page.address is None:
        return None
    pairs = (expected.address, page.address), (expected.title, page.title or "")
    return all(pattern is None or matches(pattern, text) for pattern, text in pairs)


def matches(pattern: str, text: str) -> bool:
    """Whether the whole text fits a pattern in which `*` stands for any text, also for none."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, last = rest
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for piece in middle:
        place = text.find(piece, at, end)
        if place < 0:
            return False
        at = place + len(piece)
    return True
