"""The command machine at full size: interleavings of all components that work on commands, on its own Postgres.

Each process has its own database and runs parts of the interleavings, each part with its own seed. After a broken
promise it prints the steps that led to it.
"""

import multiprocessing
import os
import subprocess
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Final

from deploy.local import postgres
from deploy.parts.layout import REPOSITORY
from shared.postgres.door import engine_for
from tests.lab.campaigns.ledger import Ledger
from tests.stores.command_coverage import missing, write_down_moves
from tests.stores.command_run import run as interleave

PART: Final = 250
OWN: Final = ("interleavings", "commands", "effects")


@dataclass(frozen=True)
class Plan:
    """The size of the campaign, rounded up to full parts."""

    interleavings: int = 10_000
    processes: int = 4
    seed: int = 1


@dataclass(frozen=True)
class Part:
    """A part of the interleavings."""

    database_url: str
    interleavings: int
    seed: int


@dataclass(frozen=True)
class Found:
    """The result of a part. `broken` is the whole text of a fault; None without one."""

    reached: Counter[str]
    deaths: Counter[str]
    broken: str | None


def run(plan: Plan) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger = Ledger("commands", plan.seed, {"processes": plan.processes})
    began = time.monotonic()
    with postgres.throw_away() as cluster:
        urls = [_database(cluster, number) for number in range(plan.processes)]
        parts = -(-plan.interleavings // PART)
        size = min(PART, plan.interleavings)
        work = [Part(urls[n % len(urls)], size, plan.seed * 100_003 + n) for n in range(parts)]
        lanes = [work[n :: plan.processes] for n in range(plan.processes)]
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(plan.processes, context) as pool:
            found = [one for lane in pool.map(_lane, lanes) for one in lane]
    ledger.seconds = time.monotonic() - began
    _judge(ledger, plan, found)
    return ledger


def _lane(parts: list[Part]) -> list[Found]:
    """Run these parts one after another, in a process of their own."""
    return [_part(part) for part in parts]


def _part(part: Part) -> Found:
    engine = engine_for(part.database_url, "commands", pool_size=5)
    try:
        reached, deaths = interleave(engine, part.interleavings, part.seed)
    except Exception:  # noqa: BLE001 - whatever it is, it is what the campaign is for
        return Found(Counter(), Counter(), f"seed {part.seed}\n{traceback.format_exc()}")
    finally:
        engine.dispose()
    print(f"  part {part.seed}: {reached['interleavings']} interleavings", flush=True)
    return Found(reached, deaths, None)


def _database(cluster: postgres.Cluster, number: int) -> str:
    """A migrated database that records every move."""
    name = f"commands_{number}"
    with postgres.superuser(cluster) as connection:
        connection.run(f"CREATE DATABASE {name}")
    url = cluster.url(name)
    environment = {**os.environ, "DATABASE_URL": url}
    subprocess.run([sys.executable, "-m", "alembic", "upgrade", "head"], check=True, cwd=REPOSITORY, env=environment)
    engine = engine_for(url, "commands")
    write_down_moves(engine)
    engine.dispose()
    return url


def _judge(ledger: Ledger, plan: Plan, found: list[Found]) -> None:
    reached: Counter[str] = sum((one.reached for one in found), Counter())
    deaths: Counter[str] = sum((one.deaths for one in found), Counter())
    broken = [one.broken for one in found if one.broken is not None]
    for text in broken:
        print(text, flush=True)
    left_out = missing(reached)
    print(*(f"  {number:>7} {name}" for name, number in reached.most_common()), sep="\n", flush=True)
    print(f"  never reached: {', '.join(left_out) or 'nothing'}", flush=True)
    ledger.counted |= {name: reached[name] for name in OWN}
    ledger.counted |= {
        "connections_that_died": deaths.total(),
        "moves": sum(number for name, number in reached.items() if " -> " in name),
        "executed_twice_or_illegal_or_stuck": len(broken),
        "rare_paths_never_reached": len(left_out),
    }
    ledger.conditions["no promise broke: executed once at most, no illegal move, nothing stuck"] = not broken
    ledger.conditions["every move and every doubt was reached"] = not left_out
    ledger.conditions["all interleavings were run"] = reached["interleavings"] >= plan.interleavings
