"""/metrics has the bridge's state in Prometheus' format, and names no client."""

import re
import signal
import urllib.request
import uuid

from prometheus_client.parser import text_string_to_metric_families

from deploy.parts.layout import LOOPBACK
from tests.bridge.conftest import BridgeProcess, Database, Display, StartBridge, budget, eventually, stamp

PREFIX = "signage_bridge_"
Samples = dict[tuple[str, str], float]
"""(name without the prefix, value of its only label or empty) -> value."""

SCRAPES = 100


def scrape(bridge: BridgeProcess) -> tuple[str, Samples]:
    """The text, and the samples that a Prometheus parses from it."""
    with urllib.request.urlopen(f"http://{LOOPBACK}:{bridge.health_port}/metrics", timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        text = answer.read().decode()
    samples: Samples = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        assert family.type in {"counter", "gauge", "histogram"}
        for sample in family.samples:
            assert sample.name.startswith(PREFIX)
            assert len(sample.labels) <= 1
            samples[sample.name.removeprefix(PREFIX), "".join(sample.labels.values())] = sample.value
    return text, samples


def test_what_the_bridge_does_moves_its_metrics(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    bridge = start_bridge(constants=budget(per_second=1, burst=5))
    _, before = scrape(bridge)

    display.publish("heartbeat", {"process_status": "no such word"})
    display.publish("health", b"{")
    bridge.send(signal.SIGSTOP)  # so that the lines come at once, over the budget
    for _ in range(2):
        display.publish("logs/info", {"message": "one", **stamp(1)})
    for _ in range(20):
        display.publish("logs/info", {"message": "plain"})
    for number in range(100, 110):
        display.publish("logs/info", {"message": "numbered", **stamp(number)})
    bridge.send(signal.SIGCONT)
    eventually(lambda: scrape(bridge)[1]["deferred_logs_total", ""] >= before["deferred_logs_total", ""] + 5)

    text, after = scrape(bridge)
    moved = {key: after[key] - before.get(key, 0) for key in after}
    assert moved["stored_total", ""] >= 6  # the burst, and the heartbeat
    assert moved["bad_fields_total", ""] == 1
    assert moved["duplicate_logs_total", ""] == 1
    assert moved["dead_letters_total", "not_json"] == 1
    assert moved["dead_letters_total", "too_large"] == 0
    assert moved["dropped_logs_total", ""] >= 10
    assert moved["deferred_logs_total", ""] >= 5
    assert moved["batches_total", ""] == moved["batch_seconds_bucket", "+Inf"] == moved["batch_seconds_count", ""] >= 1
    assert moved["batch_seconds_sum", ""] > 0
    buckets = [value for (name, _), value in after.items() if name == "batch_seconds_bucket"]
    assert buckets == sorted(buckets)
    assert after["leader", ""] == after["connected", ""] == 1
    assert after["epoch", ""] == database.value("SELECT epoch FROM bridge_status")
    eventually(lambda: is_well(scrape(bridge)[1]))
    assert ("unacknowledged", "") in after
    assert display.uuid not in text
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-", text)
    assert set(bridge.ask("/readyz")[1]["counters"]) - {"dead_letters"} <= {
        name.removesuffix("_total") for name, _ in after
    }  # no counter is missing


def is_well(told: Samples) -> bool:
    return told["healthy", ""] == 1 and 0 <= told["canary_age_seconds", ""] < 30


def test_a_standby_says_that_it_does_not_lead(start_bridge: StartBridge) -> None:
    leader = start_bridge()
    standby = start_bridge(wait=False)
    eventually(lambda: standby.ask("/healthz")[0] == 200)

    _, told = scrape(standby)

    assert told["leader", ""] == told["connected", ""] == 0
    assert told["healthy", ""] == 1
    assert ("canary_age_seconds", "") not in told  # only the leader has it, for an alert on its age
    assert scrape(leader)[1]["leader", ""] == 1


def test_a_database_that_is_away_shows_in_what_waits(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    bridge = start_bridge()
    display.publish("heartbeat", {"process_status": "running"})
    database.do("ALTER TABLE clients RENAME TO clients_away")
    try:
        for _ in range(50):
            display.publish("heartbeat", {"process_status": "running"})

        eventually(lambda: scrape(bridge)[1]["unacknowledged", ""] >= 50)
    finally:
        database.do("ALTER TABLE clients_away RENAME TO clients")
    eventually(lambda: scrape(bridge)[1]["unacknowledged", ""] == 0)


def test_many_scrapes_at_once_do_not_hold_the_bridge_up(start_bridge: StartBridge, display: Display) -> None:
    bridge = start_bridge()
    before = scrape(bridge)[1]["received_total", ""]
    for _ in range(SCRAPES):
        display.publish("logs/info", {"message": str(uuid.uuid4())})
        scrape(bridge)

    eventually(lambda: scrape(bridge)[1]["received_total", ""] >= before + SCRAPES)
