"""Every message of a display is a sign of life; it is stored only if the display's heartbeats are missing."""

import itertools
import json
import time
import uuid as uuids
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pytest
import sqlalchemy as sa
from msgspec.structs import asdict, replace
from sqlalchemy import Connection, Engine

from bridge.batches import OverBudget
from bridge.inbox import Arrival, PutAside, Taken
from bridge.status import Counters
from bridge.storing import BatchOutcome
from deploy.parts import broker as mosquitto
from shared.clients import store as clients_store
from shared.clients.signs_rules import SignsMemory
from shared.commands import operations as commands
from shared.config import load
from shared.postgres.door import database_now, transaction
from shared.recovery import operations as recovery
from shared.words.reader import english
from tests.bridge.conftest import Database, Display, StartBridge, displays, eventually, stamp
from tests.bridge.test_memory import INBOX, Fleet

HOUR: Final = 3600.0
FULL: Final = "x" * 1100  # a heartbeat of 1.2 KiB; the limit is 1 KiB
ON: Final = load({"CRASH_RECOVERY_ENABLED": "true", "HEARTBEAT_STALE_SECONDS": "90"})


@pytest.fixture
def fleet(engine: Engine) -> Iterator[Fleet]:
    with engine.connect() as connection:
        made = Fleet(connection)
        yield made
        connection.invalidate()  # with the leader lock


@pytest.fixture
def client(fleet: Fleet) -> str:
    """A display whose last heartbeat came an hour ago."""
    name = str(uuids.uuid4())
    write(fleet, arrival(name, "heartbeat", {"process_status": "running", **stamp(1)}, heard=time.monotonic() - HOUR))
    return name


def arrival(
    client: str, topic: str, body: dict[str, Any] | bytes, *, heard: float | None = None, is_retained: bool = False
) -> Arrival:
    payload = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Arrival(f"signage/{client}/{topic}", payload, 1, time.monotonic() if heard is None else heard, is_retained)


def write(fleet: Fleet, *arrivals: Arrival, over: tuple[OverBudget, ...] = ()) -> None:
    batch: list[Taken | PutAside | OverBudget] = [*map(INBOX.read, arrivals), *over]
    fleet.writer.write(fleet.connection, batch, Counters(), len(arrivals))


def sign_of(fleet: Fleet, client: str) -> float | None:
    """The age of its last sign in seconds, by the database's clock."""
    [row] = fleet.rows(
        "SELECT extract(epoch FROM now() - sign_at) AS ago FROM client_heartbeats WHERE client_uuid = :u", u=client
    )
    return None if row["ago"] is None else float(row["ago"])


SIGNS: list[tuple[str, dict[str, Any] | bytes]] = [
    ("health", {"hostname": "lobby", **stamp(1)}),
    ("logs/info", {"message": "m", **stamp(1)}),
    ("service_failed", b"player.service"),
    ("acks", {"id": "c1", "state": "received"}),
    ("presence", {"state": "online", "session": "s"}),
    ("heartbeat", {"process_status": "running", "notes": FULL, **stamp(2)}),
    ("heartbeat", {"process_status": "running", "v": 2}),
    ("heartbeat", b"{"),
    ("heartbeat", {"process_status": "running", **stamp(1)}),  # not newer: its counter went back
    ("health", b"\xff"),
    ("logs/info", {"message": 5}),
    ("acks", {"id": 5}),
    ("service_failed", b""),
]
NO_SIGNS: list[tuple[str, dict[str, Any] | bytes, bool]] = [
    ("presence", {"state": "offline", "session": "s"}, False),  # perhaps its will
    ("presence", {"state": "online", "session": "s"}, True),  # retained by the broker
    ("presence", b"its will, in words", False),
    ("health", {"hostname": "lobby", **stamp(9)}, True),
    ("heartbeat", b"{", True),
    ("nonsense", b"{}", False),
]


@pytest.mark.parametrize(("topic", "body"), SIGNS)
def test_whatever_a_display_sends_is_a_sign(
    fleet: Fleet, client: str, topic: str, body: dict[str, Any] | bytes
) -> None:
    write(fleet, arrival(client, topic, body, heard=time.monotonic() - 1000))

    ago = sign_of(fleet, client)
    assert ago is not None
    assert 1000 <= ago < HOUR  # the time of its arrival, not of the write


@pytest.mark.parametrize(("topic", "body", "is_retained"), NO_SIGNS)
def test_what_the_broker_kept_or_sends_in_its_name_is_none(
    fleet: Fleet, client: str, topic: str, body: dict[str, Any] | bytes, is_retained: bool
) -> None:
    write(fleet, arrival(client, topic, body, is_retained=is_retained))

    assert sign_of(fleet, client) is None


def test_so_is_a_log_line_over_the_budget_and_what_the_database_refuses(fleet: Fleet, client: str) -> None:
    write(fleet, over=(OverBudget(client, is_numbered=True),))
    assert sign_of(fleet, client) is not None

    fleet.do("UPDATE client_heartbeats SET sign_at = NULL")
    fleet.memory.signs.signs.clear()
    poison = INBOX.read(arrival(client, "health", {"hostname": "lobby", **stamp(3)}))
    assert isinstance(poison, Taken)
    poison.message.body = replace(poison.message.body, screen_health="no such word")  # type: ignore[type-var]
    outcome = fleet.writer.write(fleet.connection, [poison], Counters(), 1)
    assert [one.reason for one in outcome.refused] == ["refused_by_database"]
    assert sign_of(fleet, client) is not None


@pytest.fixture
def statements(engine: Engine) -> Iterator[list[str]]:
    """The statements about signs."""
    found: list[str] = []

    def note(_connection: Connection, _cursor: Any, statement: str, *_rest: Any) -> None:
        if "sign_at" in statement:
            found.append(statement)

    sa.event.listen(engine, "before_cursor_execute", note)
    yield found
    sa.event.remove(engine, "before_cursor_execute", note)


def test_a_healthy_display_costs_no_statement_one_that_only_talks_one_in_30_seconds(
    fleet: Fleet, client: str, statements: list[str]
) -> None:
    well, now = str(uuids.uuid4()), time.monotonic()
    for number in range(1, 61):  # an hour of one report a minute
        at = now - HOUR + 60 * number
        beat = arrival(well, "heartbeat", {"process_status": "running", **stamp(number)}, heard=at)
        line = arrival(well, "logs/info", {"message": "m", **stamp(number)}, heard=at)
        write(fleet, beat, line, arrival(well, "health", {"hostname": "a", **stamp(number)}, heard=at))
    assert statements == []

    for number in range(1, 121):  # two minutes of one report a second
        write(fleet, arrival(client, "health", {"hostname": "b", **stamp(number)}, heard=now - 120 + number))
    assert len(statements) == 4
    assert sign_of(fleet, well) is None


def test_a_bridge_that_remembers_nobody_takes_the_first_sign(fleet: Fleet, client: str) -> None:
    fleet.memory.signs = SignsMemory()  # another bridge led

    write(fleet, arrival(client, "logs/info", {"message": "here", "seq": 1}))

    assert sign_of(fleet, client) is not None


def test_a_sign_that_was_not_committed_is_given_again(fleet: Fleet, client: str) -> None:
    told = arrival(client, "health", {"hostname": "b", **stamp(1)})

    class Dying(Counters):
        def with_outcome(self, _outcome: BatchOutcome, _received: int) -> Counters:
            raise ConnectionError

    with pytest.raises(ConnectionError):
        fleet.writer.write(fleet.connection, [INBOX.read(told)], Dying(), 1)
    assert sign_of(fleet, client) is None
    write(fleet, told)
    assert sign_of(fleet, client) is not None


# --- with a real bridge and a real broker ---

Body = dict[str, Any] | bytes
LOST: Final = b""  # the broker's rights drop all publishes
UPDATES: list[tuple[Callable[[int], Body], str]] = [
    (lambda n: {"process_status": "running", "notes": FULL, **stamp(n)}, "were too large."),
    (lambda n: {"process_status": "running", "v": 2, **stamp(n)}, "of a version that is not supported."),
    (lambda n: b"{'seq': %d}" % n, "were not JSON."),
    (lambda _: LOST, "do not: look at what the broker lets it publish"),
]


def test_displays_whose_update_spoils_heartbeats_are_left_alone_until_all_is_silent(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, engine: Engine, database: Database
) -> None:
    database.do("TRUNCATE clients, dead_letters, recovery_breakers CASCADE")
    names = [str(uuids.uuid4()) for _ in UPDATES]
    start_bridge(HEARTBEAT_STALE_SECONDS="90")
    with displays(broker, names) as shops:
        numbers = itertools.count(1)
        eventually(lambda: all_beat(shops, database, next(numbers)))
        pass_time(database, 200)  # then they are updated

        eventually(lambda: all_talk(shops, database, next(numbers)), 120)
        eventually(lambda: statuses(database) == {"unknown": 4}, 60)
        for display, (_, words) in zip(shops, UPDATES, strict=True):
            seen = looked_at(engine, display.uuid)
            assert (seen["state"], words in seen["why"]) == ("verifying", True), seen
        assert round_of_recovery(engine) == []

    pass_time(database, 200)
    eventually(lambda: statuses(database) == {"stale": 4}, 60)
    [(client, action)] = round_of_recovery(engine)  # one at a time in such a small fleet
    assert (client in names, action) == (True, "reboot_host")


def all_beat(shops: Sequence[Display], database: Database, number: int) -> bool:
    """Each display sends a good heartbeat. Returns whether all are shown as running."""
    for display in shops:
        beat = {"process_status": "running", "interval_seconds": 5, "boot_id": "b", **stamp(number)}
        display.publish("heartbeat", beat)
    return statuses(database) == {"running": 4}


def statuses(database: Database) -> dict[str, int]:
    """Shown status -> how many displays."""
    return {row["status"]: row["n"] for row in database.rows("SELECT status, count(*) AS n FROM clients GROUP BY 1")}


def all_talk(shops: Sequence[Display], database: Database, number: int) -> bool:
    """Each display sends health and a spoiled heartbeat. Returns whether the bridge has noted a sign of all."""
    for display, (after_update, _) in zip(shops, UPDATES, strict=True):
        heartbeat = after_update(number)
        if heartbeat != LOST:
            display.publish("heartbeat", heartbeat)
        display.publish("health", {"hostname": "lobby", **stamp(number)})
    return bool(database.value("SELECT count(*) = 4 FROM client_heartbeats WHERE sign_at > last_heartbeat_at"))


def pass_time(database: Database, seconds: float) -> None:
    """Let time pass, by making the displays' rows and the listening time older."""
    age = "- make_interval(secs => :s)"
    signs = f"last_heartbeat_at = last_heartbeat_at {age}, sign_at = sign_at {age}"
    for change in (f"client_heartbeats SET {signs}", f"bridge_status SET connected_since = connected_since {age}"):
        database.do(f"UPDATE {change}", s=seconds)


def looked_at(engine: Engine, client: str) -> dict[str, Any]:
    """What people see about recovery of this display."""
    with transaction(engine) as connection:
        shown = clients_store.get(connection, client)
        assert shown is not None
        state = recovery.states_of(connection, database_now(connection), ON, [shown])[client]
    return asdict(state) | {"why": english(state.why)}


def round_of_recovery(engine: Engine) -> list[tuple[str, str]]:
    """Run recovery. Returns the (client, action) of its commands."""
    with transaction(engine) as connection:
        report = recovery.recover(connection, database_now(connection), ON, commands.timings(ON))
        found = connection.execute(
            sa.text("SELECT client_uuid, action FROM client_commands WHERE id = ANY(:ids)"),
            {"ids": list(report.command_ids)},
        )
        return [(row.client_uuid, row.action) for row in found]
