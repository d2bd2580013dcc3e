"""Each bad message becomes a dead letter with its reason; all good ones are stored, and the bridge continues."""

import json
import uuid
from collections import Counter

import pytest
from sqlalchemy import Connection

from bridge.writes import is_poison
from deploy.parts import broker as mosquitto
from shared.vocabulary import DeadLetterReason
from tests.bridge.conftest import (
    Database,
    Display,
    StartBridge,
    displays,
    eventually,
    stamp,
)

Reason = DeadLetterReason
DEEP = b'{"message": "m", "a":' + b"[" * 4000 + b"]" * 4000 + b"}"
POISON: list[tuple[str, bytes, DeadLetterReason]] = [
    ("logs/info", b"", Reason.NOT_JSON),
    ("logs/info", b"no json", Reason.NOT_JSON),
    ("logs/info", b'{"message": "a\x00b"}', Reason.NOT_JSON),
    ("logs/info", b'{"message": "\xff"}', Reason.NOT_UTF8),
    ("logs/info", b"[1]", Reason.NOT_AN_OBJECT),
    ("logs/info", b'{"message": 5}', Reason.BAD_FIELD),
    ("logs/info", b'{"message": "m", "x": NaN}', Reason.BAD_NUMBER),
    ("logs/info", b'{"message": "m", "x": 123456789012345678901}', Reason.BAD_NUMBER),
    ("logs/info", b'{"message": "m", "x": 1e400}', Reason.BAD_NUMBER),
    ("logs/info", DEEP, Reason.TOO_DEEP),
    ("logs/info", b'{"message": "' + b"x" * 16_384 + b'"}', Reason.TOO_LARGE),
    ("logs/info", b'{"message": "m", "v": 2}', Reason.UNSUPPORTED_VERSION),
    ("heartbeat", b"{", Reason.NOT_JSON),
    ("health", b'"x"', Reason.NOT_AN_OBJECT),
    ("service_failed", b'{"unit": ""}', Reason.BAD_FIELD),
    ("presence", b'{"state": "away"}', Reason.BAD_FIELD),
    ("acks", b'{"id": 5}', Reason.BAD_FIELD),
]
SURVIVORS = [  # odd but good: only the bad field is dropped, and text is scrubbed
    (b'{"message": "nul \\u0000 in it"}', "nul \ufffd in it"),
    (b'{"message": "lone \\ud800 surrogate", "logger": 7}', "lone \ufffd surrogate"),
    (b'{"message": "context", "context": {"\\u0000": ["\\udfff", 1e308, 18446744073709551615]}}', "context"),
    (b'{"message": "bad fields", "seq": -1, "ts": [], "context": 5, "install_id": {}}', "bad fields"),
]


def letters(database: Database, name: str) -> Counter[tuple[str, str]]:
    """(topic below the client, reason) -> how many messages."""
    found = database.rows("SELECT topic, reason, count FROM dead_letters WHERE topic LIKE :t", t=f"%/{name}/%")
    counted: Counter[tuple[str, str]] = Counter()
    for row in found:
        counted[row["topic"].split("/", 2)[2], row["reason"]] += row["count"]
    return counted


def stored(database: Database, name: str) -> list[str]:
    found = database.rows("SELECT message FROM client_logs WHERE client_uuid = :u ORDER BY id", u=name)
    return [row["message"] for row in found]


def test_among_poison_every_good_message_is_stored_and_each_bad_one_named(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    bridge = start_bridge()
    good = []
    for number, (topic, payload, _) in enumerate(POISON * 3):
        display.publish_soon(topic, payload)
        good.append(f"good {number}")
        display.publish_soon("logs/info", {"message": good[-1], **stamp(number + 1)})
    for payload, message in SURVIVORS:
        display.publish_soon("logs/info", payload)
        good.append(message)

    eventually(lambda: len(stored(database, display.uuid)) >= len(good))

    assert stored(database, display.uuid) == good
    expected: Counter[tuple[str, str]] = Counter()
    for topic, _, reason in POISON:
        expected[topic, reason.value] += 3
    assert letters(database, display.uuid) == expected
    rows = database.rows("SELECT * FROM dead_letters WHERE topic LIKE :t", t=f"%/{display.uuid}/%")
    assert len(rows) == len(POISON)  # repeats are only counted
    assert all(row["count"] == 3 and row["first_at"] <= row["last_at"] for row in rows)
    assert max(len(row["payload"]) for row in rows) == 4096
    assert max(row["payload_bytes"] for row in rows) == 16_384 + len('{"message": ""}')
    assert bridge.ask("/readyz")[0] == 200


def test_a_name_that_is_no_uuid_is_put_aside(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, database: Database
) -> None:
    start_bridge()
    names = ["lobby", str(uuid.uuid4()).upper()]
    with displays(broker, names) as made:
        for display in made:
            display.publish("heartbeat", {"process_status": "running"})
            display.publish("logs/info", {"message": "m"})

        for name in names:
            expected = Counter({("heartbeat", "bad_uuid"): 1, ("logs/info", "bad_uuid"): 1})
            eventually(lambda name=name, expected=expected: letters(database, name) == expected)  # type: ignore[misc]  # mypy cannot infer defaults
            assert database.client(name) == {}


def test_what_only_the_database_can_refuse_is_found_in_its_batch(
    start_bridge: StartBridge, bridge_session: None, display: Display, database: Database
) -> None:
    """A constraint that the parser does not know stands for anything that it may overlook."""
    database.do("ALTER TABLE client_logs ADD CONSTRAINT no_poison CHECK (message NOT LIKE 'poison%')")
    try:
        sent = [f"poison {n}" if n in {3, 4, 77, 150} else f"line {n}" for n in range(1, 201)]
        for number, message in enumerate(sent, 1):
            display.publish("logs/info", {"message": message, **stamp(number)})
        display.publish("heartbeat", {"process_status": "running"})

        bridge = start_bridge()

        good = [message for message in sent if not message.startswith("poison")]
        eventually(lambda: len(stored(database, display.uuid)) >= len(good))
        assert stored(database, display.uuid) == good
        assert letters(database, display.uuid) == Counter({("logs/info", "refused_by_database"): 4})
        refused = database.rows("SELECT payload, detail FROM dead_letters WHERE reason = 'refused_by_database'")
        assert {json.loads(row["payload"])["message"] for row in refused} == {m for m in sent if "poison" in m}
        assert {row["detail"] for row in refused} == {"SQLSTATE 23514"}
        assert database.client(display.uuid)["status"] == "running"
        assert bridge.events().count("message_refused") == 4
        assert database.value("SELECT seq FROM log_marks WHERE client_uuid = :u", u=display.uuid) == 200
    finally:
        database.do("ALTER TABLE client_logs DROP CONSTRAINT no_poison")


@pytest.fixture
def bridge_session(start_bridge: StartBridge) -> None:
    """Without a running bridge the broker queues the messages, so that they come as one batch."""
    start_bridge().kill()


def test_a_numbered_line_that_means_nothing_is_passed_over_and_not_sent_for_ever(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    start_bridge()
    display.publish("logs/info", {"message": None, **stamp(1)})  # of an unknown client
    eventually(lambda: letters(database, display.uuid) == Counter({("logs/info", "bad_field"): 1}))
    display.publish("logs/info", {"message": "two", **stamp(2)})
    eventually(lambda: stored(database, display.uuid) == ["two"])

    display.publish("logs/info", {"message": None, **stamp(1)})

    eventually(lambda: ("logs_committed", stamp(2)) in display.told)
    assert letters(database, display.uuid) == Counter({("logs/info", "bad_field"): 2})


STAMPED = json.dumps({"padding": 0, **stamp(1)}).encode()[:-1]  # an unfinished object
UNSTORABLE: list[tuple[str, bytes, DeadLetterReason]] = [
    ("logs/info", STAMPED + b', "message": "' + b"x" * 16_384 + b'"}', Reason.TOO_LARGE),
    ("logs/info", json.dumps({"message": "x" * 60_000, **stamp(1)}).encode(), Reason.TOO_LARGE),
    ("logs/info", STAMPED + b', "message": "cut', Reason.NOT_JSON),
    ("logs/info", STAMPED + b', "message": "\xff"}', Reason.NOT_UTF8),
    ("logs/info", STAMPED + b', "message": "m", "context": {"x": NaN}}', Reason.BAD_NUMBER),
    ("logs/info", STAMPED + b', "message": "m", "context": ' + b'{"x":' * 40 + b"1" + b"}" * 41, Reason.TOO_DEEP),
    ("logs/info", STAMPED + b', "message": "m", "v": 2}', Reason.UNSUPPORTED_VERSION),
]


def test_a_numbered_line_that_can_never_be_stored_does_not_hold_the_mark_back(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, database: Database
) -> None:
    """Otherwise its display would send it, and all lines after it, for ever."""
    start_bridge()
    with displays(broker, [str(uuid.uuid4()) for _ in UNSTORABLE]) as made:
        for one, (topic, payload, _) in zip(made, UNSTORABLE, strict=True):
            one.publish("heartbeat", {"process_status": "running"})
            one.publish(topic, payload)
            one.publish("logs/info", {"message": "two", **stamp(2)})

        for one, (topic, _, reason) in zip(made, UNSTORABLE, strict=True):
            eventually(lambda one=one: ("logs_committed", stamp(2)) in one.told)  # type: ignore[misc]  # mypy cannot infer defaults
            assert letters(database, one.uuid) == Counter({(topic, reason.value): 1})
            assert stored(database, one.uuid) == ["two"]


@pytest.mark.parametrize("error", [ConnectionResetError(), MemoryError()])
def test_what_the_machine_lacks_is_no_fault_of_the_messages(connection: Connection, error: Exception) -> None:
    assert not is_poison(connection, error)


def test_a_fault_of_our_own_code_costs_one_message_and_is_told_as_an_error(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, database: Database
) -> None:
    """A null in a column that the code never expects to be null stands for any fault of the code."""
    bridge = start_bridge()
    with displays(broker, [str(uuid.uuid4()), str(uuid.uuid4())]) as (one, other):
        one.publish("heartbeat", {"process_status": "running", "app_instance": "a", **stamp(1)})
        eventually(lambda: database.client(one.uuid).get("status") == "running")
        database.do("ALTER TABLE clients ALTER COLUMN process_status DROP NOT NULL")
        try:
            database.do("UPDATE clients SET process_status = NULL WHERE uuid = :u", u=one.uuid)
            one.publish("heartbeat", {"app_instance": "b", **stamp(2)})
            other.publish("heartbeat", {"process_status": "running"})

            eventually(lambda: letters(database, one.uuid) == Counter({("heartbeat", "refused_by_database"): 1}))
            eventually(lambda: database.client(other.uuid).get("status") == "running")
        finally:
            database.do("UPDATE clients SET process_status = 'unknown' WHERE process_status IS NULL")
            database.do("ALTER TABLE clients ALTER COLUMN process_status SET NOT NULL")

    [refused] = [line for line in bridge.lines() if line.get("event") == "message_refused"]
    assert (refused["severity"], refused["client_uuid"]) == ("ERROR", one.uuid)
    assert refused["detail"] == "ValidationError"
    batches = [line for line in bridge.lines() if line.get("event") == "batch_refused"]
    assert [(line["severity"], "ValidationError" in line["exception"]) for line in batches] == [("ERROR", True)]


def test_a_schema_that_does_not_fit_is_no_fault_of_the_messages(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    """A half-done migration must not fill the dead letters: the batch waits until the schema fits again."""
    bridge = start_bridge()
    database.do("ALTER TABLE client_logs RENAME COLUMN truncated TO cut")
    try:
        display.publish("logs/info", {"message": "m", **stamp(1)})
        eventually(lambda: "database_away" in bridge.events())
        assert letters(database, display.uuid) == Counter()
    finally:
        database.do("ALTER TABLE client_logs RENAME COLUMN cut TO truncated")

    eventually(lambda: stored(database, display.uuid) == ["m"])
