"""Fragments of SQL that several nouns share are equal to their rules in Python."""

from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.clients import screens_rules, screens_store
from shared.clients.failures_rules import service_fails
from shared.clients.reports import rules as reports
from shared.clients.screens_rules import SeenScreen
from shared.clients.signs_store import LATE_AFTER, THRESHOLD
from shared.postgres import fragments
from shared.quiet.rules import StoredQuietTime, state_at
from shared.recovery.evidence.rules import is_unwell
from shared.tables import client_commands
from shared.vocabulary import (
    BAD_SCREENS,
    COMMAND_RANKS,
    TERMINAL_RANK,
    WELL,
    WITHOUT_PICTURE,
    ClientStatus,
    CommandAction,
    CommandState,
    ProcessStatus,
    Quiet,
    QuietPreset,
    QuietScope,
    QuietState,
    ScreenHealthStatus,
)
from tests.stores.commands_world import add_client

HOUR = timedelta(hours=1)


def said(connection: Connection, expression: str, row: str, **values: Any) -> Any:
    """The value of the SQL expression for this row."""
    return connection.execute(sa.text(f"SELECT {expression} FROM {row}"), values).scalar_one()


@pytest.mark.parametrize("state", CommandState)
def test_a_command_is_open_until_its_state_is_a_last_one(
    connection: Connection, now: datetime, state: CommandState
) -> None:
    of_it = {"id": "one", "client_uuid": add_client(connection, now), "action": "restart_app", "state": state.value}
    whose = {"source": "operator", "reason": "", "requested_by": "user:anna"}
    times = {"created_at": now, "expires_at": now + HOUR}
    ended = {} if COMMAND_RANKS[state] < TERMINAL_RANK else {"finished_at": now}
    connection.execute(sa.insert(client_commands).values(**of_it, **whose, **times, **ended))

    is_open = said(connection, fragments.is_open("k"), "client_commands AS k")

    assert is_open is (COMMAND_RANKS[state] < TERMINAL_RANK)


@pytest.mark.parametrize("action", CommandAction)
def test_every_open_command_but_a_screenshot_keeps_its_client_from_another(
    connection: Connection, action: CommandAction
) -> None:
    row = f"(SELECT 10 AS rank, '{action}' AS action) AS k"

    assert said(connection, fragments.occupies("k"), row) is (action is not CommandAction.SCREENSHOT)
    assert said(connection, fragments.occupies("k"), row.replace("10", str(TERMINAL_RANK))) is False


@pytest.mark.parametrize("dark", [True, False])
@pytest.mark.parametrize(("failed", "mended"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("process", ProcessStatus)
@pytest.mark.parametrize("status", ClientStatus)
def test_a_client_is_unwell_as_the_rule_says(
    connection: Connection,
    now: datetime,
    status: ClientStatus,
    process: ProcessStatus,
    failed: bool,
    mended: bool,
    dark: bool,
) -> None:
    failed_at, mended_at, dark_at = (now if true else None for true in (failed, mended, dark))
    row = (
        "(SELECT CAST(:status AS text) AS status, CAST(:process AS process_status) AS process_status,"
        " CAST(:failed_at AS timestamptz) AS service_failed_at, CAST(:mended_at AS timestamptz) AS service_mended_at,"
        " CAST(:dark_at AS timestamptz) AS screen_failed_at,"
        " CAST(:dark_at AS timestamptz) AS screen_health_since) AS c"
    )
    values = {"status": status.value, "process": process.value}
    times = {"failed_at": failed_at, "mended_at": mended_at, "dark_at": dark_at}
    fails = service_fails(failed_at, mended_at)

    assert said(connection, fragments.service_fails("c"), row, **values, **times) is fails
    assert said(connection, fragments.is_unwell("c"), row, **values, **times) is is_unwell(
        status, process, fails, dark_at
    )
    assert said(connection, fragments.is_well("c"), row, **values, **times) is (status in WELL)


@pytest.mark.parametrize("screen", ScreenHealthStatus)
def test_which_screens_are_bad_and_without_a_picture(connection: Connection, screen: ScreenHealthStatus) -> None:
    row = "(SELECT CAST(:screen AS screen_health_status) AS screen) AS c"

    assert said(connection, fragments.is_bad("c.screen"), row, screen=screen.value) is (screen in BAD_SCREENS)
    without = said(connection, fragments.is_without_picture("c.screen"), row, screen=screen.value)
    assert without is (screen in WITHOUT_PICTURE)


@pytest.mark.parametrize("since", [None, 0, 10, 30])
@pytest.mark.parametrize("before", [None, 0, 20, 30])
@pytest.mark.parametrize("at", [19, 20, 30, 919, 920, 950])
def test_two_reports_in_a_row_are_the_same_in_both(
    connection: Connection, now: datetime, since: int | None, before: int | None, at: int
) -> None:
    moments = [None if one is None else now + timedelta(seconds=one) for one in (since, before, at)]
    columns = ", ".join(f"CAST(:{name} AS timestamptz) AS {name}" for name in ("since", "before", "at"))
    row = f"(SELECT {columns}) AS m"
    values = dict(zip(("since", "before", "at"), moments, strict=True))

    by_rule = screens_rules.in_a_row(SeenScreen(ScreenHealthStatus.BLACK, *moments))  # type: ignore[arg-type]
    assert bool(said(connection, screens_store.in_a_row("m.since", "m.before", "m.at"), row, **values)) is by_rule


@pytest.mark.parametrize("planned", [True, False])
@pytest.mark.parametrize("screen", ScreenHealthStatus)
def test_which_screens_fail_after_two_reports_in_a_row(
    now: datetime, screen: ScreenHealthStatus, planned: bool
) -> None:
    since = now - timedelta(seconds=30)
    fails = screens_rules.fails(SeenScreen(screen, since, since, now), planned=planned)

    assert fails is (screen in BAD_SCREENS or (screen is ScreenHealthStatus.OFF and not planned))


@pytest.mark.parametrize("stale", [30, 180, 1800])
@pytest.mark.parametrize("interval", [1, 30, 45, 46, 60, 61, 600, 3600])
def test_a_client_is_late_and_stale_after_the_same_time(connection: Connection, interval: int, stale: int) -> None:
    row = "(SELECT CAST(:interval AS int) AS interval_seconds) AS h"

    assert said(connection, LATE_AFTER, row, interval=interval) == reports.late_after(interval)
    assert said(connection, THRESHOLD, row, interval=interval, stale=stale) == reports.stale_after(interval, stale)


@pytest.mark.parametrize("age", [0.0, 0.25, 90.0])
def test_a_report_arrived_as_long_ago_as_the_bridges_clock_says(
    connection: Connection, now: datetime, age: float
) -> None:
    row = "(SELECT CAST(:heard AS float8) AS heard) AS said"

    arrived = said(connection, fragments.arrived_at("said"), row, heard=1000.0 - age, now=now, clock=1000.0)

    assert arrived == now - timedelta(seconds=age)


TIMES = [
    pytest.param({"starts_at": -2, "ends_at": -1}, QuietState.OVER, id="over"),
    pytest.param({"starts_at": -1, "ends_at": 0}, QuietState.OVER, id="over just now"),
    pytest.param({"starts_at": 0, "ends_at": 1}, QuietState.ON, id="on from now"),
    pytest.param({"starts_at": 0}, QuietState.ON, id="until it is ended"),
    pytest.param({"starts_at": 1, "ends_at": 2}, QuietState.PLANNED, id="to come"),
    pytest.param({"starts_at": -1, "ends_at": 1, "ended_at": 0}, QuietState.ENDED, id="ended by a person"),
    pytest.param({"starts_at": 1, "created_at": 1}, QuietState.ON, id="made since this transaction began"),
]


@pytest.mark.parametrize(("hours", "state"), TIMES)
def test_a_quiet_time_is_current_and_may_apply_as_its_state_says(
    connection: Connection, now: datetime, hours: dict[str, int], state: QuietState
) -> None:
    at = {"created_at": now - 3 * HOUR, **{name: now + number * HOUR for name, number in hours.items()}}
    names = ("starts_at", "ends_at", "ended_at", "created_at")
    values = {name: at.get(name) for name in names}
    time = StoredQuietTime(
        id=1,
        preset=QuietPreset.HOLD,
        quiet=[Quiet.RECOVERY],
        scope=QuietScope.FLEET,
        site=None,
        tag=None,
        spans=(),
        time_zone=None,
        reason="",
        created_by="user:anna",
        ended_by=None,
        **values,  # type: ignore[arg-type]
    )
    row = f"(SELECT {', '.join(f'CAST(:{name} AS timestamptz) AS {name}' for name in names)}) AS q"

    assert state_at(time, now) is state
    is_current = state in {QuietState.ON, QuietState.PLANNED}
    assert said(connection, fragments.is_current("q"), row, **values, now=now) is is_current
    assert said(connection, fragments.may_be_quiet("q"), row, **values, now=now) is (state is QuietState.ON)
