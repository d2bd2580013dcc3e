"""A leader without the broker gives the lead to a bridge that reaches it; alone it continues, and loses nothing."""

from deploy.parts import broker as mosquitto
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port
from tests.bridge.conftest import SESSIONS, Database, Display, StartBridge, eventually, stamp
from tests.bridge.proxy import proxied

SECONDS = 60.0
IMPATIENT = {"bridge.lanes.GIVE_UP_SECONDS": 2.0, "bridge.lanes.ASIDE_SECONDS": 6.0}


def test_the_lead_goes_to_the_standby_that_reaches_the_broker(start_bridge: StartBridge, database: Database) -> None:
    first = start_bridge(wait=False, constants=IMPATIENT, MQTT_URL=f"mqtt://{LOOPBACK}:{free_port()}")
    eventually(lambda: "lead_taken" in first.events(), SECONDS)
    epoch = database.value("SELECT epoch FROM bridge_status")

    second = start_bridge(wait=False)

    eventually(second.ready, SECONDS)
    eventually(lambda: first.ask("/healthz")[0] == 200, SECONDS)  # an ordinary standby while another one leads
    assert first.ask("/readyz")[0] == 503
    assert database.value("SELECT epoch FROM bridge_status") > epoch
    assert second.events().count("lead_taken") == 1
    assert second.events().count("broker_connected") == SESSIONS


def test_a_bridge_alone_leads_again_and_stores_all_that_waited(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, display: Display, database: Database
) -> None:
    start_bridge().kill()  # its sessions and its listening time stay
    port = free_port()
    bridge = start_bridge(wait=False, constants=IMPATIENT, MQTT_URL=f"mqtt://{LOOPBACK}:{port}")
    eventually(lambda: "lead_given_up" in bridge.events(), SECONDS)
    status, body = bridge.ask("/healthz")
    assert status == 503
    assert body["faults"]
    display.publish("logs/info", {"message": "one", **stamp(1)})
    eventually(lambda: bridge.events().count("lead_taken") >= 2, SECONDS)
    assert database.value("SELECT connected_since FROM bridge_status") is None

    with proxied(broker.broker.services_port, port):
        eventually(bridge.ready, SECONDS)

        lines = "SELECT message FROM client_logs WHERE client_uuid = :u"
        eventually(lambda: database.rows(lines, u=display.uuid) == [{"message": "one"}], SECONDS)
        assert database.value("SELECT connected_since FROM bridge_status") is not None


def test_two_bridges_that_reach_no_broker_take_turns_until_one_does(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, display: Display, database: Database
) -> None:
    port = free_port()
    nowhere = f"mqtt://{LOOPBACK}:{port}"
    both = [start_bridge(wait=False, constants=IMPATIENT, MQTT_URL=nowhere) for _ in range(2)]
    eventually(lambda: all(one.events().count("lead_given_up") >= 2 for one in both), SECONDS)

    with proxied(broker.broker.services_port, port):
        eventually(lambda: any(one.ready() for one in both), SECONDS)
        display.publish("logs/info", {"message": "one", **stamp(1)})

        lines = "SELECT message FROM client_logs WHERE client_uuid = :u"
        eventually(lambda: database.rows(lines, u=display.uuid) == [{"message": "one"}], SECONDS)
        eventually(lambda: [one.ready() for one in both].count(True) == 1, SECONDS)
