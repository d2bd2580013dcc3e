"""Each kind of message, published by a display, ends in its table."""

from tests.bridge.conftest import Database, Display, StartBridge, eventually, stamp


def test_a_first_heartbeat_registers_the_client_and_shows_it_running(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    start_bridge()

    display.publish(
        "heartbeat",
        {"process_status": "running", "interval_seconds": 20, "boot_id": "b1", "app_instance": "a1", **stamp(1)},
    )

    eventually(lambda: database.client(display.uuid).get("status") == "running")
    client = database.client(display.uuid)
    assert client["registered_by"] == "first_message"
    assert client["process_status"] == "running"
    assert client["process_status_since"] is not None
    heard = database.one("SELECT * FROM client_heartbeats WHERE client_uuid = :uuid", uuid=display.uuid)
    assert (heard["interval_seconds"], heard["boot_id"], heard["app_instance"]) == (20, "b1", "a1")
    assert (heard["install_id"], heard["boot_seq"], heard["seq"]) == ("installation-a", 1, 1)
    change = database.one("SELECT * FROM client_state_changes WHERE client_uuid = :uuid", uuid=display.uuid)
    assert (change["from_status"], change["to_status"]) == ("unknown", "running")
    assert change["cause"] == "The display says that its player is running."
