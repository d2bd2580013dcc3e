"""The time from a publish to its commit, at 2,000 messages a second of a registered fleet."""

import json
import time
from pathlib import Path

from deploy.parts.probes import wait_until
from tests.lab.bench.ingest import count
from tests.lab.bench.report import Row
from tests.lab.bench.traffic import Traffic, bench_machine, publish, publish_made
from tests.lab.campaigns.machine import rows

PER_SECOND, SECONDS = 2_000, 15
SETTLING = 0.2  # seconds at the start that are not counted

LATENCIES = """
SELECT percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY ms) FROM (
    SELECT 1000 * (extract(epoch FROM pg_xact_commit_timestamp(xmin))
        - CAST(context ->> 'sent' AS double precision)) AS ms
    FROM client_logs WHERE context ? 'sent' AND CAST(context ->> 'number' AS integer) >= :first) AS measured
"""


def measure(folder: Path) -> list[Row]:
    """Measure median and 99th percentile: log lines have the time of their publish, Postgres has that of the commit."""
    with bench_machine(folder, bridge=True, postgres_settings=("track_commit_timestamp=on",)) as (service, port):
        traffic = Traffic()
        publish(port, traffic.introductions())
        wait_until(lambda: count(service, "SELECT count(*) FROM client_logs") == traffic.logs, 120)
        messages = traffic.messages(PER_SECOND * SECONDS)

        def made(number: int) -> tuple[bytes, bytes]:
            topic, payload = messages[number]
            if topic.endswith(b"/logs/info"):
                context = {"sent": time.time(), "number": number}
                payload = json.dumps({**json.loads(payload), "context": context}).encode()
            return topic, payload

        publish_made(port, len(messages), made, PER_SECOND)
        wait_until(lambda: count(service, "SELECT count(*) FROM client_logs") == traffic.logs, 60)
        engine = service.engine()
        try:
            p50, p99 = rows(engine, LATENCIES, first=int(len(messages) * SETTLING))[0][0]
        finally:
            engine.dispose()
    what = "publish -> committed at 2,000 msg/s,"
    return [
        Row(f"{what} p50", p50, "ms", 20, at_most=True),
        Row(f"{what} p99", p99, "ms", 40, at_most=True),
    ]
