"""Many histories: `python -m tests.lab.simulation --histories 1000 --seed 1`. Exit code 1 on any breach.

--histories N    how many; history number i has the seed SEED * 1,000,000 + i
--seed SEED
--only HISTORY   one history, by the seed that a breach was reported with; prints what happened
--processes N    side by side, each with a database of its own (the number of cores)
--json FILE      the figures as JSON too
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
    """Run what is asked for and print it."""
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
