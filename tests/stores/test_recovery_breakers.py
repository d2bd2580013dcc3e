"""The breakers on real Postgres: so many clients are silent at once that the service may be at fault."""

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.commands import operations as commands
from shared.recovery import store
from shared.recovery.breakers import operations as breakers
from shared.recovery.breakers import words_rules
from shared.tables import client_heartbeats, clients
from shared.words.reader import english
from tests.stores.commands_world import seconds
from tests.stores.recovery_world import (
    OFF,
    ON,
    beat,
    breaker_decisions,
    crash,
    finish,
    fleet,
    hear,
    look,
    open_breakers,
    others_beat,
    recover,
    sent,
    told,
)

pytestmark = pytest.mark.usefixtures("listening")
MINUTE = timedelta(minutes=1)
OPENED, CLOSED, RELEASED = "breaker_open", "breaker_closed", "breaker_released"


def test_it_opens_when_a_fifth_fell_silent_at_once_and_says_so_once(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 80)
    gone = fleet(connection, now - 4 * MINUTE, 20)

    for second in (0, 20, 40):
        assert recover(connection, now + seconds(second)).command_ids == ()

    [event] = store.events_page(connection, None, 100, None)  # one line, and not one of each display
    assert (event.decision, event.evidence) == (OPENED, {"site": None, "seen": 100, "stale": 20, "recent": 20})
    state = told(connection, now + seconds(40), gone[0])
    assert state["state"] == "blocked_breaker"
    assert "20 of 100 displays are silent" in state["why"]
    shown = breakers.state(connection, ON)
    assert (shown["open"], shown["sites"]) == (True, [None])
    assert shown["why"] == words_rules.breaker_open(site=None, stale=20, seen=100, percent=20)


def test_below_a_fifth_it_stays_closed(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 81)
    fleet(connection, now - 4 * MINUTE, 19)

    assert len(recover(connection, now).command_ids) == 10
    assert breakers.state(connection, ON) == {"open": False, "why": None, "sites": []}


def test_it_stays_open_until_few_enough_are_silent_and_then_they_are_acted_on(
    connection: Connection, now: datetime
) -> None:
    there = fleet(connection, now, 80)
    gone = fleet(connection, now - 4 * MINUTE, 20)
    recover(connection, now)

    at = now + timedelta(hours=1)
    still = look(connection, at, there)
    first = look(connection, at, gone[0])  # the last clients to come back get some time
    again = recover(connection, at + seconds(2))  # a repeated tick does not count as time
    closed = look(connection, at + MINUTE, there, gone[0])

    reports = (still, first, again, closed)
    assert [(len(one.command_ids), one.breakers_open) for one in reports] == [(0, 1), (0, 1), (0, 1), (10, 0)]
    assert breaker_decisions(connection) == [(OPENED, None), (CLOSED, None)]


def test_while_it_is_open_a_rise_in_between_begins_the_wait_anew(connection: Connection, now: datetime) -> None:
    there = fleet(connection, now, 80)
    gone = fleet(connection, now - 4 * MINUTE, 20)
    recover(connection, now)

    reports = []
    for minute, back in enumerate((20, 0, 20, 20), start=60):
        at = now + minute * MINUTE
        if not back:
            beat(connection, gone, at - 4 * MINUTE)
        reports.append(look(connection, at, there, gone[:back]))

    assert [report.breakers_open for report in reports] == [1, 1, 1, 0]


@pytest.mark.parametrize("interval", [5, 30, 300, 600, 3600])
def test_a_share_that_is_cut_off_at_once_opens_it_however_seldom_it_beats(
    connection: Connection, now: datetime, interval: int
) -> None:
    """Their last heartbeats are up to an interval old at the cut, so they become stale one after another."""
    there, gone = fleet(connection, now, 70), fleet(connection, now, 30)
    connection.execute(sa.update(client_heartbeats).values(interval_seconds=interval))
    for number, one in enumerate(gone):
        beat(connection, one, now - seconds(interval * number / len(gone)))

    acted = []
    for minute in range(0, 20 + 5 * interval // 60, 1 + interval // 600):
        acted += sent(connection, look(connection, now + minute * MINUTE, there))

    assert acted == []
    assert open_breakers(connection) == {None}


@pytest.mark.parametrize("interval", [30, 300, 600, 3600])
def test_those_that_come_back_after_a_fault_of_ours_have_an_interval_to_do_so(
    connection: Connection, now: datetime, interval: int
) -> None:
    everybody = fleet(connection, now - timedelta(hours=5), 50)
    connection.execute(sa.update(client_heartbeats).values(interval_seconds=interval))
    recover(connection, now)
    opened = open_breakers(connection)

    acted = []
    for minute in range(1, 5 + 4 * interval // 60, 1 + interval // 1200):
        at = now + minute * MINUTE
        hear(connection, at)
        for number, one in enumerate(everybody):
            since_first = at - now - seconds(interval * number / len(everybody))
            if since_first >= timedelta():
                beat(connection, one, at - since_first % seconds(interval))
        acted += sent(connection, recover(connection, at))

    assert opened == {None}
    assert acted == []
    assert open_breakers(connection) == set()


def test_those_that_beat_seldom_and_fall_silent_one_by_one_do_not_open_it(
    connection: Connection, now: datetime
) -> None:
    there, gone = fleet(connection, now, 70), fleet(connection, now, 30)
    connection.execute(sa.update(client_heartbeats).values(interval_seconds=600))
    for number, one in enumerate(gone):
        beat(connection, one, now - number * timedelta(minutes=45))

    assert len(look(connection, now + timedelta(hours=1), there).command_ids) == 10
    assert open_breakers(connection) == set()


def test_a_clock_that_is_set_back_does_not_hold_it_open(connection: Connection, now: datetime) -> None:
    there = fleet(connection, now, 80)
    gone = fleet(connection, now - 4 * MINUTE, 20)
    recover(connection, now)
    everybody = [*there, *gone]
    beat(connection, everybody, now + timedelta(hours=1))
    recover(connection, now + timedelta(hours=1))  # low, by a clock that is an hour ahead

    reports = [look(connection, now + minute * MINUTE, everybody) for minute in (1, 2)]

    assert [report.breakers_open for report in reports] == [1, 0]


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

    assert open_breakers(connection) == set()


# --- our own deafness ---


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
        report = look(connection, at, there)
        acted += len(report.command_ids)
        finish(connection, at, report)

    assert (released, acted, open_breakers(connection)) == ([None], 30, set())
    assert breaker_decisions(connection) == [(OPENED, None), (RELEASED, None)]


def test_after_a_release_new_silence_opens_it_again(connection: Connection, now: datetime) -> None:
    there = fleet(connection, now, 50)
    fleet(connection, now - 4 * MINUTE, 50)
    recover(connection, now)
    breakers.release(connection, now, "user:anna", None)

    look(connection, now + 5 * MINUTE, there[:30])

    assert open_breakers(connection) == {None}
    assert "20 of 50 displays are silent" in english(breakers.state(connection, ON)["why"])


@pytest.mark.parametrize("site", [None, "Basel"])
def test_while_an_open_one_waits_to_close_it_no_longer_says_that_many_are_silent(
    connection: Connection, now: datetime, site: str | None
) -> None:
    fleet(connection, now, 100 if site else 0)
    gone = fleet(connection, now - 4 * MINUTE, 20, site=site)
    recover(connection, now)
    assert "20 of 20 displays are silent" in english(breakers.state(connection, ON)["why"])

    look(connection, now + seconds(20), gone)

    state = breakers.state(connection, ON)
    assert state["open"]
    assert state["why"] == words_rules.breaker_closing(site=site, seconds=45)


def test_the_fleets_release_covers_the_sites_below_it(connection: Connection, now: datetime) -> None:
    fleet(connection, now - 4 * MINUTE, 20, site="Basel")
    recover(connection, now)

    breakers.release(connection, now, "user:anna", None)
    report = recover(connection, now)

    assert (len(report.command_ids), open_breakers(connection)) == (10, set())


def test_one_site_is_released_alone(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 100)
    for site in ("Basel", "Bern"):
        fleet(connection, now - 4 * MINUTE, 8, site=site)
    recover(connection, now)

    assert breakers.release(connection, now, "user:anna", "Basel") == ["Basel"]
    recover(connection, now)

    assert open_breakers(connection) == {"Bern"}


def test_releasing_what_is_not_open_changes_nothing(connection: Connection, now: datetime) -> None:
    assert breakers.release(connection, now, "user:anna", None) == []
    assert breakers.release(connection, now, "user:anna", "Nowhere") == []
    assert breaker_decisions(connection) == []


def test_with_recovery_off_no_breaker_is_shown_as_open(connection: Connection, now: datetime) -> None:
    fleet(connection, now - 4 * MINUTE, 20)
    recover(connection, now)

    assert breakers.state(connection, OFF) == {"open": False, "why": None, "sites": []}


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


def test_an_expired_attempt_frees_the_place(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 6)
    gone = fleet(connection, now - 10 * MINUTE, 2)
    recover(connection, now)

    at = now + 121 * seconds(1)
    hear(connection, at)
    others_beat(connection, gone, at)
    commands.expire(connection, at)

    assert len(recover(connection, at).command_ids) == 1
