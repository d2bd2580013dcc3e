"""The breakers on real Postgres: so many silent at once that the fault may be ours."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.commands import operations as commands
from shared.db import database_now
from shared.maintenance import operations as maintenance
from shared.maintenance.operations import NewWindow
from shared.maintenance.rules import Schedule
from shared.recovery import store
from shared.recovery.breakers import operations as breakers
from shared.recovery.breakers.store import MANY
from shared.recovery.holds import operations as holds
from shared.tables import bridge_status, clients
from shared.vocabulary import MaintenanceScope
from tests.stores.commands_world import SHUTDOWN, issue, say, seconds
from tests.stores.recovery_world import (
    OFF,
    ON,
    beat,
    become,
    breaker_decisions,
    crash,
    finish,
    fleet,
    hear,
    others_beat,
    recover,
    sent,
    told,
)

MINUTE = timedelta(minutes=1)
OPENED, CLOSED, RELEASED = "breaker_open", "breaker_closed", "breaker_released"


@pytest.fixture
def now(connection: Connection) -> datetime:
    at = database_now(connection)
    hear(connection, at)
    return at


def is_open(connection: Connection) -> set[str | None]:
    """Sites whose breaker is open; None is the whole fleet's."""
    return set(breakers.standing(connection, ON))


def test_it_opens_when_a_fifth_fell_silent_at_once_and_says_so_once(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 80)
    gone = fleet(connection, now - 4 * MINUTE, 20)

    for second in (0, 20, 40):
        assert recover(connection, now + seconds(second)).command_ids == ()

    assert breaker_decisions(connection) == [(OPENED, None)]
    state = told(connection, now + seconds(40), gone[0])
    assert state["state"] == "blocked_breaker"
    assert "20 of 100 displays are silent" in state["why"]
    assert breakers.state(connection, ON) == {"open": True, "why": state["why"]}


def test_below_a_fifth_it_stays_closed(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 81)
    fleet(connection, now - 4 * MINUTE, 19)

    assert len(recover(connection, now).command_ids) == 10
    assert breakers.state(connection, ON) == {"open": False, "why": None}


def test_half_of_the_fleet_opens_it_however_slowly_they_went(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 10)
    for number in range(10):
        fleet(connection, now - timedelta(hours=1 + number), 1)

    assert recover(connection, now).command_ids == ()
    assert is_open(connection) == {None}


def test_it_stays_open_until_fewer_than_a_fifth_are_silent_and_then_they_are_acted_on(
    connection: Connection, now: datetime
) -> None:
    there = fleet(connection, now, 80)
    gone = fleet(connection, now - 4 * MINUTE, 20)
    recover(connection, now)

    at = now + timedelta(hours=1)
    hear(connection, at)
    beat(connection, there, at)
    still = recover(connection, at)
    beat(connection, gone[0], at)
    first = recover(connection, at)  # the last of those that come back are given a while
    again = recover(connection, at + seconds(2))  # a tick that comes twice is no time
    beat(connection, [*there, gone[0]], at + MINUTE)
    hear(connection, at + MINUTE)
    closed = recover(connection, at + MINUTE)

    assert (still.command_ids, still.breakers_open) == ((), 1)
    assert (first.command_ids, first.breakers_open) == ((), 1)
    assert (again.command_ids, again.breakers_open) == ((), 1)
    assert (len(closed.command_ids), closed.breakers_open) == (10, 0)
    assert breaker_decisions(connection) == [(OPENED, None), (CLOSED, None)]


def test_while_it_is_open_a_rise_in_between_begins_the_wait_anew(connection: Connection, now: datetime) -> None:
    there = fleet(connection, now, 80)
    gone = fleet(connection, now - 4 * MINUTE, 20)
    recover(connection, now)

    reports = []
    for minute, back in enumerate((20, 0, 20, 20), start=60):
        at = now + minute * MINUTE
        hear(connection, at)
        beat(connection, there, at)
        if back:
            beat(connection, gone[:back], at)
        else:
            beat(connection, gone, at - 4 * MINUTE)
        reports.append(recover(connection, at))

    assert [report.breakers_open for report in reports] == [1, 1, 1, 0]


def test_a_clock_that_is_set_back_does_not_hold_it_open(connection: Connection, now: datetime) -> None:
    there = fleet(connection, now, 80)
    gone = fleet(connection, now - 4 * MINUTE, 20)
    recover(connection, now)
    everybody = [*there, *gone]
    beat(connection, everybody, now + timedelta(hours=1))
    recover(connection, now + timedelta(hours=1))  # low, by a clock that is an hour ahead

    reports = []
    for minute in (1, 2):
        at = now + minute * MINUTE
        hear(connection, at)
        beat(connection, everybody, at)
        reports.append(recover(connection, at))

    assert [report.breakers_open for report in reports] == [1, 0]


def test_who_crashed_is_restarted_while_it_is_open(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 50)
    fleet(connection, now - 4 * MINUTE, 50)
    client = crash(connection, now)

    assert sent(connection, recover(connection, now)) == [(client, "restart_app")]


def rest(connection: Connection, now: datetime, uuids: list[str], how: str) -> None:
    """Make the silence of these clients no news."""
    for client in uuids:
        if how == "held":
            holds.hold(connection, now, client, "user:anna", "being moved", None)
        elif how == "excluded":
            holds.exclude(connection, now, client, "user:anna", "a test display")
        elif how == "stopped":
            connection.execute(sa.update(clients).where(clients.c.uuid == client).values(process_status="stopped"))
        elif how == "deleted":
            connection.execute(sa.update(clients).where(clients.c.uuid == client).values(deleted_at=now))
        elif how == "shut down":
            at = now - 5 * MINUTE
            say(connection, at, client, issue(connection, at, client, SHUTDOWN), "succeeded")


@pytest.mark.parametrize("how", ["held", "excluded", "stopped", "deleted", "shut down"])
def test_whose_silence_is_no_news_is_not_counted(connection: Connection, now: datetime, how: str) -> None:
    fleet(connection, now, 10)
    gone = fleet(connection, now - 6 * MINUTE, 10)
    rest(connection, now, gone[:9], how)

    report = recover(connection, now)

    assert sent(connection, report) == [(gone[9], "reboot_host")]
    assert is_open(connection) == set()


def test_a_site_that_is_excluded_is_not_counted(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 10)
    fleet(connection, now - 4 * MINUTE, 20, site="Basel")
    holds.exclude_site(connection, now, "Basel", "user:anna", "being rebuilt")

    assert recover(connection, now).command_ids == ()
    assert is_open(connection) == set()


def test_who_was_not_seen_for_a_day_is_no_part_of_the_reckoning(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 100)
    fleet(connection, now - timedelta(hours=25), 200, presence="offline")

    recover(connection, now)

    assert is_open(connection) == set()


# --- sites ---


def test_a_site_has_a_breaker_of_its_own(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 100, site="Bern")
    basel = fleet(connection, now - 4 * MINUTE, 6, site="Basel") + fleet(connection, now, 4, site="Basel")
    [elsewhere] = fleet(connection, now - 4 * MINUTE, 1, site="Bern")

    report = recover(connection, now)

    assert sent(connection, report) == [(elsewhere, "reboot_host")]
    assert breaker_decisions(connection) == [(OPENED, "Basel")]
    state = told(connection, now, basel[0])
    assert (state["state"], state["why"][:40]) == ("blocked_breaker", "At Basel, 6 of 10 displays are silent: s")


def test_a_sites_breaker_closes_with_its_displays(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 100)
    fleet(connection, now, 4, site="Basel")
    gone = fleet(connection, now - 4 * MINUTE, 6, site="Basel")
    recover(connection, now)

    beat(connection, gone[:2], now)
    recover(connection, now)
    recover(connection, now + seconds(45))

    assert breaker_decisions(connection) == [(OPENED, "Basel"), (CLOSED, "Basel")]


def test_while_the_fleets_is_open_no_sites_opens_beside_it(connection: Connection, now: datetime) -> None:
    for site in ("Basel", "Bern", "Chur"):
        fleet(connection, now - 4 * MINUTE, 10, site=site)

    recover(connection, now)

    assert breaker_decisions(connection) == [(OPENED, None)]


def test_a_site_whose_clients_are_all_gone_elsewhere_has_no_open_breaker(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 100)
    gone = fleet(connection, now - 4 * MINUTE, 6, site="Basel")
    recover(connection, now)
    connection.execute(sa.update(clients).where(clients.c.uuid.in_(gone)).values(site=None, process_status="stopped"))

    recover(connection, now)
    recover(connection, now + seconds(45))

    assert is_open(connection) == set()


# --- our own deafness ---


def listen_again(connection: Connection, now: datetime, ago: timedelta) -> None:
    connection.execute(sa.update(bridge_status).values(connected_since=now - ago, canary_at=now))


def test_who_did_not_return_after_our_own_absence_went_silent_at_once_though_no_tick_saw_it(
    connection: Connection, now: datetime
) -> None:
    fleet(connection, now, 70)
    fleet(connection, now - 13 * MINUTE, 30)
    listen_again(connection, now, seconds(190))

    assert recover(connection, now).command_ids == ()
    assert is_open(connection) == {None}


def test_who_was_dark_long_before_our_absence_does_not_open_it(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 70)
    fleet(connection, now - timedelta(hours=20), 30, presence="offline")
    fleet(connection, now - 13 * MINUTE, 1, presence="offline")  # the last that was heard before
    listen_again(connection, now, seconds(100))

    recover(connection, now)

    assert is_open(connection) == set()


def test_after_a_days_absence_of_ours_the_fleet_is_still_reckoned_with(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 70)
    fleet(connection, now - timedelta(hours=26), 30)
    listen_again(connection, now, seconds(200))

    assert recover(connection, now).command_ids == ()
    assert is_open(connection) == {None}


# --- releasing ---


def test_an_operator_releases_it_and_the_same_silence_does_not_open_it_again(
    connection: Connection, now: datetime
) -> None:
    there = fleet(connection, now, 50)
    fleet(connection, now - 4 * MINUTE, 50)
    recover(connection, now)

    released = breakers.release(connection, now, "user:anna", None)
    acted = 0
    for minute in range(3):
        at = now + minute * MINUTE
        hear(connection, at)
        beat(connection, there, at)
        report = recover(connection, at)
        acted += len(report.command_ids)
        finish(connection, at, report)

    assert (released, acted, is_open(connection)) == ([None], 30, set())
    assert breaker_decisions(connection) == [(OPENED, None), (RELEASED, None)]


def test_after_a_release_new_silence_opens_it_again(connection: Connection, now: datetime) -> None:
    there = fleet(connection, now, 50)
    fleet(connection, now - 4 * MINUTE, 50)
    recover(connection, now)
    breakers.release(connection, now, "user:anna", None)

    at = now + 5 * MINUTE
    hear(connection, at)
    beat(connection, there[:30], at)
    recover(connection, at)

    assert is_open(connection) == {None}
    assert "20 of 50 displays are silent" in breakers.state(connection, ON)["why"]


def test_the_fleets_release_covers_the_sites_below_it(connection: Connection, now: datetime) -> None:
    fleet(connection, now - 4 * MINUTE, 20, site="Basel")
    recover(connection, now)

    breakers.release(connection, now, "user:anna", None)
    report = recover(connection, now)

    assert (len(report.command_ids), is_open(connection)) == (10, set())


def test_one_site_is_released_alone(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 100)
    for site in ("Basel", "Bern"):
        fleet(connection, now - 4 * MINUTE, 8, site=site)
    recover(connection, now)

    assert breakers.release(connection, now, "user:anna", "Basel") == ["Basel"]
    recover(connection, now)

    assert is_open(connection) == {"Bern"}


def test_releasing_what_is_not_open_changes_nothing(connection: Connection, now: datetime) -> None:
    assert breakers.release(connection, now, "user:anna", None) == []
    assert breakers.release(connection, now, "user:anna", "Nowhere") == []
    assert breaker_decisions(connection) == []


def test_with_recovery_off_no_breaker_is_shown_as_open(connection: Connection, now: datetime) -> None:
    fleet(connection, now - 4 * MINUTE, 20)
    recover(connection, now)

    assert breakers.state(connection, OFF) == {"open": False, "why": None}


# --- small fleets, and what a tick writes ---


def test_in_a_small_fleet_one_silent_display_is_acted_on_at_a_time(connection: Connection, now: datetime) -> None:
    there = fleet(connection, now, 6)
    gone = sorted(fleet(connection, now - 10 * MINUTE, 2) + fleet(connection, now - 20 * MINUTE, 1))
    first = recover(connection, now)
    second = recover(connection, now)

    finish(connection, now, first)
    third = recover(connection, now)

    assert [len(report.command_ids) for report in (first, second, third)] == [1, 0, 1]
    assert (first.waiting, len(there) + len(gone)) == (2, 9)


def test_in_a_small_fleet_the_crashed_do_not_wait_for_each_other(connection: Connection, now: datetime) -> None:
    for _ in range(3):
        crash(connection, now)

    assert len(recover(connection, now).command_ids) == 3


def test_a_mass_of_silent_displays_writes_one_line_not_one_each(connection: Connection, now: datetime) -> None:
    fleet(connection, now - 4 * MINUTE, 300)

    for second in range(3):
        recover(connection, now + seconds(second))

    assert len(store.events_page(connection, None, 100, None)) == 1


def test_a_silence_of_too_many_to_name_them_is_counted_like_one_of_few(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 100)
    gone = fleet(connection, now - 4 * MINUTE, MANY + 20)
    holds.exclude(connection, now, gone[0], "user:anna", "a test display")

    assert recover(connection, now).command_ids == ()
    assert evidence_of_opening(connection) == {
        "site": None,
        "seen": MANY + 119,
        "stale": MANY + 19,
        "recent": MANY + 19,
    }


def test_a_display_that_became_well_is_no_evidence(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 10)
    gone = fleet(connection, now - 4 * MINUTE, 10)
    recover(connection, now)

    for client in gone:
        become(connection, client, now, "running")
    recover(connection, now)
    recover(connection, now + seconds(45))

    assert is_open(connection) == set()


def test_an_expired_attempt_frees_the_place(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 6)
    gone = fleet(connection, now - 10 * MINUTE, 2)
    recover(connection, now)

    at = now + 121 * seconds(1)
    hear(connection, at)
    others_beat(connection, gone, at)
    commands.expire(connection, at)

    assert len(recover(connection, at).command_ids) == 1


def evidence_of_opening(connection: Connection) -> dict[str, Any]:
    row = store.breaker_events(connection, None, 1)[0]
    found: dict[str, Any] = row["evidence"]
    return found


def test_the_record_of_an_opening_holds_the_numbers(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 10)
    fleet(connection, now - 4 * MINUTE, 5)
    recover(connection, now)

    assert evidence_of_opening(connection) == {"site": None, "seen": 15, "stale": 5, "recent": 5}


def stop(connection: Connection, now: datetime, uuids: list[str]) -> None:
    for one in uuids:
        become(connection, one, now, "stopped")


def put_on_hold(connection: Connection, now: datetime, uuids: list[str]) -> None:
    for one in uuids:
        holds.hold(connection, now, one, "user:anna", "mine", None)


def exclude_their_site(connection: Connection, now: datetime, _uuids: list[str]) -> None:
    holds.exclude_site(connection, now, "Vienna", "user:anna", "being sold")


def open_a_window(connection: Connection, now: datetime, _uuids: list[str]) -> None:
    schedule = Schedule(now, now + timedelta(hours=1))
    maintenance.plan(
        connection, now, NewWindow("Paint", "", MaintenanceScope.SITE, "Vienna", (), schedule), "user:anna"
    )


@pytest.mark.parametrize("let_alone", [stop, put_on_hold, exclude_their_site, open_a_window])
def test_whose_silence_would_be_no_news_is_not_counted_while_heard_either(
    connection: Connection, now: datetime, let_alone: Callable[[Connection, datetime, list[str]], None]
) -> None:
    fleet(connection, now, 12)
    fleet(connection, now - 4 * MINUTE, 5)
    others = fleet(connection, now, 13, site="Vienna")
    recover(connection, now)
    assert not is_open(connection)  # 5 of 30

    let_alone(connection, now, others)
    recover(connection, now + seconds(1))

    assert is_open(connection) == {None}
    assert "5 of 17 displays are silent" in breakers.standing(connection, ON)[None]


def test_at_a_site_only_those_are_counted_whose_silence_would_be_news(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 100)
    fleet(connection, now, 12, site="Vienna")
    fleet(connection, now - 4 * MINUTE, 5, site="Vienna")
    recover(connection, now)
    assert is_open(connection) == {"Vienna"}  # 5 of 17

    fleet(connection, now, 13, site="Vienna")
    stop(connection, now, fleet(connection, now, 4, site="Vienna"))
    for second in (1, 50, 100):
        recover(connection, now + seconds(second))

    assert not is_open(connection)  # 5 of 30


def test_a_display_that_came_back_just_before_all_fell_silent_is_no_case_before_they_are_heard(
    connection: Connection, now: datetime
) -> None:
    others = fleet(connection, now - seconds(126), 18)
    [back] = fleet(connection, now - 16 * MINUTE, 1, presence_at=now - seconds(125))

    assert sent(connection, recover(connection, now)) == []
    beat(connection, others, now + seconds(5))

    assert sent(connection, recover(connection, now + seconds(10))) == [(back, "reboot_host")]
