"""What a health report says of the page on the screen, and when it names the page's address."""

import json
from datetime import UTC, datetime

import pytest

from displays.client import contract, seen
from displays.client.state import Boot, DisplayState

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LONG = "x" * 65
MENU = seen.page("page", "https://menu.example.org/", "Menu", "0123456789abcdef", 41, changed=True)
OTHER = seen.page("error", "https://menu.example.org/", "502", None, None, changed=None)


def a_state() -> DisplayState:
    return DisplayState(Boot("installation-a", 1, "boot-1"), "app-1")


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("https://menu.example.org/berlin?day=2#soup", "https://menu.example.org/berlin?day=2#soup"),
        ("https://user:secret@menu.example.org:8443/", "https://menu.example.org:8443/"),
        (f"https://m.org/?token={LONG}&day=2", "https://m.org/?token=&day=2"),
        (f"https://m.org/#access_token={LONG}", "https://m.org/#access_token="),
        (f"https://m.org/?{LONG}", f"https://m.org/?{LONG[:64]}"),
        ("https://m.org/a\u202eb\x1b[2J", "https://m.org/a b [2J"),
        ("file:///opt/menu/index.html", "file:///opt/menu/index.html"),
        ("about:blank", "about:blank"),
        ("http://[broken", ""),
        ("https://m.org/" + "a" * 1_000_000, "https://m.org/" + "a" * (512 - 14)),
    ],
)
def test_an_address_is_told_without_what_may_be_a_secret(address: str, told: str) -> None:
    assert seen.public_address(address) == told


def test_a_title_of_a_megabyte_with_lines_in_it_is_cut_to_one_line() -> None:
    title = seen.page("page", "about:blank", "a\nb\0" * 250_000, None, None, changed=None)["title"]

    assert title == "a b " * 128


def test_the_glass_takes_60_bytes_at_most() -> None:
    longest = seen.page("program", "about:blank", "", "f" * 16, 100, changed=False)["glass"]

    assert len(json.dumps({"glass": longest}, separators=(",", ":"))) - 2 <= 60
    assert longest[1:] == ["c6f26bfa", "f" * 16, 100, 0]
    assert MENU["glass"][1] != OTHER["glass"][1]


@pytest.mark.parametrize(("room", "is_told"), [(4096, True), (2048, False)])
def test_an_address_that_does_not_fit_the_report_is_left_out(room: int, is_told: bool) -> None:
    longest = seen.page("page", "https://m.org/" + "\U0001f355" * 512, "\U0001f355" * 512, "f" * 16, 100, changed=True)

    body = a_state().health({**longest, "filled": "x" * (contract.HEALTH.max_bytes - 1024 - room)}, NOW)

    assert ("address" in body) is is_told
    assert len(contract.encode(body)) <= contract.HEALTH.max_bytes


def test_an_address_is_told_for_each_new_page_connection_and_thirtieth_report() -> None:
    state = a_state()

    def told(report: dict[str, object]) -> bool:
        body = state.health(report, NOW)
        assert body["glass"] == report["glass"]
        assert ("address" in body) is ("title" in body)
        return "address" in body

    assert [told(MENU) for _ in range(61)] == [number % 30 == 0 for number in range(61)]
    assert [told(OTHER), told(OTHER), told(MENU), told(MENU)] == [True, False, True, False]
    state.connected()
    assert [told(MENU), told(MENU)] == [True, False]


def test_where_no_page_is_seen_no_address_is_told() -> None:
    nothing = seen.page("nothing", "", "", None, None, changed=None)

    assert nothing == {"glass": ["nothing", None, None, None, None]}
    assert a_state().health(nothing, NOW)["glass"] == nothing["glass"]
    assert "glass" not in a_state().health({}, NOW)
