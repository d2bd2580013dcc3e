"""Names from displays and people appear as text in a chat room; only the service's own link is a link."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.outside.couriers.letters import ENDINGS, as_text

LINK = "https://signage.test/?d=1"
MARKUP = re.compile(r"[@<>\[\]`*]|//|\w\.[^\W\d_]{2,}")
OURS = re.compile(rf"[\w-]+(?:\.[\w-]+)*\.(?:{'|'.join(ENDINGS)})(?![\w-])", re.IGNORECASE)


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ("@everyone", "＠everyone"),
        ("<at>boss</at> <!channel>", "＜at＞boss＜/at＞ ＜!channel＞"),
        ("[pay now](http://evil.example/x)", "［pay now］(http:∕∕evil․example/x)"),
        ("evil.example", "evil․example"),
        ("www.evil.example.service.evil.com/a", "www․evil․example․service․evil․com/a"),
        ("**bold** `code`", "∗∗bold∗∗ ˋcodeˋ"),
        ("evil.`com", "evil․ˋcom"),
        ("player.service failed", "player.service failed"),
        ("getty@tty1.service", "getty＠tty1.service"),
        ("menu 2.1.pptx could not be converted", "menu 2.1.pptx could not be converted"),
        ("Lobby_1 (Zürich-West, 3/4)", "Lobby_1 (Zürich-West, 3/4)"),
        (
            "Since 2026-07-01 10:00 (Europe/Berlin), for 2 minutes.",
            "Since 2026-07-01 10:00 (Europe/Berlin), for 2 minutes.",
        ),
    ],
)
def test_a_name_is_shown_as_it_is_and_does_nothing(named: str, shown: str) -> None:
    assert as_text(named) == shown
    assert as_text(shown) == shown


def test_our_own_link_stays_one_and_nobody_elses_does() -> None:
    words = f"Lobby has a failed service ({LINK})\n{LINK}\n{LINK}/evil"

    first, ours, other = as_text(words, LINK).split("\n")

    assert ours == LINK
    assert "//" not in first + other


@given(st.text())
def test_no_text_mentions_links_or_marks_up(text: str) -> None:
    assert MARKUP.search(OURS.sub("", as_text(text))) is None
