"""Reports of displays, on real Postgres: the newest wins, and each failure is raised once."""

import itertools
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.clients import failures_operations, failures_store
from shared.clients.failures_rules import ServiceFailure
from shared.clients.reports import operations as reports
from shared.clients.reports.rules import HealthReport, PresenceReport, player_crashed
from shared.clients.screens_rules import SeenScreen, fails
from shared.tables import client_health, client_state_changes, clients
from shared.vocabulary import Presence, ProcessStatus, ScreenHealthStatus
from shared.words.sentences import to_row
from tests.stores.reports_world import CLOCK, NOW, RUNNING, U, V, beat, client, heard, register, take

# --- who may report ---


def test_an_unknown_client_is_registered_by_what_registers(connection: Connection) -> None:
    admitted = reports.admit(connection, NOW, [U, V], [U], auto_register=True)

    assert admitted == {U}
    assert client(connection)["registered_by"] == "first_message"
    assert client(connection)["created_at"] == NOW
    assert reports.admit(connection, NOW, [U, V], [], auto_register=True) == {U}


def test_nobody_is_registered_where_that_is_switched_off(connection: Connection) -> None:
    assert reports.admit(connection, NOW, [U], [U], auto_register=False) == set()
    assert connection.execute(sa.select(sa.func.count()).select_from(clients)).scalar_one() == 0


def test_a_deleted_client_is_not_admitted_again(connection: Connection) -> None:
    register(connection, U)
    connection.execute(sa.update(clients).values(deleted_at=NOW))

    assert reports.admit(connection, NOW, [U], [U], auto_register=True) == set()


# --- heartbeats ---


@pytest.mark.parametrize("order", list(itertools.permutations([(1, 1), (1, 2), (2, 1)])))
@pytest.mark.parametrize("at_once", [True, False])
def test_the_newest_stamp_wins_in_any_order_of_arrival(
    connection: Connection, order: tuple[tuple[int, int], ...], at_once: bool
) -> None:
    register(connection, U)
    said = [beat(seq, boot_seq) for boot_seq, seq in order]

    for batch in [said] if at_once else [[one] for one in said]:
        take(connection, *batch)

    assert (heard(connection)["boot_seq"], heard(connection)["seq"]) == (2, 1)


def test_an_older_heartbeat_is_no_sign_of_life(connection: Connection) -> None:
    register(connection, U)
    take(connection, beat(5))

    take(connection, beat(4), beat(5), now=NOW + timedelta(seconds=60))

    assert heard(connection)["last_heartbeat_at"] == NOW


@pytest.mark.parametrize("at_once", [True, False])
def test_a_display_with_a_new_installation_is_believed_at_once(connection: Connection, at_once: bool) -> None:
    register(connection, U)
    old, new, late = beat(900, 40, "old"), beat(1, 1, "new"), beat(901, 40, "old")

    for batch in [[old, new, late]] if at_once else [[old], [new], [late]]:
        take(connection, *batch)

    assert (heard(connection)["install_id"], heard(connection)["seq"]) == ("new", 1)


def test_without_a_stamp_the_last_arrival_wins(connection: Connection) -> None:
    register(connection, U)
    take(connection, beat(7))

    take(connection, beat(app_instance="first"), beat(app_instance="second"))
    assert heard(connection)["app_instance"] == "second"
    assert heard(connection)["install_id"] is None

    take(connection, beat(1))
    assert heard(connection)["install_id"] == "i"


def test_a_heartbeat_counts_from_its_arrival_not_from_its_commit(connection: Connection) -> None:
    register(connection, U)

    take(connection, beat(1, at=CLOCK - 300))

    assert heard(connection)["last_heartbeat_at"] == NOW - timedelta(seconds=300)
    assert client(connection)["process_status"] == "running"
    assert client(connection)["status"] == "unknown"  # its content is out of date: the sweep decides


def test_a_new_boot_or_a_new_start_of_the_player_is_told(connection: Connection) -> None:
    register(connection, U, V)

    assert take(connection, beat(1, app_instance="a1"), beat(1, uuid=V)) == []  # first heard: no restart
    assert take(connection, beat(2, app_instance="a1")) == []
    assert take(connection, beat(3, app_instance="a2"), beat(2, uuid=V)) == [reports.NewStart(U, "b1", "a2")]
    assert take(connection, beat(1, 2, app_instance="a2")) == [reports.NewStart(U, "b2", "a2")]
    assert take(connection, beat(2, 2, boot_id=None, app_instance=None)) == []  # not reported


def test_a_heartbeat_that_does_not_say_how_the_player_is_leaves_it_as_it_was(connection: Connection) -> None:
    register(connection, U)
    take(connection, beat(1, process_status=ProcessStatus.CRASHED))

    take(connection, beat(2, process_status=None))

    assert (client(connection)["process_status"], client(connection)["status"]) == ("crashed", "crashed")


@pytest.mark.parametrize(
    "next_one", [{"seq": 2, "app_instance": "a2"}, {"seq": 1}], ids=["a new start", "an old number"]
)
def test_a_heartbeat_without_a_status_is_taken_whatever_else_it_says(
    connection: Connection, next_one: dict[str, Any]
) -> None:
    register(connection, U)
    take(connection, beat(1, app_instance="a1"))

    began_anew = take(connection, beat(process_status=None, **{"app_instance": "a1", **next_one}))

    assert began_anew == ([reports.NewStart(U, "b1", "a2")] if "app_instance" in next_one else [])
    assert client(connection)["process_status"] == "running"


def test_a_change_is_written_once_with_its_cause(connection: Connection) -> None:
    register(connection, U)
    for seq, status in enumerate([RUNNING, RUNNING, ProcessStatus.CRASHED, ProcessStatus.CRASHED], 1):
        take(connection, beat(seq, process_status=status), now=NOW + timedelta(seconds=seq))

    changes = connection.execute(sa.select(client_state_changes).order_by(client_state_changes.c.id)).all()
    assert [(row.from_status, row.to_status, row.at) for row in changes] == [
        ("unknown", "running", NOW + timedelta(seconds=1)),
        ("running", "crashed", NOW + timedelta(seconds=3)),
    ]
    assert changes[1].cause == to_row(player_crashed())
    assert client(connection)["process_status_since"] == NOW + timedelta(seconds=3)


# --- health ---


def report(seq: int | None = None, *, at: float = CLOCK, **fields: Any) -> HealthReport:
    stamp: dict[str, Any] = {} if seq is None else {"install_id": "i", "boot_seq": 1, "seq": seq}
    return HealthReport(U, at, {"n": seq}, **fields, **stamp)


def take_health(
    connection: Connection, *said: HealthReport, repeats: Iterable[ServiceFailure] = ()
) -> list[ServiceFailure]:
    reports.note_installs(connection, NOW, [(U, "i")])
    return reports.record_health(connection, NOW, CLOCK, said, repeats).failures


def test_the_newest_health_report_is_kept_and_an_older_one_changes_nothing(connection: Connection) -> None:
    register(connection, U)
    take_health(connection, report(2, hostname="new", screen_health=ScreenHealthStatus.OK))

    take_health(connection, report(1, hostname="old", screen_health=ScreenHealthStatus.BLACK))

    assert (client(connection)["hostname"], client(connection)["screen_health"]) == ("new", "ok")
    assert connection.execute(sa.select(client_health.c.body)).scalar_one() == {"n": 2}


def test_a_health_report_that_says_the_same_does_not_touch_the_client(connection: Connection) -> None:
    register(connection, U)
    take_health(connection, report(1, hostname="a", capabilities=["restart_app"], tells_disconnect=True))
    version = sa.text("SELECT ctid::text FROM clients")
    before = connection.execute(version).scalar_one()

    take_health(connection, report(2, hostname="a", capabilities=["restart_app"], tells_disconnect=True))

    assert connection.execute(version).scalar_one() == before


def screens(connection: Connection, *said: tuple[int, str | None]) -> list[tuple[int | None, int | None]]:
    """For each report (its second, its screen): since when the screen is bad, and when that became a failure."""
    register(connection, U)
    found = []
    for seq, (second, screen) in enumerate(said, 1):
        word = None if screen is None else ScreenHealthStatus(screen)
        take_health(connection, report(seq, at=CLOCK - 9000 + second, screen_health=word))
        row, heard = client(connection), connection.execute(sa.select(client_health)).one()
        shown = ScreenHealthStatus(row["screen_health"])
        seen = SeenScreen(shown, row["screen_health_since"], heard.previous_at, heard.received_at)
        assert fails(seen, planned=True) is (row["screen_failed_at"] is not None)  # the rule agrees
        found.append((second_of(row["screen_health_since"]), second_of(row["screen_failed_at"])))
    return found


def second_of(at: datetime | None) -> int | None:
    return None if at is None else round((at - NOW).total_seconds()) + 9000


def test_a_bad_screen_is_dated_from_when_it_became_bad_in_whatever_way(connection: Connection) -> None:
    words = [(30, "ok"), (60, "black"), (90, "frozen"), (120, None), (150, "ok"), (180, "off"), (210, "disconnected")]

    since = [since for since, _ in screens(connection, *words)]

    assert since == [None, 60, 60, 60, None, 180, 210]


@pytest.mark.parametrize(
    ("said", "failed"),
    [
        pytest.param([(0, "black")], [None], id="one report proves nothing"),
        pytest.param([(0, "ok"), (30, "black"), (60, "black"), (90, "black")], [None, None, 60, 60], id="two in a row"),
        pytest.param([(0, "black"), (30, "ok"), (60, "black")], [None, None, None], id="not in a row"),
        pytest.param([(0, "black"), (60, "unknown"), (120, "black")], [None] * 3, id="nobody knew in between"),
        pytest.param([(0, "black"), (30, "frozen"), (60, "disconnected")], [None, 30, 30], id="in whatever way"),
        pytest.param([(s, "black") for s in (0, 5, 10, 15, 20)], [None] * 4 + [20], id="a fast reporter"),
        pytest.param([(0, "black"), (600, "black")], [None, 600], id="a slow reporter"),
        pytest.param([(0, "black"), (901, "black"), (931, "black")], [None, None, 931], id="long apart, then in a row"),
        pytest.param([(0, "black"), (30, "black"), (60, "ok")], [None, 30, None], id="mended"),
        pytest.param([(0, "black"), (30, "black"), (2000, "black")], [None, 30, None], id="nothing told for long"),
        pytest.param([(0, "off"), (30, "off"), (60, "off")], [None] * 3, id="off: the tick decides"),
        pytest.param([(0, "off"), (30, "black"), (60, "black")], [None, None, 60], id="switched on, and black"),
        pytest.param([(0, "black"), (30, "black"), (60, "off")], [None, 30, None], id="black, then switched off"),
    ],
)
def test_a_screen_fails_from_the_second_report_in_a_row_on(
    connection: Connection, said: list[tuple[int, str | None]], failed: list[int | None]
) -> None:
    assert [at for _, at in screens(connection, *said)] == failed


def test_when_the_report_before_came_is_kept(connection: Connection) -> None:
    screens(connection, (0, "ok"), (30, "black"))

    row = connection.execute(sa.select(client_health)).one()

    assert (row.received_at - row.previous_at).total_seconds() == pytest.approx(30)


def test_capabilities_that_are_not_said_mean_all(connection: Connection) -> None:
    register(connection, U)
    take_health(connection, report(1, capabilities=["restart_app"]))
    assert client(connection)["capabilities"] == ["restart_app"]

    take_health(connection, report(2))

    assert client(connection)["capabilities"] is None


def test_only_the_newest_report_repeats_a_failure(connection: Connection) -> None:
    register(connection, U)
    old = ServiceFailure(U, CLOCK - 1, "player", None, by_topic=False)
    new = ServiceFailure(U, CLOCK, "agent", None, by_topic=False)

    counted = take_health(connection, report(1, at=CLOCK - 1), report(2, at=CLOCK), repeats=[old, new])
    late = take_health(connection, report(1, at=CLOCK - 1), repeats=[old])

    assert (counted, late) == ([new], [])


# --- service failures ---


def test_failures_of_one_batch_are_taken_in_their_order(connection: Connection) -> None:
    register(connection, U, V)
    said = [
        ServiceFailure(U, CLOCK - 9, "player", ("i", 1, 1), by_topic=True),
        ServiceFailure(V, CLOCK - 8, "player", None, by_topic=True),
        ServiceFailure(U, CLOCK - 7, "agent", ("i", 1, 2), by_topic=True),
        ServiceFailure(U, CLOCK - 6, "agent", ("i", 1, 2), by_topic=False),
    ]

    failures_operations.record(connection, NOW, CLOCK, said)

    shown = client(connection)
    assert (shown["service_failed_unit"], shown["service_failed_at"]) == ("agent", NOW - timedelta(seconds=7))
    assert shown["service_failed_stamp"] == {"install_id": "i", "boot_seq": 1, "seq": 2}
    assert client(connection, V)["service_failed_stamp"] is None


def test_a_stamp_that_came_with_the_repeat_is_known_when_it_is_acknowledged(connection: Connection) -> None:
    register(connection, U)
    repeat = ServiceFailure(U, CLOCK, "player", ("i", 1, 1), by_topic=False)
    failures_operations.record(connection, NOW, CLOCK, [ServiceFailure(U, CLOCK - 5, "player", None, by_topic=True)])

    failures_operations.record(connection, NOW, CLOCK, [repeat])

    shown = client(connection)
    assert shown["service_failed_at"] == NOW - timedelta(seconds=5)
    assert shown["service_failed_stamp"] == {"install_id": "i", "boot_seq": 1, "seq": 1}


def test_a_service_fails_again_after_code_of_before_acknowledged_its_failure(connection: Connection) -> None:
    """SQLAlchemy wrote None into a JSON column as JSON's null, which is not SQL's NULL."""
    register(connection, U)
    cleared = {"service_failed_stamp": sa.JSON.NULL, "service_failed_cleared_stamp": sa.JSON.NULL}
    connection.execute(sa.update(clients).where(clients.c.uuid == U).values(**cleared))

    failures_operations.record(connection, NOW, CLOCK, [ServiceFailure(U, CLOCK, "player", ("i", 1, 1), by_topic=True)])

    assert client(connection)["service_failed_unit"] == "player"


@pytest.mark.parametrize("first", ["player", "agent"])
def test_of_two_acknowledged_failures_neither_comes_back_by_its_repeat(connection: Connection, first: str) -> None:
    register(connection, U)
    stamps = {"player": ("i", 1, 1), "agent": ("i", 1, 2)}
    for minute, unit in enumerate(("player", "agent")):
        said = ServiceFailure(U, CLOCK, unit, stamps[unit], by_topic=True)
        failures_operations.record(connection, NOW + timedelta(minutes=2 * minute), CLOCK, [said])
        failures_store.clear_service_failed(connection, NOW + timedelta(minutes=2 * minute + 1), U, "user:anna")

    later = NOW + timedelta(hours=1)
    failures_operations.record(
        connection, later, CLOCK, [ServiceFailure(U, CLOCK, first, stamps[first], by_topic=False)]
    )
    assert client(connection)["service_failed_unit"] is None

    failures_operations.record(connection, later, CLOCK, [ServiceFailure(U, CLOCK, first, ("i", 1, 3), by_topic=False)])
    assert client(connection)["service_failed_unit"] == first


def test_an_older_failure_is_raised_again_when_the_one_over_it_was_acknowledged(
    connection: Connection,
) -> None:
    register(connection, U)
    for seconds, unit in enumerate(("player", "agent"), start=1):
        said = ServiceFailure(U, CLOCK, unit, ("i", 1, seconds), by_topic=True)
        failures_operations.record(connection, NOW + timedelta(seconds=seconds), CLOCK, [said])
    failures_store.clear_service_failed(connection, NOW + timedelta(minutes=1), U, "user:anna")

    failures_operations.record(
        connection, NOW, CLOCK, [ServiceFailure(U, CLOCK, "player", ("i", 1, 1), by_topic=False)]
    )

    assert client(connection)["service_failed_unit"] == "player"


# --- presence ---


@pytest.mark.parametrize(
    ("before", "said", "after"),
    [
        (("unknown", None), [(Presence.OFFLINE, "a")], ("offline", "a")),  # only a retained will is known
        (("unknown", None), [(Presence.ONLINE, "a")], ("online", "a")),
        (("online", "a"), [(Presence.OFFLINE, "a")], ("offline", "a")),
        (("online", "b"), [(Presence.OFFLINE, "a")], ("online", "b")),
        (("online", None), [(Presence.OFFLINE, None)], ("offline", None)),
        (("online", "b"), [(Presence.OFFLINE, None)], ("online", "b")),
        (("online", "b"), [(Presence.OFFLINE, "a"), (Presence.OFFLINE, "b")], ("offline", "b")),
        (("offline", "a"), [(Presence.OFFLINE, "z")], ("offline", "a")),
        (("online", "a"), [(Presence.ONLINE, "b"), (Presence.OFFLINE, "a")], ("online", "b")),
    ],
)
def test_presence_follows_the_session(
    connection: Connection,
    before: tuple[str, str | None],
    said: list[tuple[Presence, str | None]],
    after: tuple[str, str | None],
) -> None:
    register(connection, U)
    connection.execute(sa.update(clients).values(presence=before[0], presence_session=before[1]))

    online = reports.record_presence(connection, NOW, [PresenceReport(U, state, session) for state, session in said])

    shown = client(connection)
    assert (shown["presence"], shown["presence_session"]) == after
    assert online == ({U} if after[0] == "online" and before != after else set())
    assert shown["presence_at"] == (None if before == after else NOW)
