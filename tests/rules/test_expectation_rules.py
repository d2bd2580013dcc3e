"""What should be on a screen, against what a display sees there."""

import pytest

from shared.clients.screens_rules import SeenPage
from shared.expectations.rules import ExpectedPage, judged, matches
from shared.vocabulary import GlassKind, ScreenHealthStatus

MENU = SeenPage(GlassKind.PAGE, "5f0c91aa", "https://menu.example/berlin?day=1", "Menu of today")
EXPECTED = ExpectedPage("https://menu.example/*", None, black=False)
OK, BLACK, WRONG = ScreenHealthStatus.OK, ScreenHealthStatus.BLACK, ScreenHealthStatus.WRONG_PAGE
UNKNOWN, FROZEN = ScreenHealthStatus.UNKNOWN, ScreenHealthStatus.FROZEN


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("", "", True),
        ("*", "", True),
        ("*", "anything", True),
        ("menu", "menu", True),
        ("menu", "menus", False),
        ("menu*", "menus", True),
        ("*menu", "the menu", True),
        ("a*b*c", "a-b-c", True),
        ("a*b*c", "a-c-b", False),
        ("ab*ba", "aba", False),
        ("*a*a*", "a", False),
        ("a.c", "abc", False),
        ("*[a]?*", "x[a]?y", True),
        ("*a" * 100, "a" * 99, False),
        ("*a" * 250, "a" * 512, True),
    ],
)
def test_an_asterisk_stands_for_any_text(pattern: str, text: str, fits: bool) -> None:
    assert matches(pattern, text) is fits


@pytest.mark.parametrize(
    ("screen", "page", "expected", "word"),
    [
        (OK, MENU, EXPECTED, OK),
        (OK, MENU, ExpectedPage("https://other.example/*", None, black=False), WRONG),
        (OK, MENU, ExpectedPage(None, "Menu*", black=False), OK),
        (OK, MENU, ExpectedPage(None, "Login", black=False), WRONG),
        (OK, MENU, ExpectedPage("https://menu.example/*", "Login", black=False), WRONG),
        (OK, MENU, ExpectedPage(None, None, black=False), OK),
        (OK, SeenPage(GlassKind.PAGE, "5f0c91aa"), EXPECTED, OK),  # its address is not told yet
        (OK, SeenPage(GlassKind.PROGRAM), EXPECTED, OK),
        (OK, None, EXPECTED, OK),  # nobody looks
        (OK, SeenPage(GlassKind.PAGE, "0", "https://login.example/"), EXPECTED, WRONG),
        (UNKNOWN, SeenPage(GlassKind.PAGE, "0", "https://login.example/"), EXPECTED, WRONG),
        (None, SeenPage(GlassKind.PAGE, "0", "https://login.example/"), EXPECTED, WRONG),
        (None, MENU, EXPECTED, None),
        (FROZEN, SeenPage(GlassKind.PAGE, "0", "https://login.example/"), EXPECTED, FROZEN),
        (BLACK, MENU, EXPECTED, BLACK),
        (BLACK, MENU, ExpectedPage(None, None, black=True), OK),
        (BLACK, None, ExpectedPage("https://menu.example/*", None, black=True), OK),
    ],
)
def test_a_screen_is_judged_by_what_is_expected_there(
    screen: ScreenHealthStatus | None,
    page: SeenPage | None,
    expected: ExpectedPage,
    word: ScreenHealthStatus | None,
) -> None:
    assert judged(screen, page, expected) is word
