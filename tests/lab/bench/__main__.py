"""`make bench`: measure, print a table, and write it as JSON to bench-results/.

    python -m tests.lab.bench [row ...]

No row fails a build: a row that misses its limit shows MISS. BENCH_FULL=1 uses the full sizes instead of smaller ones.
"""

import json
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from deploy.parts import guardian
from deploy.parts.layout import REPOSITORY
from tests.lab.bench import (
    backlog,
    beside,
    cold_start,
    command,
    conversion,
    dashboard,
    ingest,
    latency,
    mass,
    reads,
    scale,
    screenshot,
    store,
    tick,
    upload,
    where,
)
from tests.lab.bench.report import HEADER, Row
from tests.lab.campaigns.ledger import commit, now, this_machine

RESULTS = REPOSITORY / "bench-results"
ROWS: dict[str, Callable[[Path], list[Row]]] = {
    "ingest": ingest.measure,
    "node-red": beside.beside_node_red,
    "store": store.measure,
    "latency": latency.measure,
    "where": where.measure,
    "scale": scale.measure,
    "backlog": backlog.measure,
    "tick": tick.measure,
    "mass": mass.measure,
    "overview": reads.overview,
    "reads": reads.measure,
    "dashboard": dashboard.measure,
    "command": command.measure,
    "screenshot": screenshot.measure,
    "cold": cold_start.measure,
    "conversion": conversion.measure,
    "converter": conversion.measure_converter,
    "upload": upload.measure,
}


def main(arguments: Sequence[str]) -> int:
    """Measure the named rows, or all. Returns 2 for an unknown name, 1 if a row could not be measured."""
    unknown = [name for name in arguments if name not in ROWS]
    if unknown:
        print(f"No such row: {', '.join(unknown)}. There are: {', '.join(ROWS)}.", file=sys.stderr)
        return 2
    guardian.become_subreaper()
    rows: list[Row] = []
    broken = 0
    print(HEADER, flush=True)
    for name in arguments or ROWS:
        with tempfile.TemporaryDirectory(prefix="signage-bench-") as folder:
            try:
                found = ROWS[name](Path(folder))
            except Exception:  # noqa: BLE001 - the other rows can still be measured
                traceback.print_exc()
                broken += 1
                continue
        for row in found:
            print(row.line(), flush=True)
        rows += found
    guardian.end_everything_below(0)
    _keep(rows)
    return 1 if broken else 0


def _keep(rows: Sequence[Row]) -> None:
    RESULTS.mkdir(exist_ok=True)
    at = now()
    whole = {"at": at, "machine": this_machine(), "commit": commit(), "rows": [row.as_json() for row in rows]}
    path = RESULTS / f"{at[:19].replace(':', '')}.json"
    path.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    missed = sum(not row.passed for row in rows)
    print(f"{len(rows) - missed} pass, {missed} miss; kept in {path.relative_to(REPOSITORY)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
