"""What a look at the screen means, as tables."""

import struct
import zlib

import pytest

from displays.agent.glass_rules import (
    CRASHED,
    ERROR,
    LIT_SECONDS,
    NO_PAGE_SECONDS,
    Look,
    Player,
    Rhythm,
    Verdict,
    of_the_page,
    without_page,
)
from displays.agent.picture import Glimpse, glimpse

Rows = list[list[int]]


def picture(rows: Rows) -> Glimpse:
    """A grey picture of these rows."""
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    parts = ((b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)), (b"IDAT", data))
    body = b"".join(struct.pack(">I", len(part)) + name + part + bytes(4) for name, part in parts)
    return glimpse(b"\x89PNG\r\n\x1a\n" + body)


def plain(shade: int, dot: int | None = None) -> Glimpse:
    """A picture of one shade, with one pixel of another."""
    rows = [[shade] * 64 for _ in range(36)]
    rows[30][60] = shade if dot is None else dot
    return picture(rows)


BLACK, WHITE, CLOCK = plain(0), plain(255), plain(0, dot=90)
MENU = picture([[(x * y) % 256 for x in range(64)] for y in range(36)])
VIDEO = frozenset({"0:4.2"})

PAGES = [
    ("ok", "a menu", Look(draws=True, glimpse=MENU), 0.0),
    ("ok", "a menu that stands for a day", Look(draws=True, glimpse=MENU), 86_400.0),
    ("frozen", "a crash", Look(CRASHED), 0.0),
    ("frozen", "no frame", Look(), 0.0),
    ("error_page", "the browser's own page", Look(ERROR, draws=True, glimpse=WHITE), 0.0),
    ("error_page", "HTTP 502", Look(ERROR, draws=True, status=502, glimpse=MENU), 0.0),
    ("black", "nothing is lit", Look(draws=True, glimpse=BLACK), 0.0),
    ("ok", "a page that says that it is black", Look(draws=True, glimpse=BLACK, marks=frozenset({"black"})), 999.0),
    (
        "black",
        "a page that says that it stands still",
        Look(draws=True, glimpse=BLACK, marks=frozenset({"still"})),
        0.0,
    ),
    ("ok", "a clock on black that ran lately", Look(draws=True, glimpse=CLOCK), LIT_SECONDS - 1),
    ("black", "a clock on black that stands", Look(draws=True, glimpse=CLOCK), LIT_SECONDS),
    ("white", "nothing on white", Look(draws=True, glimpse=WHITE), 0.0),
    ("ok", "a line on white", Look(draws=True, glimpse=plain(255, dot=240)), 0.0),
    ("no_page", "a window with a tenth of the screen", Look(draws=True, glimpse=MENU, covers=0.1), 0.0),
    ("ok", "a window with half of the screen", Look(draws=True, glimpse=MENU, covers=0.5), 0.0),
    ("unknown", "no picture", Look(draws=True), 0.0),
    ("frozen", "a video that stands", Look(draws=True, glimpse=MENU, standing=VIDEO), 0.0),
]


@pytest.mark.parametrize(("word", "what", "look", "stood"), PAGES, ids=[what for _, what, _, _ in PAGES])
def test_a_page_is_judged_by_what_it_is_and_shows(word: str, what: str, look: Look, stood: float) -> None:
    verdict = of_the_page(look, None, stood, black_is_allowed=False)

    assert verdict.word == word
    assert bool(verdict.why) == (word != "ok")


@pytest.mark.parametrize("shown", [BLACK, CLOCK])
def test_black_is_a_picture_where_the_service_allows_it(shown: Glimpse) -> None:
    look = Look(draws=True, glimpse=shown)

    assert of_the_page(look, None, 999.0, black_is_allowed=True) == Verdict("ok")


def test_a_video_stands_when_both_looks_find_it_at_one_place() -> None:
    stands, elsewhere = (Look(draws=True, glimpse=MENU, standing=frozenset({place})) for place in ("0:4.2", "0:9.1"))

    assert of_the_page(stands, stands, 0.0, black_is_allowed=False).word == "frozen"
    assert of_the_page(stands, elsewhere, 0.0, black_is_allowed=False).word == "ok"


def test_a_video_of_a_page_that_stands_still_by_design_may_stand() -> None:
    look = Look(draws=True, glimpse=MENU, standing=VIDEO, marks=frozenset({"still"}))

    assert of_the_page(look, None, 0.0, black_is_allowed=False).word == "ok"


@pytest.mark.parametrize(
    ("word", "answered", "waited", "answers", "runs"),
    [
        ("unknown", None, 0.0, False, True),
        ("unknown", "start before", NO_PAGE_SECONDS - 1, False, True),
        ("no_page", "start before", NO_PAGE_SECONDS, False, True),
        ("hung", "start", 0.0, False, True),
        ("unknown", "start", NO_PAGE_SECONDS - 1, True, True),
        ("no_page", "start", NO_PAGE_SECONDS, True, True),
        ("unknown", "start", 999.0, False, False),
    ],
)
def test_a_browser_without_a_page_is_judged_by_its_start(
    word: str, answered: str | None, waited: float, answers: bool, runs: bool
) -> None:
    assert without_page(Player("start", runs), answered, waited, "why", answers=answers).word == word


@pytest.mark.parametrize(
    ("verdict", "is_sure"),
    [(of_the_page(Look(CRASHED), None, 0.0, black_is_allowed=False), True), (Verdict("frozen", "else"), False)]
    + [(Verdict(word), False) for word in ("black", "white", "error_page", "hung")]
    + [(Verdict(word), True) for word in ("ok", "unknown", "no_page")],
)
def test_a_bad_look_is_looked_at_again_but_a_crash_counts_at_once(verdict: Verdict, is_sure: bool) -> None:
    assert verdict.is_sure is is_sure


RHYTHM = [
    ("a screen that is well", "ok ok ok ok ok", [1, 0, 1, 0, 1], [30, 30, 30, 30, 30]),
    ("a fault, told twice within 20 s", "ok ok black black black", [1, 0, 1, 1, 0], [30, 30, 20, 30, 30]),
    ("a fault that is over", "black ok ok", [1, 1, 0], [20, 30, 30]),
    ("one fault after another", "white hung hung", [1, 1, 1], [20, 20, 30]),
    ("a screen that is switched off", "ok off off", [1, 1, 0], [30, 30, 30]),
]


@pytest.mark.parametrize(("words", "due", "pauses"), [row[1:] for row in RHYTHM], ids=[row[0] for row in RHYTHM])
def test_another_word_is_told_at_once_and_a_fault_twice(words: str, due: list[int], pauses: list[float]) -> None:
    rhythm, now, seen = Rhythm(), 100.0, []
    for word in words.split():
        seen.append((rhythm.is_due(word, now), rhythm.pause))
        now += rhythm.pause

    assert seen == list(zip(map(bool, due), pauses, strict=True))


# --- pictures ---


@pytest.mark.parametrize(("before", "now"), [(BLACK, CLOCK), (CLOCK, plain(0, dot=93)), (BLACK, picture([[0] * 64]))])
def test_a_change_is_seen_where_the_hash_is_blind(before: Glimpse, now: Glimpse) -> None:
    assert now.differs(before)
    assert not now.differs(now)


def test_a_hash_tells_rising_from_falling_brightness() -> None:
    rising, falling = ([[edge * x for x in range(64)] for _ in range(36)] for edge in (1, 2))

    assert picture(rising).hash() == picture(falling).hash() == "f" * 16
    assert picture([row[::-1] for row in rising]).hash() == BLACK.hash() == "0" * 16
    assert picture([[0] * 4 + [255] * 5] * 3).hash() == "10" * 8


def test_a_share_of_100_percent_means_all() -> None:
    assert BLACK.percent == 100
    assert CLOCK.percent == 99
