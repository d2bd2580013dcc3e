"""Recovery of failing screens: of one, of many, and of one that is off."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from extensions.history import operations as history_operations
from shared.overview.gauges import store as gauges_store
from shared.recovery import screens_operations
from shared.recovery.breakers import operations as breakers
from shared.recovery.breakers.words_rules import screens_open
from shared.tables import clients
from shared.vocabulary import EventKind, ProcessStatus, RecoveryState
from shared.words.reader import english
from tests.stores.commands_world import seconds
from tests.stores.quiet_world import hold, leave_out, maintain
from tests.stores.recovery_world import (
    ON,
    History,
    beat,
    become,
    breaker_decisions,
    decisions,
    finish,
    fleet,
    hear,
    rung,
    running,
    tell,
    tell_twice,
    told,
)

MINUTE = timedelta(minutes=1)


def failed_at(connection: Connection, uuid: str) -> datetime | None:
    row = sa.select(clients.c.screen_failed_at).where(clients.c.uuid == uuid)
    at: datetime | None = connection.execute(row).scalar_one()
    return at


def live(history: History, displays: Sequence[str] | str, screen: str, minutes: int = 1) -> None:
    """Keep the screens in this state: two reports and a tick each minute."""
    for _ in range(minutes):
        tell_twice(history.connection, history.at, displays, screen)
        history.tick(displays)


# --- one screen ---


def test_a_screen_that_a_restart_mended_gets_nothing_more(connection: Connection, now: datetime) -> None:
    display = running(connection, now)
    history = History(connection, now)

    live(history, display, "black", 2)
    live(history, display, "ok", 45)

    assert [action for _, action in history.acts] == ["restart_app"]
    assert rung(connection, display) == (0, 0, 0)  # well for half an hour


@pytest.mark.parametrize("screen", ["disconnected", "off", "unknown", "ok"])
def test_no_command_is_sent_for_what_none_mends(connection: Connection, now: datetime, screen: str) -> None:
    display = running(connection, now)
    history = History(connection, now)

    for _ in range(20):
        tell_twice(connection, history.at, display, screen)
        screens_operations.judge_off(connection, history.at)
        history.tick(display)

    assert history.acts == []
    assert (failed_at(connection, display) is None) is (screen in {"unknown", "ok"})


def test_after_a_restart_two_new_reports_decide_and_not_its_ack(connection: Connection, now: datetime) -> None:
    display = running(connection, now)
    history = History(connection, now)
    live(history, display, "black", 2)
    assert history.acts == [(1, "restart_app")]

    history.ticks(12, display)  # the lockout ends, and no report comes
    tell(connection, history.at, display, "black")
    history.tick(display)
    assert len(history.acts) == 1
    assert history.told(display)["state"] == RecoveryState.VERIFYING
    assert "two new reports" in history.told(display)["why"]
    tell(connection, history.at, display, "black")
    history.tick(display)

    assert [action for _, action in history.acts] == ["restart_app", "restart_app"]


def test_an_old_report_proves_nothing(connection: Connection, now: datetime) -> None:
    display = running(connection, now)
    tell_twice(connection, now, display, "black")
    history = History(connection, now + 6 * MINUTE)

    history.ticks(5, display)

    assert history.acts == []
    assert decisions(connection, display) == [("none", "verifying")]


def test_a_player_that_hangs_behind_a_frozen_screen_gets_one_command(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 20)
    display = running(connection, now, presence="online")
    tell_twice(connection, now, display, "frozen")
    history = History(connection, now + MINUTE)

    report = history.tick(done=False)  # frozen by its reports
    finish(connection, history.at, report, "running")
    others = list(connection.execute(sa.select(clients.c.uuid).where(clients.c.uuid != display)).scalars())
    history.ticks(10, others)  # and silent from then on: the command has no outcome

    assert history.acts == [(0, "restart_app")]
    assert history.told(display)["state"] == RecoveryState.LOCKED
    history.ticks(5, others)
    assert history.acts == [(0, "restart_app"), (11, "reboot_host")]  # the second rung, by silence


def test_a_player_that_was_stopped_on_purpose_is_left_alone_behind_its_black_screen(
    connection: Connection, now: datetime
) -> None:
    display = running(connection, now)
    become(connection, display, now, ProcessStatus.STOPPED)
    history = History(connection, now)

    live(history, display, "black", 5)

    assert history.acts == []
    assert history.told(display)["state"] == RecoveryState.HELD


def test_what_people_read_of_a_black_screen(connection: Connection, now: datetime) -> None:
    display = running(connection, now)
    hear(connection, now)
    tell_twice(connection, now - 2 * MINUTE, display, "black")

    said = told(connection, now, display)

    assert (said["state"], said["why"]) == (
        RecoveryState.DUE,
        "The screen is black and the display is heard; the next tick with a place free sends a restart.",
    )


def test_what_code_of_before_ended_fails_no_more(connection: Connection, now: datetime) -> None:
    display = running(connection, now)
    tell_twice(connection, now, display, "black")
    of_before = {"screen_health": "ok", "screen_health_since": None}
    connection.execute(sa.update(clients).values(**of_before))
    history = History(connection, now + 2 * MINUTE)

    history.ticks(3, display)

    assert history.acts == []
    connection.execute(sa.update(clients).values(screen_health="black", screen_health_since=now + MINUTE))
    history.ticks(3, display)
    assert history.acts == []


# --- many screens ---


@pytest.mark.parametrize(("dark", "acts"), [(4, 4), (5, 0), (19, 0)])
def test_many_screens_that_fail_together_are_not_acted_on(
    connection: Connection, now: datetime, dark: int, acts: int
) -> None:
    shop = fleet(connection, now, 20, "Rome")
    elsewhere = fleet(connection, now, 80, "Oslo")
    history = History(connection, now)

    for minute in range(4):
        tell_twice(connection, history.at, shop[:dark], "ok" if minute == 0 else "black")
        tell_twice(connection, history.at, shop[dark:] + elsewhere, "ok")
        history.tick([*shop, *elsewhere])

    assert len(history.acts) == acts
    if not acts:
        assert breaker_decisions(connection) == [("breaker_open", "Rome")]
        state = breakers.state(connection, ON)
        assert state["why"] == screens_open(site="Rome", failing=dark, telling=20)
        assert history.told(shop[0])["state"] == RecoveryState.BLOCKED_BREAKER


def test_screens_all_over_the_fleet_that_fail_together_are_not_acted_on(connection: Connection, now: datetime) -> None:
    everybody = [uuid for n in range(10) for uuid in fleet(connection, now, 4, f"Shop {n}")]
    history = History(connection, now)

    for screen in ("ok", "frozen", "frozen", "frozen"):
        tell_twice(connection, history.at, everybody[::3], screen)
        tell_twice(connection, history.at, [uuid for uuid in everybody if uuid not in everybody[::3]], "ok")
        history.tick(everybody)

    assert history.acts == []
    assert breaker_decisions(connection) == [("breaker_open", None)]


def test_a_breaker_of_screens_closes_when_they_are_well_and_can_be_released(
    connection: Connection, now: datetime
) -> None:
    shop = fleet(connection, now, 8, "Rome")
    history = History(connection, now)
    live(history, shop, "black", 3)
    assert history.acts == []

    released = breakers.release(connection, history.at, "user:anna", "Rome")
    whole = breakers.release(connection, history.at, "user:anna", None)
    live(history, shop, "black")

    assert (released, whole) == ([], [None])  # the whole fleet is in Rome
    assert [action for _, action in history.acts] == ["restart_app"] * 8
    live(history, shop, "ok")
    assert breakers.state(connection, ON) == {"open": False, "why": None, "sites": []}
    assert [decision for decision, _ in breaker_decisions(connection)] == ["breaker_open", "breaker_released"]


def test_a_breaker_of_screens_closes_by_itself(connection: Connection, now: datetime) -> None:
    shop = fleet(connection, now, 8, "Rome")
    history = History(connection, now)

    live(history, shop, "black", 2)
    live(history, shop, "ok")

    assert [decision for decision, _ in breaker_decisions(connection)] == ["breaker_open", "breaker_closed"]


# --- off ---


def window(connection: Connection, now: datetime, display: str, until: datetime) -> None:
    maintain(connection, now, until, clients=[display])


def judged(connection: Connection, at: datetime, display: str) -> bool:
    """Whether the screen counts as failing after two reports of `off` and a tick at `at`."""
    tell_twice(connection, at, display, "off")
    beat(connection, display, at)
    screens_operations.judge_off(connection, at)
    return failed_at(connection, display) is not None


def test_a_screen_that_nobody_switched_off_fails_and_one_off_by_plan_does_not(
    connection: Connection, now: datetime
) -> None:
    display = running(connection, now)
    window(connection, now, display, now + 60 * MINUTE)

    inside = judged(connection, now + MINUTE, display)
    outside = judged(connection, now + 61 * MINUTE, display)
    window(connection, now + 62 * MINUTE, display, now + 120 * MINUTE)
    inside_again = judged(connection, now + 63 * MINUTE, display)

    assert (inside, outside, inside_again) == (False, True, False)


def test_one_report_that_it_is_off_is_no_failure_nor_is_an_old_one(connection: Connection, now: datetime) -> None:
    display = running(connection, now)
    tell(connection, now, display, "off")
    assert screens_operations.judge_off(connection, now) == 0

    tell(connection, now + MINUTE, display, "off")
    assert screens_operations.judge_off(connection, now + 7 * MINUTE) == 0

    assert screens_operations.judge_off(connection, now + 2 * MINUTE) == 1
    assert screens_operations.judge_off(connection, now + 2 * MINUTE) == 0


def test_a_display_that_people_want_left_alone_may_be_off(connection: Connection, now: datetime) -> None:
    excluded, held, stopped = (running(connection, now) for _ in range(3))
    leave_out(connection, now, excluded)
    hold(connection, now, held)
    become(connection, stopped, now, ProcessStatus.STOPPED)

    assert not any(judged(connection, now + MINUTE, display) for display in (excluded, held, stopped))


# --- the display's history ---


def test_the_gauge_counts_failing_screens_by_what_they_show(connection: Connection, now: datetime) -> None:
    shown = {running(connection, now): screen for screen in ("black", "black", "frozen", "disconnected", "ok")}
    for display, screen in shown.items():
        tell_twice(connection, now, display, screen)
    tell(connection, now, running(connection, now), "black")  # one report is no failure
    gone = running(connection, now)
    tell_twice(connection, now, gone, "frozen")
    connection.execute(sa.update(clients).where(clients.c.uuid == gone).values(deleted_at=now))
    assert judged(connection, now, running(connection, now))

    assert gauges_store.failing_screens(connection) == {"black": 2, "frozen": 1, "disconnected": 1, "off": 1}


def lines(connection: Connection, display: str) -> list[tuple[str, datetime]]:
    """What its history says of its screen, the oldest first."""
    told = history_operations.events(connection, display, 100, None)
    return [(english(one.title), one.at) for one in reversed(told) if one.kind is EventKind.SCREEN]


BLACK, PAGELESS, SHOWS = "The screen is black", "The screen shows no page", "The screen shows its content again"
HISTORIES: list[tuple[dict[int, str], list[tuple[str, int]]]] = [
    (
        {0: "ok", 1: "black", 2: "black", 3: "no_page", 4: "ok", 5: "ok"},
        [(BLACK, 1), (PAGELESS, 3), (SHOWS, 4)],
    ),
    ({0: "black", 20: "black"}, [(BLACK, 0), (BLACK, 20)]),  # long unheard, and never said to be well in between
]


@pytest.mark.parametrize(("shown", "said"), HISTORIES, ids=["heard all the time", "long unheard"])
def test_the_history_says_when_a_screen_failed_how_and_when_it_showed_again(
    connection: Connection, now: datetime, shown: dict[int, str], said: list[tuple[str, int]]
) -> None:
    display = running(connection, now)
    for minute, screen in shown.items():
        tell_twice(connection, now + minute * MINUTE, display, screen)

    assert lines(connection, display) == [(words, now + minute * MINUTE - seconds(30)) for words, minute in said]


def test_one_black_report_is_no_line_of_the_history(connection: Connection, now: datetime) -> None:
    display = running(connection, now)
    for number, screen in enumerate(["ok", "black", "ok", "unknown", "black", "ok"]):
        tell(connection, now + number * MINUTE, display, screen)

    assert lines(connection, display) == []


def test_the_history_says_of_a_screen_that_is_off_whether_somebody_planned_it(
    connection: Connection, now: datetime
) -> None:
    display = running(connection, now)
    hear(connection, now)
    tell_twice(connection, now, display, "off")
    screens_operations.judge_off(connection, now)
    hold(connection, now + MINUTE, display)

    for _ in range(2):
        screens_operations.judge_off(connection, now + MINUTE)

    assert lines(connection, display) == [
        ("The screen is off, and nobody planned that", now - seconds(30)),
        ("The screen is off, which is no failure now", now + MINUTE),
    ]
