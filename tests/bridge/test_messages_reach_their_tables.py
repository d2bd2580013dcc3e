"""Each kind of message from a display reaches its table; commands and marks reach the display."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from deploy.parts import broker as mosquitto
from shared.clients.reports.rules import player_running
from shared.commands import operations as commands
from shared.commands.rules import CommandRequest
from shared.config import load
from shared.postgres.door import database_now, transaction
from shared.vocabulary import CommandAction
from shared.words.sentences import to_row
from tests.bridge.conftest import BridgeProcess, Database, Display, bridges, displays, eventually, stamp


@pytest.fixture(scope="module", autouse=True)
def bridge(
    database_url: str, broker: mosquitto.RunningBroker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BridgeProcess]:
    """One bridge for all these tests."""
    with bridges(database_url, broker, tmp_path_factory.mktemp("bridge"), preloaded=True) as start:
        yield start()


def heartbeat(seq: int = 1, **fields: Any) -> dict[str, Any]:
    return {"process_status": "running", "boot_id": "b1", "app_instance": "a1", **stamp(seq), **fields}


def test_a_first_heartbeat_registers_the_client_and_shows_it_running(display: Display, database: Database) -> None:
    display.publish("heartbeat", heartbeat(interval_seconds=20))

    eventually(lambda: database.client(display.uuid).get("status") == "running")
    client = database.client(display.uuid)
    assert (client["registered_by"], client["process_status"]) == ("first_message", "running")
    assert client["process_status_since"] is not None
    heard = database.one("SELECT * FROM client_heartbeats WHERE client_uuid = :u", u=display.uuid)
    assert (heard["interval_seconds"], heard["boot_id"], heard["app_instance"]) == (20, "b1", "a1")
    assert (heard["install_id"], heard["boot_seq"], heard["seq"]) == ("installation-a", 1, 1)
    change = database.one("SELECT * FROM client_state_changes WHERE client_uuid = :u", u=display.uuid)
    assert (change["from_status"], change["to_status"]) == ("unknown", "running")
    assert change["cause"] == to_row(player_running())


def test_a_crash_is_shown_with_its_time_and_a_steady_state_changes_no_client(
    display: Display, database: Database
) -> None:
    display.publish("heartbeat", heartbeat(1))
    eventually(lambda: database.client(display.uuid).get("status") == "running")
    before = database.client(display.uuid)

    display.publish("heartbeat", heartbeat(2))
    eventually(lambda: database.value("SELECT seq FROM client_heartbeats WHERE client_uuid = :u", u=display.uuid) == 2)
    assert database.client(display.uuid) == before

    display.publish("heartbeat", heartbeat(3, process_status="crashed"))
    eventually(lambda: database.client(display.uuid)["status"] == "crashed")
    after = database.client(display.uuid)
    assert after["process_status_since"] > before["process_status_since"]
    assert after["status_since"] > before["status_since"]


def test_health_enriches_the_client_and_keeps_its_whole_body(display: Display, database: Database) -> None:
    body = {
        "screen_health": "black",
        "cpu_percent": 12.5,
        "app_version": "1.2",
        "os": "Debian 12",
        "ip": "10.0.0.7",
        "hostname": "lobby",
        "log_level": "debug",
        "capabilities": ["restart_app"],
        "broker_connection": {"reconnect_count": 4, "last_disconnect_at": "2026-01-01T00:00:00Z"},
        "extra": {"n": [1, "\u00e9"]},
        **stamp(1),
    }

    display.publish("health", body)

    eventually(lambda: database.client(display.uuid).get("hostname") == "lobby")
    client = database.client(display.uuid)
    shown = ("screen_health", "app_version", "os", "ip", "log_level", "capabilities", "mqtt_reconnect_count")
    assert [client[name] for name in shown] == ["black", "1.2", "Debian 12", "10.0.0.7", "debug", ["restart_app"], 4]
    assert client["mqtt_last_disconnect_at"] == datetime(2026, 1, 1, tzinfo=UTC)
    stored = database.one("SELECT * FROM client_health WHERE client_uuid = :u", u=display.uuid)
    assert (stored["body"], stored["cpu_percent"]) == (body, 12.5)


def page_of(database: Database, uuid: str, number: int) -> Any:
    """The page that stands in the report with this number."""
    report = {"u": uuid, "n": number}
    eventually(lambda: bool(database.rows("SELECT 1 FROM client_health WHERE client_uuid = :u AND seq = :n", **report)))
    return database.value("SELECT page FROM client_health WHERE client_uuid = :u AND seq = :n", **report)


def test_the_page_keeps_its_address_until_another_one_is_seen(display: Display, database: Database) -> None:
    menu, other = (["page", name, None, None, None] for name in ("5f0c91aa", "00000000"))
    bodies: list[dict[str, Any]] = [{"glass": menu, "address": "https://menu.example/", "title": "Menu"}]
    bodies += [{"glass": menu}, {"glass": menu}, {"glass": other}, {"glass": "?"}]
    pages = []
    for number, body in enumerate(bodies, 1):
        display.publish("health", {**body, **stamp(number)})
        pages.append(page_of(database, display.uuid, number))

    kept = {"kind": "page", "name": "5f0c91aa", "address": "https://menu.example/", "title": "Menu"}
    assert pages == [kept, kept, kept, {"kind": "page", "name": "00000000"}, None]


def test_another_page_than_expected_is_a_wrong_page_until_the_right_one_is_seen(
    display: Display, database: Database
) -> None:
    menu, login = (["page", name, None, None, None] for name in ("5f0c91aa", "00000000"))
    told: dict[str, Any] = {"glass": menu, "address": "https://menu.example/1", "title": "Menu", "screen_health": "ok"}
    other = {"glass": login, "address": "https://login.example/", "screen_health": "ok"}
    database.do(
        "INSERT INTO expectations (scope, target, address, black, set_at, set_by)"
        " VALUES ('client', :u, 'https://menu.example/*', true, now(), 'tests')",
        u=display.uuid,
    )
    words = []
    bodies: list[dict[str, Any]] = [told, other, {"glass": login, "screen_health": "ok"}, told]
    bodies += [{"glass": menu, "screen_health": "ok"}, {"screen_health": "black"}]
    for number, body in enumerate(bodies, 1):
        display.publish("health", {**body, **stamp(number)})
        page_of(database, display.uuid, number)
        words.append(database.client(display.uuid)["screen_health"])

    assert words == ["ok", "wrong_page", "wrong_page", "ok", "ok", "ok"]


def test_what_health_does_not_say_stays_and_null_means_never_disconnected(display: Display, database: Database) -> None:
    display.publish("health", {"hostname": "a", "broker_connection": {"reconnect_count": 4, "last_disconnect_at": 1}})
    eventually(lambda: database.client(display.uuid).get("mqtt_reconnect_count") == 4)

    display.publish("health", {"broker_connection": {"reconnect_count": True, "last_disconnect_at": "?"}, "ip": "x"})
    eventually(lambda: database.client(display.uuid)["ip"] == "x")
    client = database.client(display.uuid)
    assert (client["hostname"], client["mqtt_reconnect_count"]) == ("a", 4)
    assert client["mqtt_last_disconnect_at"] is not None

    display.publish("health", {"broker_connection": {"reconnect_count": 0, "last_disconnect_at": None}})
    eventually(lambda: database.client(display.uuid)["mqtt_last_disconnect_at"] is None)
    assert database.client(display.uuid)["mqtt_reconnect_count"] == 0


def test_logs_are_stored_counted_and_told_back(display: Display, database: Database) -> None:
    display.publish("logs/warn", {"message": "one", "logger": "player", "context": {"a": 1}, "ts": 5, **stamp(1)})
    display.publish("logs/error", {"message": "two\u0000 \ud83d\ude00", **stamp(2)})
    display.publish("logs/trace", b'{"message": "three \\ud800", "boot_seq": 1}')

    def lines() -> list[dict[str, Any]]:
        return database.rows("SELECT * FROM client_logs WHERE client_uuid = :u ORDER BY id", u=display.uuid)

    eventually(lambda: len(lines()) == 3)
    one, two, three = lines()
    assert (one["level"], one["raw_level"], one["message"], one["logger"]) == ("warning", None, "one", "player")
    assert (one["context"], one["client_time"]) == ({"a": 1}, datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC))
    assert (two["level"], two["message"]) == ("error", "two\ufffd \N{GRINNING FACE}")
    assert (three["level"], three["raw_level"], three["message"]) == ("debug", None, "three \ufffd")
    hours = "SELECT sum(debug) AS debug, sum(info) AS info, sum(warning) AS warning, sum(error) AS error"
    counted = database.rows(f"{hours} FROM client_log_hours WHERE client_uuid = :u", u=display.uuid)
    assert counted == [{"debug": 1, "info": 0, "warning": 1, "error": 1}]
    eventually(lambda: ("logs_committed", stamp(2)) in display.told)


def test_a_service_failure_is_raised_by_topic_and_not_again_by_its_repeat(display: Display, database: Database) -> None:
    display.publish("service_failed", b"player.service")
    eventually(lambda: database.client(display.uuid).get("service_failed_unit") == "player.service")
    assert database.client(display.uuid)["registered_by"] == "first_message"

    failure = {"unit": "agent.service", **stamp(1)}
    display.publish("service_failed", failure)
    eventually(lambda: database.client(display.uuid)["service_failed_stamp"] == stamp(1))
    acknowledge(database, display.uuid)
    display.publish("health", {"service_failed": failure, "hostname": "h1"})
    eventually(lambda: database.client(display.uuid)["hostname"] == "h1")
    assert database.client(display.uuid)["service_failed_at"] is None

    display.publish("health", {"service_failed": {"unit": "agent.service", **stamp(2)}})
    eventually(lambda: database.client(display.uuid)["service_failed_unit"] == "agent.service")
    assert database.client(display.uuid)["service_failed_at"] is not None


def test_a_failure_whose_message_was_lost_is_raised_by_health_not_cleared_by_null(
    display: Display, database: Database
) -> None:
    display.publish("health", {"service_failed": {"unit": "player.service"}})
    eventually(lambda: database.client(display.uuid).get("service_failed_unit") == "player.service")
    raised_at = database.client(display.uuid)["service_failed_at"]

    display.publish("health", {"service_failed": {"unit": "player.service"}, "hostname": "h1"})
    display.publish("health", {"service_failed": None, "hostname": "h2"})
    eventually(lambda: database.client(display.uuid)["hostname"] == "h2")
    assert database.client(display.uuid)["service_failed_at"] == raised_at

    acknowledge(database, display.uuid)
    display.publish("health", {"service_failed": {"unit": "player.service"}, "hostname": "h3"})
    eventually(lambda: database.client(display.uuid)["hostname"] == "h3")
    assert database.client(display.uuid)["service_failed_at"] is None
    display.publish("service_failed", {"unit": "player.service"})
    eventually(lambda: database.client(display.uuid)["service_failed_unit"] == "player.service")


def acknowledge(database: Database, name: str) -> None:
    """Acknowledge a failure like POST /api/clients/<uuid>/clear_service_failed."""
    database.do(
        "UPDATE clients SET service_failed_at = null, service_failed_unit = null, service_failed_stamp = null,"
        " service_failed_cleared_at = now(), service_failed_cleared_unit = service_failed_unit,"
        " service_failed_cleared_stamp = service_failed_stamp WHERE uuid = :u",
        u=name,
    )


def test_offline_counts_only_for_the_session_that_is_online(display: Display, database: Database) -> None:
    display.publish("heartbeat", heartbeat())
    eventually(lambda: bool(database.client(display.uuid)))

    def presence() -> tuple[str, str | None]:
        client = database.client(display.uuid)
        return client["presence"], client["presence_session"]

    display.publish("presence", {"state": "online", "session": "s1"}, retain=True)
    eventually(lambda: presence() == ("online", "s1"))
    display.publish("presence", {"state": "online", "session": "s2"}, retain=True)
    eventually(lambda: presence() == ("online", "s2"))
    display.publish("presence", {"state": "offline", "session": "s1"}, retain=True)
    display.publish("heartbeat", heartbeat(2, process_status="stopped"))
    eventually(lambda: database.client(display.uuid)["status"] == "stopped")
    assert presence() == ("online", "s2")
    display.publish("presence", {"state": "offline", "session": "s2"}, retain=True)
    eventually(lambda: presence() == ("offline", "s2"))


@pytest.mark.parametrize(
    ("topic", "body"),
    [("presence", {"state": "online"}), ("acks", {"id": "c1", "state": "received"})],
)
def test_presence_and_acks_do_not_register_a_client(
    topic: str, body: dict[str, Any], display: Display, database: Database
) -> None:
    display.publish(topic, body)

    eventually(lambda: dead_letters(database, display.uuid) == ["unknown_client"])
    assert database.client(display.uuid) == {}


def test_a_deleted_client_stays_deleted(display: Display, database: Database) -> None:
    display.publish("heartbeat", heartbeat())
    eventually(lambda: bool(database.client(display.uuid)))
    database.do("UPDATE clients SET deleted_at = now() WHERE uuid = :u", u=display.uuid)

    display.publish("heartbeat", heartbeat(2))

    eventually(lambda: dead_letters(database, display.uuid) == ["unknown_client"])
    assert database.value("SELECT seq FROM client_heartbeats WHERE client_uuid = :u", u=display.uuid) == 1


def dead_letters(database: Database, name: str) -> list[str]:
    """The reasons of one client's dead letters."""
    found = database.rows("SELECT reason FROM dead_letters WHERE topic LIKE :t ORDER BY id", t=f"%{name}%")
    return [row["reason"] for row in found]


def issue(engine: Engine, name: str, action: CommandAction) -> str:
    """Issue a command as the API does, without publishing it."""
    with transaction(engine) as connection:
        request = CommandRequest(name, action, "admin", "test")
        row = commands.issue(connection, database_now(connection), request, commands.timings(load({})))
        return row.id


def test_a_command_goes_out_and_its_acks_and_a_new_start_bring_it_to_the_end(
    display: Display, database: Database, engine: Engine
) -> None:
    display.publish("heartbeat", heartbeat())
    eventually(lambda: bool(database.client(display.uuid)))

    command = issue(engine, display.uuid, CommandAction.RESTART_APP)

    eventually(lambda: any(topic == "commands" and body["id"] == command for topic, body in display.told))
    eventually(lambda: state(database, command) == "sent")
    display.publish("acks", {"id": command, "state": "received"})
    eventually(lambda: state(database, command) == "received")
    display.publish("heartbeat", heartbeat(2, last_command={"id": command, "state": "running"}))
    eventually(lambda: state(database, command) == "running")
    display.publish("health", {"recent_acks": [{"id": command, "state": "succeeded", "reason": None}]})
    display.publish("heartbeat", heartbeat(3, app_instance="a2"))
    eventually(lambda: state(database, command) == "succeeded")


def test_a_restart_whose_acks_are_lost_is_proven_by_reports_that_repeat(
    display: Display, database: Database, engine: Engine
) -> None:
    """The first report comes while the ACKs may be under way; the same report later counts, though nothing changed."""
    display.publish("heartbeat", heartbeat())
    eventually(lambda: bool(database.client(display.uuid)))
    command = issue(engine, display.uuid, CommandAction.RESTART_APP)
    eventually(lambda: state(database, command) == "sent")
    told = {"app_instance": "a2", "last_command": {"id": command, "state": "succeeded"}}
    display.publish("heartbeat", heartbeat(2, **told))
    seq = "SELECT seq FROM client_heartbeats WHERE client_uuid = :u"
    eventually(lambda: database.value(seq, u=display.uuid) == 2)
    with engine.begin() as connection:
        earlier = sa.text("UPDATE client_commands SET sent_at = sent_at - interval '1 minute' WHERE id = :id")
        connection.execute(earlier, {"id": command})

    display.publish("heartbeat", heartbeat(3, **told))

    eventually(lambda: state(database, command) == "running")
    with transaction(engine) as connection:
        commands.expire(connection, database_now(connection))  # the tick
    assert state(database, command) == "succeeded"


def state(database: Database, command: str) -> str:
    return str(database.value("SELECT state FROM client_commands WHERE id = :id", id=command))


def test_a_new_boot_proves_a_reboot_without_an_ack(display: Display, database: Database, engine: Engine) -> None:
    display.publish("heartbeat", heartbeat())
    eventually(lambda: bool(database.client(display.uuid)))
    command = issue(engine, display.uuid, CommandAction.REBOOT_HOST)
    eventually(lambda: state(database, command) == "sent")

    display.publish("heartbeat", heartbeat(1, boot_seq=2, boot_id="b2", app_instance="a2"))

    eventually(lambda: state(database, command) == "succeeded")
    assert database.value("SELECT confirmed_by FROM client_commands WHERE id = :id", id=command) == "evidence"


def test_a_command_for_a_display_that_is_away_goes_out_as_soon_as_it_comes_online(
    broker: mosquitto.RunningBroker, database: Database, engine: Engine
) -> None:
    name = str(uuid.uuid4())
    database.do("INSERT INTO clients (uuid, registered_by) VALUES (:u, 'enrolment')", u=name)
    command = issue(engine, name, CommandAction.SHUTDOWN_HOST)
    eventually(lambda: database.value("SELECT publish_answer FROM client_commands WHERE id = :id", id=command) == 0x10)
    assert state(database, command) == "queued"
    database.do("UPDATE client_commands SET next_publish_at = now() + interval '1 hour' WHERE id = :id", id=command)

    with displays(broker, [name]) as (display,):
        display.publish("presence", {"state": "online", "session": "s1"})

        eventually(lambda: any(body.get("id") == command for _, body in display.told))
        eventually(lambda: state(database, command) == "sent")


def test_the_bridge_tells_how_it_stands(bridge: BridgeProcess, database: Database) -> None:
    status, body = bridge.ask("/readyz")

    assert (status, body["state"], body["faults"], body["connected"]) == (200, "leading", [], True)
    assert bridge.ask("/healthz")[0] == 200
    assert bridge.ask("/else")[0] == 404
    told = database.one("SELECT * FROM bridge_status")
    assert told["epoch"] == body["epoch"]
    assert told["connected_since"] <= told["canary_at"]
    assert told["last_commit_at"] is not None
    assert set(told["counters"]) == set(body["counters"])
