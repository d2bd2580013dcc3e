"""Run many histories: `python -m tests.lab.simulation --histories 1000 --seed 1`. Exit code 1 after any breach.

--histories N    how many; history number i has the seed SEED * 1,000,000 + i
--seed SEED
--only HISTORY   one history, by the seed in the report of a breach; prints its events
--processes N    how many run side by side, each with its own database (the number of cores)
--json FILE      write the figures as JSON too
"""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.lab.simulation.campaign import Plan, Progress
from tests.lab.simulation.runs import run_many


def main(arguments: Sequence[str]) -> int:
    """Run the histories and print the results. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.simulation")
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--processes", type=int)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(arguments)
    seeds = [asked.only] if asked.only is not None else Plan(asked.histories, asked.seed).seeds
    run = run_many(seeds, asked.processes, Progress(len(seeds)), 60 * asked.minutes)
    print(run.text())
    if asked.json is not None:
        asked.json.write_text(json.dumps(run.as_json(), indent=2) + "\n", encoding="utf-8")
    return 1 if run.breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
