"""300,000 messages queue while the bridge is away: the rate of their publishers, and the rate of the bridge later."""

from pathlib import Path

from deploy.parts.probes import wait_until
from tests.lab.bench.ingest import count, drain, leave, peer
from tests.lab.bench.report import Row, median
from tests.lab.bench.traffic import Traffic, bench_machine, publish

MESSAGES = 300_000
TIMES = 3
AT_ONCE = MESSAGES // TIMES
BARE = 40_000
PATIENCE = 300.0


def measure(folder: Path) -> list[Row]:
    """Measure the shipped broker, the same without persistence, and bare paho with its own queue."""
    (folder / "shipped").mkdir()
    with bench_machine(folder / "shipped", bridge=True) as (service, port):
        traffic = Traffic()
        publish(port, traffic.greetings())
        wait_until(lambda: count(service, "SELECT count(*) FROM clients") == traffic.clients, PATIENCE)
        leave(service)
        kept = [AT_ONCE / publish(port, traffic.messages(AT_ONCE)) for _ in range(TIMES)]
        drained = drain(service, MESSAGES)
        leave(service)
        lost = traffic.logs - count(service, "SELECT count(*) FROM client_logs")
        publish(port, Traffic(seed=2).messages(BARE))
        bare = BARE / peer(service, "bare", BARE)
    forgetful = without_persistence(folder / "forgetful")
    return [
        Row("backlog: publishers", median(kept), "msg/s", 0.7, peer="without persistence", theirs=forgetful),
        Row("backlog: drained", drained, "msg/s", 0.6, peer="bare paho", theirs=bare, note=f"{MESSAGES} messages"),
        Row("backlog: lost", lost, "lines", 0, at_most=True),
    ]


def without_persistence(folder: Path) -> float:
    """The rate of publishers at a broker without persistence, while the bridge is away."""
    folder.mkdir()

    def forgetting(text: str) -> str:
        assert "persistence true" in text
        return text.replace("persistence true", "persistence false").replace("autosave_interval 60\n", "")

    with bench_machine(folder, bridge=True, extend=forgetting) as (service, port):
        leave(service)
        traffic = Traffic()
        return median(AT_ONCE / publish(port, traffic.messages(AT_ONCE)) for _ in range(TIMES))
